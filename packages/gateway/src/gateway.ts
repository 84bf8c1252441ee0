/** A run's gateway, in this process: two sockets, one credential, and the end of it when nobody is left. */
import type { Server } from 'node:http'
import { join } from 'node:path'
import { type HostPort, type Resolve, resolveName } from './allow-host.ts'
import { noPressure } from './backoff.ts'
import { controlServer } from './control.ts'
import { readCredential } from './credential.ts'
import type { Env } from './dial.ts'
import type { Desk } from './forward.ts'
import { openLedger } from './ledger.ts'
import { watchLiveness } from './liveness.ts'
import { openLog, readLog } from './log.ts'
import type { Api, Bounds } from './rules.ts'
import { builderServer } from './server.ts'
import { settingsDigest } from './settings.ts'
import { inodeOf, listen, makeFolders, removeFolder, removeSocket, socketPaths } from './sockets.ts'
import { runKey } from './token.ts'
import { openUpstream } from './upstream.ts'
import { noTokens, type Tokens } from './usage.ts'

export interface GatewaySettings {
  runDir: string
  api: Api
  /** Read at the start, and again with each lease. Throws UserError `bad-credential` from there when it is unusable. */
  tokenFile: string
  upstream: string | null
  allowHosts: readonly HostPort[]
  bounds: { item: Bounds; run: Bounds }
  /** How long trouble of the API is waited out before agents are told of it; milliseconds. */
  patienceMs: number
  /** How long one request may be held without an answer, for clients that give up; milliseconds. */
  holdMs?: number
  /** How long it stays without anybody; milliseconds. */
  graceMs: number
  env: Env
  /** How names of `allowHosts` are resolved; the system's way unless given. */
  resolve?: Resolve
}

export interface RunningGateway {
  socketDir: string
  /** Resolves when it ended, by itself or by `stop`. */
  ended: Promise<void>
  stop(): void
}

/** Claude Code gives up on a silent API after 300 s; a held request is answered before, and asked again. */
const longestHoldMs = 240_000

/** Starts listening. Null when a gateway of the same run is there already. Throws UserError for unusable settings. */
export async function startGateway(settings: GatewaySettings): Promise<RunningGateway | null> {
  const { runDir, api, env } = settings
  const upstream = openUpstream(api, settings.upstream, env)
  const logPath = join(runDir, 'gateway.ndjson')
  const ledger = openLedger(settings.bounds)
  restore(ledger, logPath)
  const log = openLog(logPath)
  const desk: Desk = {
    api,
    credential: readCredential(settings.tokenFile, api),
    upstream,
    ledger,
    log,
    patienceMs: settings.patienceMs,
    holdMs: settings.holdMs ?? longestHoldMs,
    pressure: noPressure,
    lastBad: null,
    isRefused: false,
    busy: new Map(),
  }
  const liveness = watchLiveness(settings.graceMs)
  const tunnels = { allowed: settings.allowHosts, resolve: settings.resolve ?? resolveName, env, log }
  const builders = builderServer({ key: runKey(runDir), desk, tunnels, liveness })
  const control = controlServer({
    desk,
    liveness,
    settings: settingsDigest(settings),
    readCredential: () => readCredential(settings.tokenFile, api),
  })

  const paths = socketPaths(runDir, env)
  makeFolders(paths)
  // The control socket is the lock: who has it may replace the other one.
  if ((await listen(control, paths.control, 0o600)) === 'taken') return null
  await listen(builders, paths.api, 0o666)
  const inodes = { control: inodeOf(paths.control), api: inodeOf(paths.api) }
  log.write({
    event: 'started',
    pid: process.pid,
    api,
    allowHosts: settings.allowHosts.map(({ host, port }) => `${host}:${port}`),
  })

  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  const ended = Promise.race([stopped, liveness.over]).then(() => {
    removeSocket(paths.control, inodes.control)
    removeSocket(paths.api, inodes.api)
    removeFolder(paths)
    for (const server of [builders, control]) shut(server)
    upstream.close()
    log.write({ event: 'ended' })
  })
  return { socketDir: paths.dir, ended, stop }
}

function shut(server: Server): void {
  server.close()
  server.closeAllConnections()
}

/** What an earlier gateway of this run counted still counts. */
function restore(ledger: ReturnType<typeof openLedger>, logPath: string): void {
  for (const line of readLog(logPath)) {
    if (line.event !== 'request' || typeof line.item !== 'string' || line['tokens'] === undefined) continue
    const turn = line['turn'] === true
    ledger.begin(line.item, turn)
    const tokens = { ...noTokens, ...(line['tokens'] as Partial<Tokens>) }
    ledger.add({ item: line.item, tokens, model: typeof line['model'] === 'string' ? line['model'] : null })
  }
}
