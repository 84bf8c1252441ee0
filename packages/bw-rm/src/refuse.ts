/** Where a run folder must not be for it to be removed. Everything is looked at again right before the removal. */
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UserError } from '@buildwave/core'
import { liveLeases } from '@buildwave/runs'
import type { RunPaths } from '@buildwave/store'

/**
 * Refuses a run folder that is a link, that does not lie where runs are kept, or that lies in a repository: then what would be
 * removed is not, or not only, ours. Throws UserError `not-a-run-folder` or `in-a-repository`.
 */
export function refuseStrangePlace(state: string, { dir, id }: RunPaths): void {
  const real = realpathSync(dir)
  const expected = join(realpathSync(state), 'runs', id)
  if (lstatSync(dir).isSymbolicLink() || real !== expected) {
    throw new UserError('not-a-run-folder', `'${dir}' leads to '${real}', which is not where runs are kept`, {
      hint: 'look at it, and remove the link by hand',
    })
  }
  const repository = repositoryAround(real)
  if (repository !== null) {
    throw new UserError('in-a-repository', `'${real}' lies in the repository '${repository}'`, {
      hint: `keep runs elsewhere (BW_STATE_DIR); this one can be removed by hand`,
    })
  }
}

/** Refuses while a stage is at work on the run. Throws UserError `run-is-live`. */
export function refuseLive(paths: RunPaths): void {
  const [lease] = liveLeases(paths)
  if (lease === undefined) return
  throw new UserError('run-is-live', `${lease.stage} (pid ${lease.pid}) is at work on run '${paths.id}'`, {
    hint: 'wait for it, or interrupt it',
  })
}

/** The work tree or bare repository that a folder is or lies in, null when there is none. */
function repositoryAround(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (isRepository(at)) return at
    if (dirname(at) === at) return null
  }
}

function isRepository(folder: string): boolean {
  if (lstatSync(join(folder, '.git'), { throwIfNoEntry: false }) !== undefined) return true
  return ['objects', 'refs'].every((name) => isFolder(join(folder, name))) && isThere(join(folder, 'HEAD'))
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
