import type { Placeable, WavePolicies } from './waves.ts'
import type { ClaimTable } from './waves-claims.ts'
import type { Position } from './waves-order.ts'

export type BarrierReason = 'unknown-files' | 'phase' | 'order' | 'marker'

/** Items between two barriers: all of them come after the stretch before. `reason` says what the barrier is. */
export interface Stretch {
  positions: Position[]
  reason: BarrierReason
}

/** Pairs of items over one barrier above which the first item behind it goes alone, so that the others wait for one. */
const maxPairs = 4096

interface Cut {
  items: readonly Placeable[]
  order: readonly Position[]
  table: ClaimTable
  policies: WavePolicies
}

/** Cuts the order at every phase and around every item that must keep its place. */
export function cutStretches({ items, order, table, policies }: Cut): Stretch[] {
  const hasMarks = items.some(({ marked }) => marked)
  const stretches: Stretch[] = []
  let phase: string | null | undefined
  let closing: BarrierReason | null = null
  for (const position of order) {
    const unit = items[position] as Placeable
    const alone = aloneReason(unit, { hasMarks, isCrowded: table.isCrowded[position] === true, policies })
    const isNewPhase: boolean = policies.phases && phase !== undefined && phase !== unit.phase
    const reason: BarrierReason | null = isNewPhase ? 'phase' : (alone ?? closing)
    if (stretches.length === 0 || reason !== null) stretches.push({ positions: [], reason: reason ?? 'order' })
    stretches.at(-1)?.positions.push(position)
    phase = unit.phase
    closing = alone
  }
  return stretches.flatMap((stretch, at) => splitLarge(stretch, stretches[at - 1]))
}

function aloneReason(
  unit: Placeable,
  { hasMarks, isCrowded, policies }: { hasMarks: boolean; isCrowded: boolean; policies: WavePolicies },
): BarrierReason | null {
  if (policies.sequential) return 'order'
  const isNameless = unit.owns.every((glob) => glob.startsWith('!'))
  const isUnknown = isCrowded || (isNameless && policies.unknown === 'alone')
  if (isUnknown && !(policies.trustMarkers && unit.marked && !isCrowded)) return 'unknown-files'
  return hasMarks && !unit.marked ? 'marker' : null
}

function splitLarge(stretch: Stretch, before: Stretch | undefined): Stretch[] {
  const [first, ...rest] = stretch.positions
  if (before === undefined || first === undefined || rest.length === 0) return [stretch]
  if (before.positions.length * stretch.positions.length <= maxPairs) return [stretch]
  return [
    { ...stretch, positions: [first] },
    { ...stretch, positions: rest },
  ]
}
