import type { Readable } from 'node:stream'
import type { Engine } from './connect.ts'

export interface StartRequest {
  run: string
  /** The commit that a builder or check starts from. */
  start: string
  /** The run's base, from which `start` differs by a thin layer; the same oid as `start` for the first wave. */
  base: string
  /** A git bundle of `commit` and its history, less what `not` reaches. Called only for what is not there yet. */
  bundle: (commit: string, not: readonly string[]) => Promise<Readable>
}

/**
 * A start commit, laid out in engine-managed volumes: a bare repository with only what is reachable from it, and a
 * checkout that borrows its objects from there. Plain data: it may be kept and passed on.
 */
export interface StartLayer {
  start: string
  base: string
  uid: number
  /** Volumes with the objects, mounted read-only at `target` wherever the checkout is used; base first. */
  volumes: { name: string; target: string }[]
  /** Folders on the engine's host, topmost first, for an overlay's `lowerdir`. */
  lower: string[]
}

/**
 * Makes the layer of a start commit, once per (commit, base, uid) on this engine: later and concurrent calls find it. A
 * layer whose filling was cut off is never taken for a full one. Costs one container for the base and one more for a
 * start commit that is not the base.
 */
export async function prepareStart(_engine: Engine, _request: StartRequest): Promise<StartLayer> {
  throw new Error('not written yet')
}
