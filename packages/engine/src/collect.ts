import type { Readable } from 'node:stream'
import type { AttemptId } from './attempt-id.ts'
import type { Engine } from './connect.ts'
import type { StartLayer } from './layer.ts'

export interface CollectRequest extends AttemptId {
  layer: StartLayer
}

export interface CollectedTree {
  /** The tree oid of the builder's working tree: tracked and new files, ignored ones left out. */
  tree: string
  /**
   * A self-contained pack of the objects that the start commit does not have; null when there are none. Untrusted: check
   * it with fsck. It must be read to its end; a collector that fails half-way makes it end with an error.
   */
  pack: Readable | null
}

/**
 * Makes the git tree of what an ended builder left in `/work`, in a fresh container with no network, a git directory and
 * configuration of our own, and nothing of the builder's `.git`. Throws UserError `nested-repository` (names them),
 * `uncollectable` (a name git cannot hold), `attempt-gone`, or plain Error while the builder still runs.
 */
export async function collectTree(_engine: Engine, _request: CollectRequest): Promise<CollectedTree> {
  throw new Error('not written yet')
}
