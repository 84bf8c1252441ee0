import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'
import {
  type Env,
  protectedPrefixes,
  type RunPaths,
  readUserConfig,
  refuseProtected,
  runPaths,
  stateDir,
} from '@buildwave/store'

/** The state folder, for looking into it. Throws UserError `protected-path` before anything touches one that is protected. */
export function findState({ env, cwd }: { env: Env; cwd: string }): string {
  const state = stateDir(env)
  const prefixes = protectedPrefixes(readUserConfig(env).protectedPaths ?? [], env)
  refuseProtected(state, 'state folder', { cwd, prefixes })
  return state
}

/** The ids of the runs that a state folder holds, sorted. A folder whose name is no run id is none. Makes nothing. */
export function listRuns(state: string): string[] {
  const folder = join(state, 'runs')
  return list(folder)
    .filter((name) => isRunId(name) && statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true)
    .sort()
}

/**
 * The run that the first argument names, and the arguments after it; the only run when the first argument names none.
 * Throws UserError `no-run` or `which-run`.
 */
export function pickRun(state: string, args: readonly string[]): { paths: RunPaths; rest: string[] } {
  const runs = listRuns(state)
  const [first, ...rest] = args
  if (first !== undefined && runs.includes(first)) return { paths: runPaths(state, first), rest }
  const [only] = runs
  if (only === undefined) {
    throw new UserError('no-run', `no run is kept under '${join(state, 'runs')}'`, {
      hint: 'BW_STATE_DIR names the state folder that tools look into',
    })
  }
  if (runs.length === 1) return { paths: runPaths(state, only), rest: [...args] }
  if (first !== undefined) throw new UserError('no-run', `no run '${first}'`, { hint: 'bw-ls lists the runs' })
  throw new UserError('which-run', `there are ${runs.length} runs`, { hint: 'name one; bw-ls lists them' })
}

/** Refuses arguments that nothing is done with; the first of them is named. */
export function refuseRest(rest: readonly string[], what: string): void {
  const [first] = rest
  if (first !== undefined)
    throw new UserError('bad-arguments', `no ${what} '${first}'`, { hint: 'bw-ls lists the runs' })
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new UserError('cannot-read', `cannot read '${folder}'`, { cause })
  }
}

function isRunId(name: string): boolean {
  try {
    runPaths('/', name)
    return true
  } catch {
    return false
  }
}
