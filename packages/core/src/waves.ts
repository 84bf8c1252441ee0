/**
 * Who may run beside whom. Items are placed in the order of the plan, each in the earliest wave that comes after all it
 * depends on, holds nobody who may touch its files, and has room; items that must keep their place cut the plan into
 * stretches that never mix.
 */
import { emptyTree, type Tree } from './glob-tree.ts'
import { type ClaimTable, tableClaims } from './waves-claims.ts'
import { gatedBy, orderByDependency, type Position } from './waves-order.ts'
import { explainWaits, type Wait } from './waves-reasons.ts'
import { cutStretches, type Stretch } from './waves-stretches.ts'
import { takenWaves } from './waves-taken.ts'

/** What placing needs to know of an item; `itemRecord` has all of it under the same names. */
export interface Placeable {
  item: string
  /** Globs, `!globs` among them; none when the item's files are unknown. */
  owns: readonly string[]
  after: readonly string[]
  /** The stage of the plan that the item stands in; a change of stage is a barrier. */
  phase: string | null
  /** The plan says that it may run beside others. */
  marked: boolean
  /** Items of the same group run one after the other. */
  group: string | null
  /** Smaller is more urgent. */
  priority: number | null
}

export interface WavePolicies {
  maxParallel: number
  /** What becomes of an item whose files are unknown: alone in its place, or beside anything. */
  unknown: 'alone' | 'parallel'
  phases: boolean
  /** A mark also stands for files that an item does not name. A shared file is never overruled. */
  trustMarkers: boolean
  /** Every item keeps its place. */
  sequential: boolean
  shared: readonly string[]
  tree?: Tree
}

export interface Placement {
  item: string
  wave: number
  /** Its own priority, or that of the most urgent item it gates. */
  priority: number | null
  waitsFor: Wait[]
}

export interface Schedule {
  /** In the order in which they start: by wave, within it by priority, then by the plan. */
  placements: Placement[]
  waves: number
  /** Items that run alone since their globs were too many to compare. */
  crowded: string[]
  /** Pairs that the plan marks as parallel, in one phase, though they may touch a common file. */
  disputed: { item: string; other: string; witness: string }[]
}

/**
 * Places the open items of a plan. Dependencies on items that are not in the list count as met; the list must have no
 * cycle (see `findCycles`).
 */
export function placeItems(items: readonly Placeable[], policies: WavePolicies): Schedule {
  const at = new Map(items.map(({ item }, position) => [item, position]))
  const after = items.map(({ after: names }) => names.flatMap((name) => at.get(name) ?? []))
  const table = tableClaims(
    items.map(({ owns }) => owns),
    { tree: policies.tree ?? emptyTree, shared: policies.shared },
  )
  const order = orderByDependency(after)
  if (order.length < items.length) throw new Error('the items to place have a cycle')
  const stretches = cutStretches({ items, order, table, policies })
  const { waves, before } = fillWaves({ items, after, stretches, table, maxParallel: policies.maxParallel })
  const priorities = inheritPriorities(items, after, order)
  const { waits, disputed } = explainWaits({ items, order, after, before, stretches, table, waves })
  const rank: number[] = []
  for (const [place, position] of order.entries()) rank[position] = place
  const placements = order
    .toSorted(
      (a, b) =>
        (waves[a] ?? 0) - (waves[b] ?? 0) ||
        (priorities[a] ?? Number.MAX_SAFE_INTEGER) - (priorities[b] ?? Number.MAX_SAFE_INTEGER) ||
        (rank[a] ?? 0) - (rank[b] ?? 0),
    )
    .map((position) => ({
      item: (items[position] as Placeable).item,
      wave: waves[position] ?? 0,
      priority: priorities[position] ?? null,
      waitsFor: waits[position] ?? [],
    }))
  return {
    placements,
    waves: waves.reduce((most, wave) => Math.max(most, wave), 0),
    crowded: items.flatMap(({ item }, position) => (table.isCrowded[position] ? [item] : [])),
    disputed,
  }
}

interface Filling {
  items: readonly Placeable[]
  after: readonly (readonly Position[])[]
  stretches: readonly Stretch[]
  table: ClaimTable
  maxParallel: number
}

function fillWaves({ items, after, stretches, table, maxParallel }: Filling) {
  const waves: number[] = new Array(items.length).fill(0)
  /** The item of the same group just before, by position. */
  const before = new Map<Position, Position>()
  const lastOfGroup = new Map<string, Position>()
  const taken = takenWaves(table, maxParallel)
  let last = 0
  for (const { positions } of stretches) {
    const floor = last + 1
    for (const position of positions) {
      const group = items[position]?.group ?? null
      const sibling = group === null ? undefined : lastOfGroup.get(group)
      if (sibling !== undefined) before.set(position, sibling)
      if (group !== null) lastOfGroup.set(group, position)
      const gates = [...(after[position] ?? []), ...(sibling === undefined ? [] : [sibling])]
      const earliest = gates.reduce((wave, gate) => Math.max(wave, (waves[gate] ?? 0) + 1), floor)
      const wave = taken.take(table.ofOwner[position] ?? [], earliest)
      waves[position] = wave
      last = Math.max(last, wave)
    }
  }
  return { waves, before }
}

function inheritPriorities(
  items: readonly Placeable[],
  after: readonly (readonly Position[])[],
  order: readonly Position[],
): (number | null)[] {
  const priorities = items.map(({ priority }) => priority)
  const gates = gatedBy(after)
  for (const position of order.toReversed()) {
    for (const gated of gates[position] ?? []) {
      const urgent = priorities[gated] ?? null
      const own = priorities[position] ?? null
      if (urgent !== null && (own === null || urgent < own)) priorities[position] = urgent
    }
  }
  return priorities
}
