import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ModelApi, type ModelApiOptions, startModelApi } from '../../../../test/support/model-api.ts'
import type { GatewaySettings } from '../../src/gateway.ts'
import { startGateway } from '../../src/gateway.ts'
import { makeToken, runKey } from '../../src/token.ts'

/** A credential-shaped string, put together here so that it stands in no file. */
export const secret = ['sk', 'ant', 'oat01', 'x'.repeat(40)].join('-')
export const apiKey = ['sk', 'ant', 'api03', 'y'.repeat(40)].join('-')
export const noBounds = { tokens: null, usd: null, turns: null }

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bwg-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Rig {
  api: ModelApi
  runDir: string
  socketDir: string
  socketPath: string
  env: GatewaySettings['env']
  tokenFor(item: string, attempt?: number): string
  /** Lines of the gateway's log. */
  log(): Record<string, unknown>[]
  /** A request through the socket, as a relay would hand it on. */
  ask(options: AskOptions): Promise<Reply>
  stop(): Promise<void>
}

export interface AskOptions {
  path?: string
  method?: string
  body?: unknown
  item?: string
  headers?: Record<string, string>
  onChunk?: (chunk: string) => void
}

export interface Reply {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

export const mainRequest = { model: 'claude-sonnet-5-5', stream: true, messages: [], tools: [{ name: 'Bash' }] }

/** A gateway in this process in front of a scripted API. */
export async function startRig(
  options: Partial<ModelApiOptions>,
  settings: Partial<GatewaySettings> = {},
): Promise<Rig> {
  const folder = newFolder()
  const runDir = settings.runDir ?? join(folder, 'run')
  mkdirSync(runDir, { recursive: true })
  const api = await startModelApi({ answer: () => ({ text: 'hello' }), ...options })
  onTestFinished(() => api.close())
  const env = settings.env ?? { XDG_RUNTIME_DIR: folder }
  const gateway = await startGateway({
    runDir,
    api: 'anthropic',
    tokenFile: tokenFile(folder),
    upstream: api.url,
    allowHosts: [],
    bounds: { item: noBounds, run: noBounds },
    patienceMs: 60_000,
    graceMs: 60_000,
    env,
    ...settings,
  })
  if (gateway === null) throw new Error('another gateway is there')
  const stop = async () => {
    gateway.stop()
    await gateway.ended
  }
  onTestFinished(stop)
  const socketPath = join(gateway.socketDir, 'api.sock')
  const tokenFor = (item: string, attempt = 1) => makeToken(runKey(runDir), { item, attempt })
  return {
    api,
    runDir,
    socketDir: gateway.socketDir,
    socketPath,
    env,
    tokenFor,
    log: () => readLines(join(runDir, 'gateway.ndjson')),
    ask: ({ item = 'sum', headers, ...rest }) =>
      askSocket(socketPath, { headers: { authorization: `Bearer ${tokenFor(item)}`, ...headers }, ...rest }),
    stop,
  }
}

export function readLines(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

export function askSocket(socketPath: string, options: AskOptions): Promise<Reply> {
  const { path = '/v1/messages', method = 'POST', body = mainRequest, headers, onChunk } = options
  return new Promise((resolve, reject) => {
    const ask = request({ socketPath, path, method, agent: false, headers: { host: 'gateway', ...headers } })
    ask.on('error', reject)
    ask.on('response', (answer) => {
      const chunks: string[] = []
      answer.setEncoding('utf8')
      answer.on('error', reject)
      answer.on('data', (chunk: string) => {
        chunks.push(chunk)
        onChunk?.(chunk)
      })
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: chunks.join('') }),
      )
    })
    ask.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
}

/** A token file of the given mode. */
export function tokenFile(folder: string, content = secret, mode = 0o600): string {
  const path = join(folder, 'token')
  writeFileSync(path, `${content}\n`, { mode })
  return path
}
