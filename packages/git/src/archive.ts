import { type GitStream, streamGit } from './call.ts'
import type { Store } from './repo.ts'

/**
 * A commit or tree of the store as a tar stream: every file with its own bytes, owner root, modes 644 and 755, links as
 * links; no attribute leaves anything out or rewrites it.
 */
export function archiveTree(store: Store, oid: string): GitStream {
  return streamGit(store, ['archive', '--format=tar', oid])
}
