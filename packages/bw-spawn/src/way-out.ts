/** The one way out of builders: the gateway's flags, and the lease that keeps it going while this stage works. */
import { dirname, join, resolve } from 'node:path'
import { UserError } from '@buildwave/core'
import { type Api, type Gateway, gatewayFor } from '@buildwave/gateway'
import { type Flags, type FlagValues, type Io, otherTool } from '@buildwave/stdio'
import { type RunPaths, refuseProtected, type UserConfig, userConfigPath } from '@buildwave/store'

export const gatewayFlags = {
  'token-file': {
    type: 'string',
    value: 'FILE',
    env: 'BW_TOKEN_FILE',
    byDefault: '~/.config/buildwave/token',
    help: 'a file of mode 600 with an OAuth token or an API key; it never enters a builder',
  },
  upstream: { type: 'string', value: 'URL', env: 'BW_UPSTREAM', help: "instead of the model API's own address" },
  'allow-host': { type: 'strings', value: 'NAME:PORT', help: 'let builders connect there, by exact name' },
  'max-turns': { type: 'count', env: 'BW_MAX_TURNS', help: 'for each item: replies of the model' },
  'max-tokens': { type: 'count', env: 'BW_MAX_TOKENS', help: 'for each item: input, output and cache writes' },
  'max-usd': { type: 'number', value: 'X', env: 'BW_MAX_USD', help: 'for each item, where the price is known' },
  'max-run-turns': { type: 'count', help: 'for the whole run' },
  'max-run-tokens': { type: 'count', help: 'for the whole run' },
  'max-run-usd': { type: 'number', value: 'X', help: 'for the whole run' },
} as const satisfies Flags

export interface WayOut {
  gateway: Gateway
  /** True while the API makes all builders wait: what starts now would only wait too. Throws when it refuses the credential. */
  isHeld(): Promise<boolean>
  /** What the holder runs under its time limit: the relay between the builder's loopback and the gateway's socket. */
  relayArgv: string[]
  /** Mounted read-only in holders, and only there. */
  holderMounts: { host: string; target: string; readOnly: boolean }[]
}

/** The relay as it lies in the holder image. */
const relay = '/usr/local/lib/buildwave/relay/relay.py'
const socketFolder = '/bw/gateway'

/** Takes a lease on the run's gateway, which is started when there is none. Throws UserError `gateway-start`. */
export async function openWayOut(
  api: Api,
  {
    flags,
    io,
    config,
    paths,
    prefixes,
    note,
  }: {
    flags: FlagValues<typeof gatewayFlags>
    io: Io
    config: UserConfig
    paths: RunPaths
    prefixes: readonly string[]
    note: (text: string) => void
  },
): Promise<WayOut> {
  const tokenFile = resolve(
    io.cwd,
    flags.tokenFile ?? config.tokenFile ?? join(dirname(userConfigPath(io.env)), 'token'),
  )
  refuseProtected(tokenFile, 'token file', { cwd: io.cwd, prefixes })
  const gateway = await gatewayFor({
    runDir: paths.dir,
    program: otherTool('bw-gateway'),
    api,
    tokenFile,
    upstream: flags.upstream ?? null,
    allowHosts: flags.allowHost,
    bounds: {
      item: { turns: flags.maxTurns ?? null, tokens: flags.maxTokens ?? null, usd: flags.maxUsd ?? null },
      run: { turns: flags.maxRunTurns ?? null, tokens: flags.maxRunTokens ?? null, usd: flags.maxRunUsd ?? null },
    },
    env: io.env,
  })
  return {
    gateway,
    isHeld: holdOf(gateway, note),
    relayArgv: ['python3', relay, String(gateway.port), `${socketFolder}/api.sock`],
    holderMounts: [{ host: gateway.socketDir, target: socketFolder, readOnly: true }],
  }
}

/** How often the gateway is asked. */
const askMs = 2000

/** Asks the gateway whether the API makes everybody wait, and says so once for each wait. */
function holdOf(gateway: Gateway, note: (text: string) => void): () => Promise<boolean> {
  let asked = 0
  let until: string | null = null
  // A gateway that is still there from an earlier run remembers what was refused then; the credential may be mended.
  let before: boolean | undefined
  return async () => {
    if (Date.now() - asked < askMs) return until !== null
    asked = Date.now()
    // A gateway that is just being started again answers next time; one that is gone for good ends the lease.
    const state = await gateway.state().catch(() => null)
    if (state === null) return until !== null
    const { parkedUntil, parkedFor, isRefused } = state
    before = isRefused && before !== false
    if (isRefused && !before) {
      throw new UserError('credential-refused', 'the model API refuses the credential', {
        hint: 'make a new token, then run the same command line again: what is built is kept',
      })
    }
    if (parkedUntil !== null && parkedUntil !== until)
      note(`new builders wait for the model API (${parkedFor ?? 'busy'}) until ${parkedUntil}`)
    until = parkedUntil
    return until !== null
  }
}
