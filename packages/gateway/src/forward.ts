/** One request of a builder: checked, held while the run is parked, passed on with the credential, counted as it returns. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { budgetRefusal, errorText, refusal } from './answers.ts'
import { isPressure, nextStep, type Pressure, park, relieve } from './backoff.ts'
import { type Credential, upstreamHeaders } from './credential.ts'
import type { Ledger } from './ledger.ts'
import { type Log, loggable } from './log.ts'
import { maskStream, maskText } from './mask.ts'
import { type Api, findRoute, isTurn, type Route, refuseBody } from './rules.ts'
import type { Holder } from './token.ts'
import type { Upstream } from './upstream.ts'
import { estimate, noTokens, openUsage, type Usage } from './usage.ts'

export interface Desk {
  api: Api
  credential: Credential
  upstream: Upstream
  ledger: Ledger
  log: Log
  /** How long trouble may last, from its beginning, before agents are told of it; milliseconds. */
  patienceMs: number
  /** Shared by all builders. */
  pressure: Pressure
  /** How long one request may be held without an answer; milliseconds. */
  holdMs: number
  /** The last answer that parked the run, for those that cannot wait for its end. */
  lastBad: Answer | null
  /** True from an answer that refused the credential until one that took it. */
  isRefused: boolean
  /** Requests under way, by attempt. */
  busy: Map<string, number>
}

interface Answer {
  status: number
  headers: OutgoingHttpHeaders
  body: Buffer
}

interface Call {
  who: Holder
  route: Route
  headers: IncomingHttpHeaders
  body: Buffer
  turn: boolean
  signal: AbortSignal
  /** Answers in place of the API, and writes it down. */
  refuse(status: number, code: string, message: string): void
}

/** No agent sends more at a time; without a bound, replies under way could overrun any budget. */
const mostAtOnce = 16
const longestBody = 48 * 1024 * 1024

export async function forward(desk: Desk, who: Holder, ask: IncomingMessage, reply: ServerResponse): Promise<void> {
  const route = findRoute(desk.api, ask.method ?? '', ask.url ?? '')
  if (route === null) return refuse(404, 'path', 'only the model API is reachable here')
  const text = await readBody(ask)
  if (text === null) return refuse(413, 'size', 'the request is too large')
  const { body, problem } = parseBody(desk.api, text)
  if (problem !== null) return refuse(400, 'body', problem)
  const name = `${who.item}~${who.attempt}`
  const busy = desk.busy.get(name) ?? 0
  if (busy >= mostAtOnce) return refuse(503, 'at-once', 'too many requests at once')
  desk.busy.set(name, busy + 1)
  const gone = new AbortController()
  reply.on('close', () => gone.abort())
  const turn = isTurn(desk.api, body) && route.spends
  const call = {
    who,
    route,
    refuse,
    headers: ask.headers,
    body: Buffer.from(JSON.stringify(body)),
    turn,
    signal: gone.signal,
  }
  try {
    await pass(desk, call, reply)
  } finally {
    desk.busy.set(name, (desk.busy.get(name) ?? 1) - 1)
  }

  function refuse(status: number, code: string, message: string): void {
    const [method, path] = [loggable(ask.method ?? ''), loggable(ask.url ?? '')]
    desk.log.write({ event: 'refused', ...who, code, method, path, message: loggable(message) })
    refusal(desk.api, reply, { status, message })
  }
}

/** Waits and tries until there is an answer to give. */
async function pass(desk: Desk, call: Call, reply: ServerResponse): Promise<void> {
  const heldUntil = Date.now() + desk.holdMs
  while (!call.signal.aborted) {
    const times = { now: Date.now(), heldUntil, patience: desk.patienceMs, random: Math.random() }
    const step = nextStep(desk.pressure, times)
    if (step === 'hopeless') return giveBad(desk, reply)
    if (step === 'again') return refusal(desk.api, reply, { status: 503, message: 'the API is busy', retry: 1 })
    if (step !== 'go') {
      await sleep(step, undefined, { signal: call.signal }).catch(() => undefined)
      continue
    }
    // Last of all, with nothing awaited before it is counted: those that waited together must not pass together.
    const met = desk.ledger.refusal(call.who.item)
    if (met !== null) return call.refuse(400, 'budget', budgetRefusal(met))
    const bad = await tryOnce(desk, call, reply)
    if (bad === null) return
    desk.pressure = park(desk.pressure, { status: bad.status, headers: bad.headers as IncomingHttpHeaders }, Date.now())
    desk.lastBad = bad
    const until = new Date(desk.pressure.until).toISOString()
    desk.log.write({ event: 'parked', ...call.who, reason: desk.pressure.reason, status: bad.status, until })
  }
}

