/**
 * A scripted model API on the loopback, for real agents and for the gateway: Anthropic's Messages and OpenAI's Responses.
 * A test gives a function from what was asked to what is answered, so that several builders can talk to it at once.
 */
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export interface Asked {
  /** 1 for the first request to the API. */
  ordinal: number
  method: string
  url: string
  headers: IncomingHttpHeaders
  /** The body as it came, and read. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the test knows what it asked
  body: any
  /** How many replies of the model the conversation already holds: 0 for its first request. */
  replies: number
  /** True when tools are offered: the agent's main loop, and not a title or the like. */
  main: boolean
}

export interface Answer {
  text?: string
  tool?: { name: string; input: unknown }
  /** Anthropic's `stop_reason` where it is neither `end_turn` nor `tool_use`. */
  stop?: string
  /** An HTTP error instead of a reply. */
  status?: number
  error?: { type: string; message: string }
  headers?: Record<string, string>
  usage?: Record<string, unknown>
  /** Cuts the connection after so many events. */
  cutAfter?: number
  /** Awaited before each event but the first. */
  pace?: () => Promise<void>
  /** Sent as it is, as events. */
  raw?: string
  /** Never answers. */
  hang?: true
}

export interface ModelApi {
  url: string
  asked: Asked[]
  close(): Promise<void>
}

export interface ModelApiOptions {
  answer(asked: Asked): Answer
  /** A certificate makes it https. */
  tls?: { key: string; cert: string }
}

export async function startModelApi({ answer, tls }: ModelApiOptions): Promise<ModelApi> {
  const asked: Asked[] = []
  const server: Server = tls === undefined ? createServer() : createSecureServer(tls)
  server.on('request', async (request, response) => {
    response.on('error', () => undefined)
    const chunks = await request.toArray().catch(() => null)
    if (chunks === null) return
    const each = read(asked.length + 1, request, Buffer.concat(chunks).toString('utf8'))
    asked.push(each)
    await give(each, answer(each), response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${tls === undefined ? '127.0.0.1' : 'localhost'}:${port}`,
    asked,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers of one conversation in their order; the last one repeats. Requests beside the main loop get `ok`. */
export function inOrder(...answers: Answer[]): (asked: Asked) => Answer {
  return ({ main, replies }) => (main ? (answers[replies] ?? answers.at(-1)) : undefined) ?? { text: 'ok' }
}

function read(ordinal: number, request: IncomingMessage, text: string): Asked {
  const { method = '', url = '', headers } = request
  const body = text.startsWith('{') ? JSON.parse(text) : null
  const turns: { role?: string; type?: string }[] = body?.messages ?? (Array.isArray(body?.input) ? body.input : [])
  const isReply = ({ role, type }: { role?: string; type?: string }) => role === 'assistant' || type?.endsWith('_call')
  const main = url.includes('/responses') || (Array.isArray(body?.tools) && body.tools.length > 0)
  return { ordinal, method, url, headers, text, body, replies: turns.filter(isReply).length, main }
}

async function give(asked: Asked, answer: Answer, response: ServerResponse): Promise<void> {
  if (answer.hang) return
  const isOpenAi = asked.url.includes('/responses')
  if (answer.status !== undefined) {
    const error = answer.error ?? { type: 'api_error', message: 'scripted' }
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(JSON.stringify(isOpenAi ? { error } : { type: 'error', error }))
    return
  }
  const events = isOpenAi ? openAiEvents(asked, answer) : anthropicEvents(asked, answer)
  if (!isOpenAi && asked.body?.stream !== true && answer.raw === undefined) {
    response.writeHead(200, { 'content-type': 'application/json', ...answer.headers })
    response.end(JSON.stringify(wholeMessage(asked, answer)))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers })
  response.flushHeaders()
  if (answer.raw !== undefined) return void response.end(answer.raw)
  for (const [index, data] of events.entries()) {
    if (answer.cutAfter === index) return void response.destroy()
    if (index > 0) await answer.pace?.()
    // Awaited, so that a cut comes after what was sent and not instead of it.
    await new Promise((sent) => response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`, sent))
  }
  response.end()
}

interface ApiEvent {
  type: string
  [field: string]: unknown
}

function wholeMessage({ ordinal, body }: Asked, { text, tool, stop, usage }: Answer) {
  const id = String(ordinal).padStart(4, '0')
  const block =
    tool === undefined ? { type: 'text', text: text ?? '' } : { type: 'tool_use', id: `toolu_${id}`, ...tool }
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model: body?.model ?? 'scripted',
    content: [block],
    stop_reason: stop ?? (tool === undefined ? 'end_turn' : 'tool_use'),
    stop_sequence: null,
    usage: {
      input_tokens: 100,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 25,
      ...usage,
    },
  }
}

function anthropicEvents(asked: Asked, answer: Answer): ApiEvent[] {
  const { content, stop_reason, usage, ...message } = wholeMessage(asked, answer)
  const [block] = content
  const [empty, delta] =
    block?.type === 'tool_use'
      ? [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(answer.tool?.input ?? {}) },
        ]
      : [
          { type: 'text', text: '' },
          { type: 'text_delta', text: answer.text ?? '' },
        ]
  return [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: empty },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

function openAiEvents({ ordinal, body }: Asked, { text = '', tool, usage }: Answer): ApiEvent[] {
  const id = String(ordinal).padStart(4, '0')
  const item =
    tool === undefined
      ? {
          type: 'message',
          id: `msg_${id}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        }
      : {
          type: 'function_call',
          id: `fc_${id}`,
          call_id: `call_${id}`,
          name: tool.name,
          arguments: JSON.stringify(tool.input),
          status: 'completed',
        }
  const response = { id: `resp_${id}`, object: 'response', model: body?.model ?? 'scripted' }
  const used = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 10 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 120,
    ...usage,
  }
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage: used } },
  ]
}
