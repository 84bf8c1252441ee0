/** The gateway as a stage sees it: a lease that starts the gateway's process, and starts it again if it dies. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '@buildwave/core'
import { parseAllowHost } from './allow-host.ts'
import type { Api, Bounds } from './rules.ts'
import { settingsDigest } from './settings.ts'
import { makeFolders, socketPaths } from './sockets.ts'
import { makeToken, runKey } from './token.ts'

export interface GatewayOptions {
  /** The run's folder: its key and its log (`gateway.key`, `gateway.ndjson`) are kept there. */
  runDir: string
  /** How `bw-gateway` is started for this run: program and first arguments. */
  program: readonly string[]
  api: Api
  /** A file of mode 600 with the credential; read by the gateway's process only. */
  tokenFile: string
  /** Instead of the API's own address. */
  upstream: string | null
  /** `NAME:PORT` that builders may reach through CONNECT. */
  allowHosts: readonly string[]
  bounds: { item: Bounds; run: Bounds }
  env: Readonly<Record<string, string | undefined>>
}

/** A lease on the run's gateway: it lives as long as one of these or one relay is connected. */
export interface Gateway {
  /** Mounted read-only into holders, and only there. */
  socketDir: string
  /** The loopback port for the relay, the same for all builders of this lease. */
  port: number
  /** What the adapter of an attempt needs: a loopback address and the attempt's own token. */
  addressFor(item: string, attempt: number): { url: string; token: string }
  /** Proxy variables for what `--allow-host` opens; empty when nothing is allowed. */
  proxyFor(item: string, attempt: number): Record<string, string>
  state(): Promise<GatewayState>
  /** Resolves when the lease was lost and could not be taken again, with the reason. */
  lost: Promise<UserError>
  /** Gives the lease back. The gateway ends by itself soon after the last one. */
  close(): void
}

export interface GatewayState {
  /** Until when requests are parked, ISO 8601 UTC; null when they are not. New builders are better not started before. */
  parkedUntil: string | null
  /** Why: `rate-limit`, `overloaded` or `usage-limit`. */
  parkedFor: string | null
  /** The API does not take the credential (any more): nothing should be started before a person mended that. */
  isRefused: boolean
  /** By item: what was used so far. */
  items: Record<string, UsedByItem>
}

export interface UsedByItem {
  turns: number
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number }
  /** US dollars; null when the price of a model that answered is not known. */
  costUsd: number | null
}

/**
 * The run's gateway, started when there is none. Throws UserError `gateway-start` with the gateway's own words when it
 * cannot start, `gateway-differs` when one runs that was started for another API, upstream, token file or list
 * of hosts.
 */
export async function gatewayFor(options: GatewayOptions): Promise<Gateway> {
  const paths = socketPaths(options.runDir, options.env)
  makeFolders(paths)
  const key = runKey(options.runDir)
  // Below the range that the kernel hands out by itself, so that nothing of a builder's can sit on it by chance.
  const port = randomInt(20_000, 32_768)
  const { promise: lost, resolve: lose } = Promise.withResolvers<UserError>()
  let isOpen = true
  let lease = await takeLease(options, paths.control)
  keep(lease)

  function keep(connection: IncomingMessage): void {
    connection.resume()
    connection.on('error', () => undefined)
    connection.on('close', async () => {
      if (!isOpen) return
      try {
        lease = await takeLease(options, paths.control)
        if (isOpen) keep(lease)
        else lease.destroy()
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        lose(error)
      }
    })
  }

  const tokenFor = (item: string, attempt: number) => makeToken(key, { item, attempt })
  return {
    socketDir: paths.dir,
    port,
    addressFor: (item, attempt) => ({ url: `http://127.0.0.1:${port}`, token: tokenFor(item, attempt) }),
    proxyFor(item, attempt) {
      if (options.allowHosts.length === 0) return {}
      const url = `http://bw:${tokenFor(item, attempt)}@127.0.0.1:${port}`
      const direct = 'localhost,127.0.0.1,::1'
      return { HTTPS_PROXY: url, https_proxy: url, NO_PROXY: direct, no_proxy: direct }
    },
    state: async () => JSON.parse(await askControl(paths.control, '/state')) as GatewayState,
    lost,
    close() {
      isOpen = false
      lease.destroy()
    },
  }
}

/** Connects to the gateway's control socket, after starting a gateway where none answers. */
async function takeLease(options: GatewayOptions, control: string): Promise<IncomingMessage> {
  for (let tries = 0; tries < 5; tries++) {
    const answer = await openLease(options, control)
    if (answer?.statusCode === 200) return answer
    if (answer?.statusCode === 409) throw await readRefusal(answer)
    answer?.destroy()
    if (answer !== null) await sleep(100)
    else await startProcess(options)
  }
  throw new UserError('gateway-start', 'the gateway ends as soon as it has started')
}

async function readRefusal(answer: IncomingMessage): Promise<UserError> {
  const { code, message, hint } = JSON.parse(await text(answer)) as { code: string; message: string; hint?: string }
  return new UserError(code, message, hint === undefined ? {} : { hint })
}

/** The answer to a request for a lease, null when nobody listens. */
function openLease(options: GatewayOptions, control: string): Promise<IncomingMessage | null> {
  const settings = settingsDigest({ ...options, allowHosts: options.allowHosts.map(parseAllowHost) })
  const body = JSON.stringify({ settings, bounds: options.bounds })
  return new Promise((resolve) => {
    const ask = request({ socketPath: control, path: '/lease', method: 'POST', agent: false })
    ask.on('response', resolve)
    ask.on('error', () => resolve(null))
    ask.end(body)
  })
}

async function startProcess(options: GatewayOptions): Promise<void> {
  const [program = '', ...first] = options.program
  const child = spawn(program, [...first, ...gatewayArgv(options)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: options.env,
  })
  const words: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => words.push(chunk))
  const outcome = await new Promise<'ready' | Error | number | null>((resolve) => {
    child.stdout.once('data', () => resolve('ready'))
    child.on('error', resolve)
    child.on('close', resolve)
  })
  if (outcome !== 'ready') {
    const said = Buffer.concat(words).toString('utf8').trim()
    const [message = '', hint] = said.split('\nhint: ')
    const reason =
      message.replace(/^bw-gateway: /, '') || (outcome instanceof Error ? outcome.message : `status ${outcome}`)
    throw new UserError('gateway-start', `cannot start the gateway: ${reason}`, hint === undefined ? {} : { hint })
  }
  // It outlives us; what it says from now on stands in its log.
  child.stdout.destroy()
  child.stderr.destroy()
  child.unref()
}

/** Nothing secret: the credential is named by its file. */
function gatewayArgv(options: GatewayOptions): string[] {
  const { item, run } = options.bounds
  const numbers = Object.entries({
    'max-tokens': item.tokens,
    'max-usd': item.usd,
    'max-turns': item.turns,
    'max-run-tokens': run.tokens,
    'max-run-usd': run.usd,
    'max-run-turns': run.turns,
  })
  return [
    ['--run-dir', options.runDir, '--api', options.api, '--token-file', options.tokenFile],
    options.upstream === null ? [] : ['--upstream', options.upstream],
    options.allowHosts.flatMap((host) => ['--allow-host', host]),
    numbers.flatMap(([name, value]) => (value === null ? [] : [`--${name}`, String(value)])),
  ].flat()
}

async function askControl(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const ask = request({ socketPath, path, agent: false }, (answer) => {
      text(answer).then(resolve, reject)
    })
    ask.on('error', reject)
    ask.end()
  })
}