/** Null when the answer went to the builder; else what the API said about load or limits. */
async function tryOnce(desk: Desk, call: Call, reply: ServerResponse): Promise<Answer | null> {
  const sentAt = Date.now()
  const takeBack = desk.ledger.begin(call.who.item, call.turn)
  // A lease may bring another one while we wait; what is masked is what was sent.
  const { credential } = desk
  let answer: IncomingMessage
  try {
    const headers = upstreamHeaders(call.headers, desk.api, credential)
    answer = await desk.upstream.send(call.route, { headers, body: call.body, signal: call.signal })
  } catch (error) {
    if (call.signal.aborted) {
      charge(desk, call, { used: { tokens: noTokens, model: null, isFinal: false, bytes: 0 }, status: null, cut: true })
      return null
    }
    takeBack()
    const reason = maskText((error as Error).message, credential.value)
    desk.log.write({ event: 'request', ...call.who, path: call.route.path, status: null, error: loggable(reason) })
    refusal(desk.api, reply, { status: 502, message: `cannot reach the API: ${reason}` })
    return null
  }
  const status = answer.statusCode ?? 502
  if (status < 200 || status >= 300) takeBack()
  if (isPressure(status)) return readAnswer(answer, credential.value)
  if (status < 500) desk.pressure = relieve(desk.pressure, sentAt)
  if (status === 401 || status < 300) desk.isRefused = status === 401
  await giveAnswer(desk, { ...call, secret: credential.value }, answer, reply)
  return null
}

async function giveAnswer(
  desk: Desk,
  call: Call & { secret: string },
  answer: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  const status = answer.statusCode ?? 502
  const usage = openUsage(desk.api, answer.headers['content-type'])
  const mask = maskStream(call.secret)
  answer.on('data', (chunk: Buffer) => usage.push(chunk))
  reply.writeHead(status, replyHeaders(answer.headers, call.secret))
  reply.flushHeaders()
  // A cut answer is handed on as a cut one; what was used until then still counts.
  const cut = await pipeline(answer, mask, reply).then(
    () => false,
    () => true,
  )
  charge(desk, call, { used: usage.end(), status, cut })
}

/** Counts and logs one request. What a builder hung up on was asked for all the same, and is counted from above. */
function charge(desk: Desk, call: Call, end: { used: Usage; status: number | null; cut: boolean }): void {
  const { item, attempt } = call.who
  const { used, status, cut } = end
  const line = { event: 'request' as const, item, attempt, path: call.route.path, status, ...(cut ? { cut } : {}) }
  if (!call.route.spends) {
    desk.log.write(line)
    return
  }
  const isReply = status === null || status < 300
  const isEstimate = isReply && !used.isFinal
  const tokens = isEstimate ? estimate(used, call.body.length) : used.tokens
  const model = used.model === null ? null : loggable(used.model)
  if (desk.ledger.add({ item, tokens, model: used.model }) === 'unpriced') desk.log.write({ event: 'unpriced', model })
  desk.log.write({ ...line, turn: call.turn && isReply, tokens, model, ...(isEstimate ? { estimated: true } : {}) })
}

async function readAnswer(answer: IncomingMessage, secret: string): Promise<Answer> {
  const headers = replyHeaders(answer.headers, secret)
  const text = await readBody(answer).catch(() => null)
  const body = Buffer.from(maskText((text ?? Buffer.alloc(0)).toString('utf8'), secret))
  return { status: answer.statusCode ?? 502, headers, body }
}

function giveBad(desk: Desk, reply: ServerResponse): void {
  const { status, headers, body } = desk.lastBad ?? {
    status: 429,
    headers: {},
    body: errorText(desk.api, 429, 'parked'),
  }
  // Codex sleeps as long as it is told to, for hours; without a time it ends and says why.
  const { 'retry-after': _, ...rest } = headers
  const seconds = Math.max(1, Math.ceil((desk.pressure.until - Date.now()) / 1000))
  reply.writeHead(status, desk.api === 'openai' ? rest : { ...rest, 'retry-after': String(seconds) }).end(body)
}

/** Headers that describe the answer; none about the connection or the credential's account. */
function replyHeaders(given: IncomingHttpHeaders, secret: string): OutgoingHttpHeaders {
  const connection = ['connection', 'content-length', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade']
  const dropped = [...connection, 'set-cookie', 'anthropic-organization-id', 'openai-organization']
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      dropped.includes(name) || value === undefined ? [] : [[name, maskText(String(value), secret)]],
    ),
  )
}

/** Null when it is too long. */
async function readBody(stream: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > longestBody) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** What is passed on is written anew from what was checked, so no second reading of the text can differ. */
function parseBody(api: Api, text: Buffer): { body: unknown; problem: string | null } {
  try {
    const body: unknown = JSON.parse(text.toString('utf8'))
    JSON.stringify(body)
    return { body, problem: refuseBody(api, body) }
  } catch (error) {
    // A RangeError is a stack that a deeply nested body has filled.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
    return { body: null, problem: 'the body is not JSON, or nested too deeply' }
  }
}
