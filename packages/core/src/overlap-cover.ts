import { anyChar, globstar, type Pattern, type Segment, star, type Token, toTokens } from './glob.ts'

/**
 * True when `wide` surely matches every path that `narrow` matches: its stars can take up whatever stands in `narrow`. Never
 * true in error; a few patterns that cover each other in more roundabout ways are not seen.
 */
export function covers(wide: Pattern, narrow: Pattern): boolean {
  return takesUp(wide.segments, narrow.segments, {
    isMany: (segment) => segment === globstar,
    takes: (mine, theirs) => theirs !== globstar && coversName(mine, theirs),
  })
}

function coversName(wide: Segment, narrow: Segment): boolean {
  if (typeof wide === 'string') return wide === narrow
  return takesUp(wide, typeof narrow === 'string' ? toTokens(narrow) : narrow, {
    isMany: (token) => token === star,
    takes: (mine, theirs) => theirs !== star && (mine === anyChar || mine === theirs),
  })
}

interface Rules<T extends Segment | Token> {
  isMany(part: T): boolean
  takes(mine: T, theirs: T): boolean
}

/** Matches `wide` against the parts of `narrow` as if they were text; a part that means many is only taken by one such. */
function takesUp<T extends Segment | Token>(wide: readonly T[], narrow: readonly T[], rules: Rules<T>): boolean {
  let reached = new Set([0])
  for (const part of wide) {
    const next = new Set<number>()
    for (const from of reached) {
      if (rules.isMany(part)) for (let to = from; to <= narrow.length; to++) next.add(to)
      else if (from < narrow.length && rules.takes(part, narrow[from] as T)) next.add(from + 1)
    }
    reached = next
  }
  return reached.has(narrow.length)
}
