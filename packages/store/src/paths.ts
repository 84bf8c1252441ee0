import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { UserError } from '@buildwave/core'

export type Env = Readonly<Record<string, string | undefined>>

/** Where runs live: `BW_STATE_DIR`, else `$XDG_STATE_HOME/buildwave`, else `~/.local/state/buildwave`. */
export function stateDir(env: Env): string {
  return (
    absolute(env, 'BW_STATE_DIR') ??
    join(absolute(env, 'XDG_STATE_HOME') ?? join(home(env), '.local', 'state'), 'buildwave')
  )
}

/** The user's configuration file: `BW_CONFIG`, else `$XDG_CONFIG_HOME/buildwave/config.json`. */
export function userConfigPath(env: Env): string {
  return (
    absolute(env, 'BW_CONFIG') ??
    join(absolute(env, 'XDG_CONFIG_HOME') ?? join(home(env), '.config'), 'buildwave', 'config.json')
  )
}

/** Where what can be made again is kept: `$XDG_CACHE_HOME/buildwave`, else `~/.cache/buildwave`. */
export function cacheDir(env: Env): string {
  return join(absolute(env, 'XDG_CACHE_HOME') ?? join(home(env), '.cache'), 'buildwave')
}

function home(env: Env): string {
  return env['HOME'] !== undefined && env['HOME'] !== '' ? env['HOME'] : homedir()
}

function absolute(env: Env, name: string): string | undefined {
  const value = env[name]
  if (value === undefined || value === '') return undefined
  if (!isAbsolute(value)) throw new UserError('bad-arguments', `${name} is not an absolute path: '${value}'`)
  return value
}

/** The files of one run. Nothing is created by asking. */
export interface RunPaths {
  id: string
  dir: string
  journal: string
  leases: string
  repo: string
  gitConfig: string
  verify: string
  evidence: string
  attempt(item: string, attempt: number): AttemptPaths
}

export interface AttemptPaths {
  dir: string
  /** Mounted read-only at `/bw/in`: the prompt and what starts the agent. */
  in: string
  /** Mounted at `/bw/out`, the one place on the host that a builder can write. */
  out: string
  prompt: string
  stream: string
  stderr: string
  testsLog: string
  regressionLog: string
}

export function runPaths(state: string, id: string): RunPaths {
  if (!/^[a-z0-9][a-z0-9._-]{0,79}$/.test(id) || id.includes('..')) {
    throw new UserError('bad-run-id', `'${id}' is not a run id`, {
      hint: 'a run id has a-z, 0-9, dot, dash and underscore, at most 80',
    })
  }
  const dir = join(state, 'runs', id)
  return {
    id,
    dir,
    journal: join(dir, 'journal.ndjson'),
    leases: join(dir, 'leases'),
    repo: join(dir, 'repo.git'),
    gitConfig: join(dir, 'gitconfig'),
    verify: join(dir, 'verify'),
    evidence: join(dir, 'evidence.json'),
    attempt(item, attempt) {
      const at = join(dir, 'items', item, String(attempt))
      return {
        dir: at,
        in: join(at, 'in'),
        out: join(at, 'out'),
        prompt: join(at, 'in', 'prompt.md'),
        stream: join(at, 'out', 'stream.jsonl'),
        stderr: join(at, 'out', 'stderr.log'),
        testsLog: join(at, 'tests.log'),
        regressionLog: join(at, 'regression.log'),
      }
    },
  }
}
