/** Where something stands in the order of the plan. */
export type Position = number

/** The dependencies of each item, by position; every position named must be in the list. */
export type Edges = readonly (readonly Position[])[]

/**
 * The positions so that each comes after what it depends on, else as early as the plan has it. What is on a cycle, or
 * depends on one, is left out.
 */
export function orderByDependency(after: Edges): Position[] {
  const left = after.map((edges) => new Set(edges).size)
  const gates = gatedBy(after)
  const order: Position[] = []
  // Kept from last to first: the next is taken off the end.
  const ready = left.flatMap((count, at) => (count === 0 ? [at] : [])).reverse()
  for (let at = ready.pop(); at !== undefined; at = ready.pop()) {
    order.push(at)
    for (const gated of gates[at] ?? []) {
      const open = (left[gated] ?? 0) - 1
      left[gated] = open
      if (open === 0) ready.splice(placeInDescending(ready, gated), 0, gated)
    }
  }
  return order
}

/** For each position, those that depend on it. */
export function gatedBy(after: Edges): Position[][] {
  const gates: Position[][] = after.map(() => [])
  for (const [at, edges] of after.entries()) for (const edge of new Set(edges)) gates[edge]?.push(at)
  return gates
}

/** The cycles among the dependencies, each once, as a chain that begins at its first position in the plan. */
export function findCycles(after: Edges): Position[][] {
  const ordered = new Set(orderByDependency(after))
  const walkOf = new Map<Position, number>()
  const cycles: Position[][] = []
  for (const start of after.keys()) {
    if (ordered.has(start) || walkOf.has(start)) continue
    const walk: Position[] = []
    let at: Position | undefined = start
    while (at !== undefined && !walkOf.has(at)) {
      walkOf.set(at, start)
      walk.push(at)
      at = after[at]?.find((edge) => !ordered.has(edge))
    }
    if (at !== undefined && walkOf.get(at) === start) cycles.push(fromFirst(walk.slice(walk.indexOf(at))))
  }
  return cycles
}

function fromFirst(cycle: Position[]): Position[] {
  const first = cycle.indexOf(cycle.reduce((least, at) => Math.min(least, at)))
  return [...cycle.slice(first), ...cycle.slice(0, first)]
}

function placeInDescending(list: readonly Position[], value: Position): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] ?? 0) > value) low = middle + 1
    else high = middle
  }
  return low
}
