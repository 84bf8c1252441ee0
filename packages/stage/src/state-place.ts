import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { UserError } from '@buildwave/core'

/** A run that is kept in the repository it works on would change it. */
export function refuseInside(state: string, repo: string): void {
  const inside = relative(realPath(repo), realPath(state))
  if (inside.startsWith('..') || isAbsolute(inside)) return
  throw new UserError('state-in-repository', `the state folder '${state}' is inside the repository '${repo}'`, {
    hint: 'set BW_STATE_DIR to a folder elsewhere',
  })
}

/** The path without links, as far down as it exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
  }
}
