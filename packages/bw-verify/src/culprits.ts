/**
 * Which items of a stack are red together? The first red prefix names one item that belongs to the answer; then the same is
 * asked of that item with prefixes of what lies below it, until the found ones are red by themselves. Items that are red
 * alone, in a pair or in any larger set all come out of the same loop.
 *
 * Each round asks about up to `slots` sets at once and so cuts what is left into `slots` + 1 parts: one culprit among 32 with
 * three slots takes three rounds to find and one to show that it is red alone.
 */
export interface CulpritQuestion {
  /** How many items the stack has; they are numbered from the bottom. */
  items: number
  /** Sets asked about at once. */
  slots: number
  /** True when these items (in order, without others) are red. */
  areRed: (items: readonly number[]) => Promise<boolean>
}

/** The smallest set found, in stack order. The whole stack is known to be red, and the base not to be. */
export async function findCulprits({ items, slots, areRed }: CulpritQuestion): Promise<number[]> {
  const found: number[] = []
  let top = items
  while (true) {
    const prefix = (length: number) => [...Array(length).keys(), ...found]
    const green = found.length === 0 ? 0 : -1
    const length = await firstRed({ green, red: top, slots }, (tried) => areRed(prefix(tried)))
    if (length === 0) return found
    found.unshift(length - 1)
    top = length - 1
  }
}

/**
 * The smallest number above `green` for which `isRed` holds, given that it holds for `red` and for all above the smallest.
 * 0 is among the first that are asked about: it is the answer whenever one item is to blame.
 */
async function firstRed(
  { slots, ...known }: { green: number; red: number; slots: number },
  isRed: (tried: number) => Promise<boolean>,
): Promise<number> {
  let { green, red } = known
  while (red - green > 1) {
    const asked = probes(green, red, slots)
    const answers = await Promise.all(asked.map(isRed))
    const first = answers.indexOf(true)
    if (first !== -1) red = asked[first] ?? red
    const below = first === -1 ? asked.at(-1) : asked[first - 1]
    green = below ?? green
  }
  return red
}

/** Up to `slots` different numbers strictly between the two, evenly spread, the lowest first when nothing is known yet. */
function probes(green: number, red: number, slots: number): number[] {
  const lowest = green === -1 ? [0] : []
  const rest = slots - lowest.length
  const from = green + lowest.length
  const spread = Array.from({ length: rest }, (_, n) => from + Math.round(((red - from) * (n + 1)) / (rest + 1)))
  const inside = spread.filter((tried) => tried > from && tried < red)
  return [...new Set([...lowest, ...inside])].sort((a, b) => a - b)
}
