/** How much there is to compare in a plan: patterns, once braces and names of folders are written out. */
import { parseGlob, resolveClaim, type Tree } from '@buildwave/core'
import type { PlannedItem } from './plan.ts'
import type { Diagnostic } from './read/plan-item.ts'

/** Patterns that all items of a plan may have together: 10,000 items with five files each have half of it. */
export const maxPatterns = 100_000

/** An error for the first item with which the plan has more patterns than are compared. */
export function patternErrors(items: readonly PlannedItem[], tree: Tree): Diagnostic[] {
  const sizes = new Map<string, number>()
  const sizeOf = (glob: string) => {
    const size = sizes.get(glob) ?? resolveClaim(glob, tree).flatMap(parseGlob).length
    sizes.set(glob, size)
    return size
  }
  let count = 0
  for (const { id, line, owns, done } of items) {
    if (!done) count += countPatterns(owns, sizeOf)
    if (count <= maxPatterns) continue
    const text = `with item '${id}' the plan claims more than ${maxPatterns} files and patterns; write wider globs, or split it`
    return [{ level: 'error', kind: 'too-many-patterns', line, text, id, about: String(maxPatterns) }]
  }
  return []
}

/** Each claim of an item carries all exclusions of the item. */
function countPatterns(owns: readonly string[], sizeOf: (glob: string) => number): number {
  let [claims, patterns, excluded] = [0, 0, 0]
  for (const glob of owns) {
    if (glob.startsWith('!')) excluded += sizeOf(glob.slice(1))
    else {
      claims++
      patterns += sizeOf(glob)
    }
  }
  return patterns + claims * excluded
}
