/**
 * Why an item is not earlier. The list is enough to run by: an item may start once everything it waits for is answered. What
 * follows through others is left out where it would be long.
 */
import { type Claim, type Overlap, overlapClaims } from './overlap.ts'
import type { Placeable } from './waves.ts'
import type { ClaimId, ClaimTable } from './waves-claims.ts'
import type { Position } from './waves-order.ts'
import type { BarrierReason, Stretch } from './waves-stretches.ts'

export type Wait = {
  item: string
  reason: 'dependency' | 'file' | 'order' | 'slots' | BarrierReason
  /** For reason `file`: a path that both may touch. */
  witness?: string
  /** For reason `file`, where the two would not meet if letter case always counted. */
  certainty?: 'case-fold'
}

/** How many earlier holders of one claim are named even where a later one already stands for them. */
const maxNamed = 16
/** How many are named at a barrier before no further stretch is added. */
const maxBehind = 64

export interface Placed {
  items: readonly Placeable[]
  order: readonly Position[]
  after: readonly (readonly Position[])[]
  /** The item of the same group just before. */
  before: ReadonlyMap<Position, Position>
  stretches: readonly Stretch[]
  table: ClaimTable
  waves: readonly number[]
}

interface Dispute {
  item: string
  other: string
  witness: string
}

export function explainWaits(placed: Placed): { waits: Wait[][]; disputed: Dispute[] } {
  const { items, order, after, before, table, waves } = placed
  const nameOf = (position: Position) => (items[position] as Placeable).item
  const stretchOf = stretchNumbers(placed.stretches)
  const holders = holdersOf(table)
  const waits: Wait[][] = items.map(() => [])
  const disputed: Dispute[] = []
  const lastOfWave: Position[] = []
  const canBeGivenUp = (position: Position) => (after[position] ?? []).length > 0
  const byWave = order.toSorted((a, b) => (waves[a] ?? 0) - (waves[b] ?? 0))
  for (const position of byWave) {
    const reasons = new Map<Position, Wait>()
    const add = (on: Position, wait: Omit<Wait, 'item'>) => {
      if (!reasons.has(on)) reasons.set(on, { item: nameOf(on), ...wait })
    }
    for (const on of after[position] ?? []) add(on, { reason: 'dependency' })
    const sibling = before.get(position)
    if (sibling !== undefined) add(sibling, { reason: 'order' })
    for (const [on, { witness, certainty }] of holders.take(position)) {
      add(on, { reason: 'file', witness, ...(certainty === 'case-fold' ? { certainty } : {}) })
      if (isDisputed(items[position], items[on])) disputed.push({ item: nameOf(position), other: nameOf(on), witness })
    }
    const stretch = stretchOf[position] ?? 0
    const isHeldWithin = [...reasons].some(
      ([on, wait]) => stretchOf[on] === stretch && (wait.reason === 'dependency' || !canBeGivenUp(on)),
    )
    const reason = placed.stretches[stretch]?.reason ?? 'order'
    if (!isHeldWithin) for (const on of behindBarrier(placed.stretches, stretch, canBeGivenUp)) add(on, { reason })
    const wave = waves[position] ?? 0
    const latest = [...reasons.keys()].reduce((most, on) => Math.max(most, waves[on] ?? 0), 0)
    const blocker = lastOfWave[wave - 1]
    if (latest < wave - 1 && blocker !== undefined) add(blocker, { reason: 'slots' })
    lastOfWave[wave] = position
    waits[position] = [...reasons.values()]
  }
  return { waits, disputed }
}

/**
 * Whom to wait for at a barrier: the stretch before it. An item that has a dependency may be given up before its turn, when
 * that fails, and then does not stand for what it waits for itself; so where all of a stretch have one, the stretch before
 * that is named too.
 */
function behindBarrier(
  stretches: readonly Stretch[],
  stretch: number,
  canBeGivenUp: (position: Position) => boolean,
): Position[] {
  const found: Position[] = []
  for (let at = stretch - 1; at >= 0 && found.length < maxBehind; at--) {
    const positions = stretches[at]?.positions ?? []
    found.push(...positions)
    if (!positions.every(canBeGivenUp)) break
  }
  return found
}

function isDisputed(a: Placeable | undefined, b: Placeable | undefined): boolean {
  return a?.marked === true && b?.marked === true && a.phase === b.phase
}

function stretchNumbers(stretches: readonly Stretch[]): number[] {
  const numbers: number[] = []
  for (const [at, { positions }] of stretches.entries()) for (const position of positions) numbers[position] = at
  return numbers
}

/** Who has touched what so far, claim by claim. */
interface Holders {
  /** The earlier items that touch files of this one, each with a witness; from now on this one is among them. */
  take(position: Position): Map<Position, Overlap>
}

function holdersOf({ claims, touching, ofOwner }: ClaimTable): Holders {
  /** For each claim, the earlier items with a claim that touches it, and which claim. */
  const holders: Map<Position, ClaimId>[] = claims.map(() => new Map())
  const overlapOf = (a: ClaimId, b: ClaimId): Overlap =>
    overlapClaims(claims[a] as Claim, claims[b] as Claim) ?? { witness: (claims[a] as Claim).glob, certainty: 'exact' }
  return {
    take(position) {
      const own = ofOwner[position] ?? []
      const found = new Map<Position, Overlap>()
      for (const id of own) {
        for (const [on, other] of holders[id] ?? []) {
          const known = found.get(on)
          if (known === undefined) found.set(on, overlapOf(id, other))
          else if (known.certainty === 'case-fold') {
            const more = overlapOf(id, other)
            if (more.certainty !== 'case-fold') found.set(on, more)
          }
        }
      }
      for (const id of own) {
        for (const touched of touching[id] ?? []) {
          const known = holders[touched] as Map<Position, ClaimId>
          if (known.size >= maxNamed) forgetCovered(known, found)
          known.set(position, id)
        }
      }
      return found
    },
  }
}

/** Drops from `known` whom the newcomer waits for itself, in as many steps as the smaller of the two has. */
function forgetCovered(known: Map<Position, ClaimId>, found: ReadonlyMap<Position, Overlap>): void {
  if (found.size < known.size) for (const on of found.keys()) known.delete(on)
  else for (const on of [...known.keys()]) if (found.has(on)) known.delete(on)
}
