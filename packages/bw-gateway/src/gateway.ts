import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { UserError } from '@buildwave/core'
import { type Api, type GatewaySettings, parseAllowHost } from '@buildwave/gateway'
import {
  protectedPrefixes,
  readUserConfig,
  refuseProtected,
  runPaths,
  stateDir,
  userConfigPath,
} from '@buildwave/store'

export interface GatewayFlags {
  run: string | undefined
  runDir: string | undefined
  api: string | undefined
  tokenFile: string | undefined
  upstream: string | undefined
  allowHost: string[]
  maxTokens: number | undefined
  maxUsd: number | undefined
  maxTurns: number | undefined
  maxRunTokens: number | undefined
  maxRunUsd: number | undefined
  maxRunTurns: number | undefined
  patience: number | undefined
  grace: number | undefined
}

type Env = GatewaySettings['env']

/** From flags to settings. Throws UserError for a path that is protected, before anything touches it. */
export function settingsFrom(flags: GatewayFlags, { env, cwd }: { env: Env; cwd: string }): GatewaySettings {
  const config = readUserConfig(env)
  const prefixes = protectedPrefixes(config.protectedPaths ?? [], env)
  const runDir = resolve(cwd, flags.runDir ?? runFolder(flags.run, env))
  const tokenFile = resolve(cwd, flags.tokenFile ?? config.tokenFile ?? join(dirname(userConfigPath(env)), 'token'))
  refuseProtected(runDir, 'run folder', { cwd, prefixes })
  refuseProtected(tokenFile, 'token file', { cwd, prefixes })
  if (!existsSync(runDir))
    throw new UserError('no-run', `there is no run in '${runDir}'`, { hint: 'the first stage that acts opens a run' })
  return {
    runDir,
    api: readApi(flags.api ?? 'anthropic'),
    tokenFile,
    upstream: flags.upstream ?? null,
    allowHosts: flags.allowHost.map(parseAllowHost),
    bounds: {
      item: { tokens: flags.maxTokens ?? null, usd: flags.maxUsd ?? null, turns: flags.maxTurns ?? null },
      run: { tokens: flags.maxRunTokens ?? null, usd: flags.maxRunUsd ?? null, turns: flags.maxRunTurns ?? null },
    },
    patienceMs: (flags.patience ?? 1200) * 1000,
    graceMs: (flags.grace ?? 10) * 1000,
    env,
  }
}

function runFolder(run: string | undefined, env: Env): string {
  if (run !== undefined) return runPaths(stateDir(env), run).dir
  throw new UserError('bad-arguments', 'no run is given', { hint: 'name it with --run' })
}

function readApi(name: string): Api {
  if (name === 'anthropic' || name === 'openai') return name
  throw new UserError('bad-arguments', `unknown api '${name}'`, { hint: 'anthropic or openai' })
}
