import { posix } from 'node:path'
import { type Change, type Repo, readBlob } from '@buildwave/git'

export interface EscapingLink {
  path: string
  target: string
}

/**
 * The new or changed symbolic links that lead out of the repository, by their text alone: nothing is followed. They are
 * collected as they are and only reported, since git itself keeps such links.
 */
export async function escapingLinks(repo: Repo, changes: readonly Change[]): Promise<EscapingLink[]> {
  const links = changes.flatMap(({ path, to }) => (to?.mode === '120000' ? [{ path, oid: to.oid }] : []))
  const read = await Promise.all(
    links.map(async ({ path, oid }) => ({ path, target: (await readBlob(repo, oid)).toString('utf8') })),
  )
  return read.filter(({ path, target }) => leadsOut(path, target))
}

/** True for an absolute target and for one with more steps up than there are folders. */
export function leadsOut(path: string, target: string): boolean {
  if (target.startsWith('/')) return true
  const end = posix.normalize(posix.join(posix.dirname(path), target))
  return end === '..' || end.startsWith('../')
}
