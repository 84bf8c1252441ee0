/**
 * What may pass. The API itself is a way out: it will fetch a URL, call a server or run a search for whoever asks. So a
 * request passes when its path is one of a few, byte for byte, and its body asks for nothing but a model's reply.
 */

/** Whose API a builder's agent speaks. */
export type Api = 'anthropic' | 'openai'

/** Upper bounds; null for none. Tokens are input, output and cache writes; what is read from a cache is not counted. */
export interface Bounds {
  tokens: number | null
  usd: number | null
  turns: number | null
}

export interface Route {
  path: string
  query: string
  /** True when a reply is made, and used tokens are answered. */
  spends: boolean
}

const paths: Readonly<Record<Api, readonly Omit<Route, 'query'>[]>> = {
  anthropic: [
    { path: '/v1/messages', spends: true },
    { path: '/v1/messages/count_tokens', spends: false },
  ],
  openai: [
    { path: '/v1/responses', spends: true },
    { path: '/v1/responses/compact', spends: true },
  ],
}

/**
 * The route of a request target, or null. The path is compared as it came, so there is nothing to normalise and no trick
 * with dots, slashes or escapes; of the query only the client's own `beta=true` is passed.
 */
export function findRoute(api: Api, method: string, target: string): Route | null {
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const query = mark === -1 ? '' : target.slice(mark + 1)
  const found = paths[api].find((route) => route.path === path)
  if (method !== 'POST' || found === undefined || !['', 'beta=true'].includes(query)) return null
  return { ...found, query }
}

type Fields = Readonly<Record<string, unknown>>

/** Why a body may not pass, or null. `body` is the parsed JSON. */
export function refuseBody(api: Api, body: unknown): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'the body is not a JSON object'
  return api === 'anthropic' ? refuseAnthropic(body as Fields) : refuseOpenAi(body as Fields)
}

/** True for a request of an agent's main loop: it offers tools. */
export function isTurn(api: Api, body: unknown): boolean {
  return api === 'openai' || asList(asFields(body)['tools']).length > 0
}

/** Tools whose name says that the client runs them; everything else is run by the API's servers. */
const clientTools = /^(custom|bash_|text_editor_|computer_|memory_)/

function refuseAnthropic(body: Fields): string | null {
  for (const field of ['mcp_servers', 'container']) {
    if (isGiven(body[field])) return `'${field}' is not passed on`
  }
  const messages = asList(body['messages']).map(asFields)
  const blocks = [body['system'], ...messages.map((message) => message['content'])].flatMap(blocksIn)
  for (const tool of [body, ...messages, ...blocks].flatMap(toolsIn)) {
    const type = tool['type'] ?? 'custom'
    if (typeof type !== 'string' || !clientTools.test(type))
      return `the API's own tool '${show(type)}' is not passed on`
  }
  return blocks.some(isFetched) ? 'the API may not fetch files or addresses' : null
}

/** Blocks of content, and of the content in them; the input of a tool call is the model's own text and no block. */
function blocksIn(content: unknown): Fields[] {
  const blocks = asList(content).map(asFields)
  const inside = blocks.flatMap((block) => [block['content'], asFields(block['source'])['content']])
  return [...blocks, ...inside.flatMap(blocksIn)]
}

/** Tools are offered by a request, by a message or block that changes them, or in a namespace that holds some. */
function toolsIn(holder: Fields): Fields[] {
  const tools = [...asList(holder['tools']), holder['tool']].filter(isGiven).map(asFields)
  return [...tools, ...tools.flatMap(toolsIn)]
}

/** True for a block whose source is an address or a stored file. */
function isFetched({ type, source }: Fields): boolean {
  if (type === 'container_upload') return true
  if (!isGiven(source) || typeof source === 'string') return false
  return !['base64', 'text', 'content'].some((known) => known === asFields(source)['type'])
}

const openAiTools = ['function', 'custom', 'local_shell', 'namespace', 'apply_patch', 'shell', 'tool_search']

function refuseOpenAi(body: Fields): string | null {
  for (const field of ['prompt', 'conversation', 'background']) {
    if (isGiven(body[field])) return `'${field}' is not passed on`
  }
  const items = asList(body['input']).map(asFields)
  for (const { type } of [body, ...items].flatMap(toolsIn)) {
    if (!openAiTools.some((known) => known === type)) return `the API's own tool '${show(type)}' is not passed on`
  }
  return items.some(isFetchedOpenAi) ? 'the API may not fetch files or addresses' : null
}

function isFetchedOpenAi(item: Fields): boolean {
  const isOutside = ['image_url', 'file_url', 'file_id'].some((field) => {
    const value = item[field]
    return isGiven(value) && !(typeof value === 'string' && value.startsWith('data:'))
  })
  return isOutside || [...asList(item['content']), ...asList(item['output'])].map(asFields).some(isFetchedOpenAi)
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
}

function show(value: unknown): string {
  return String(value)
    .replace(/[^\x20-\x7e]/g, '.')
    .slice(0, 60)
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}
