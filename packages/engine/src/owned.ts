import type { Engine } from './connect.ts'

/** A container or volume of ours, as its labels tell. */
export interface OwnedThing {
  type: 'container' | 'volume'
  /** Container id or volume name. */
  id: string
  name: string
  /** builder, holder, check, collector, filler, upper, work, layer, layer-seal. */
  role: string
  run: string | null
  item: string | null
  attempt: number | null
  stage: string | null
  /** For containers: created, running, exited, …; null for volumes. */
  state: string | null
  /** ISO 8601; null for what does not expire by itself. */
  expires: string | null
}

/** Everything on the engine that carries our labels and this user's uid; of one run if said. */
export async function listOwned(_engine: Engine, _of: { run?: string } = {}): Promise<OwnedThing[]> {
  throw new Error('not written yet')
}

/**
 * Removes a run's containers and volumes except those that `keep` answers true for (an attempt's containers and volumes
 * stay or go together) and layers that another run uses. Gives back what was removed.
 */
export async function reap(
  _engine: Engine,
  _of: { run: string; keep: (thing: OwnedThing) => boolean },
): Promise<OwnedThing[]> {
  throw new Error('not written yet')
}
