// Do two claims touch a common file? Decided on the two patterns alone, with a path that both match as the witness, since
// plans are mostly about files that do not exist yet: `**/index.ts` and `pkg/a/**` meet as soon as somebody creates
// `pkg/a/index.ts`.

import { hasExtension, normalizeGlob, type Pattern, parseGlob, type Segment, toTokens } from './glob.ts'
import { emptyTree, isLooseName, resolveClaim, type Tree } from './glob-tree.ts'
import { covers } from './overlap-cover.ts'
import { commonPath, simplerPath } from './overlap-path.ts'

/** How sure an overlap is: `case-fold` where letter case is ignored, `name` where a name may mean any folder. */
export type Certainty = 'exact' | 'case-fold' | 'name'

export interface Overlap {
  /** A path that both claims match. */
  witness: string
  certainty: Certainty
}

/** One claim, read once: a glob, and the `!globs` of the same item that take paths out of it. */
export interface Claim {
  glob: string
  patterns: readonly Pattern[]
  folded: readonly Pattern[]
  excluded: readonly Pattern[]
  /** The last name of a literal claim, else null. */
  name: string | null
  isLoose: boolean
}

export interface ClaimContext {
  exclusions?: readonly string[]
  tree?: Tree
}

/** Reads a claim for comparing. Never throws: a glob that cannot be read stands for all it could mean. */
export function readClaim(glob: string, { exclusions = [], tree = emptyTree }: ClaimContext = {}): Claim {
  const patterns = resolveClaim(glob, tree).flatMap(parseGlob)
  const path = normalizeGlob(glob)
  const isLiteral = patterns.some(({ literal }) => literal !== null)
  return {
    glob: path,
    patterns,
    folded: patterns.map(foldPattern),
    excluded: exclusions.flatMap(parseGlob),
    name: isLiteral && hasExtension(path) ? path.slice(path.lastIndexOf('/') + 1) : null,
    isLoose: isLooseName(glob, tree),
  }
}

/** The overlap of two globs, null when no file can match both. */
export function overlapGlobs(a: string, b: string, context: ClaimContext = {}): Overlap | null {
  return overlapClaims(readClaim(a, context), readClaim(b, context))
}

/**
 * The overlap of two claims, null when they are apart. An exclusion of one side takes the overlap away only when it covers
 * the other side's whole pattern: a partly excluded one may still meet.
 */
export function overlapClaims(a: Claim, b: Claim): Overlap | null {
  const exact = simplestCommon(a, b, (claim) => claim.patterns)
  if (exact !== null) return { witness: exact, certainty: 'exact' }
  const folded = simplestCommon(a, b, (claim) => claim.folded)
  if (folded !== null) return { witness: folded, certainty: 'case-fold' }
  if (a.name === null || a.name !== b.name || !(a.isLoose || b.isLoose)) return null
  return { witness: a.isLoose ? b.glob : a.glob, certainty: 'name' }
}

function simplestCommon(a: Claim, b: Claim, patternsOf: (claim: Claim) => readonly Pattern[]): string | null {
  const left = patternsOf(a)
  const right = patternsOf(b)
  let best: string | null = null
  for (const [i, p] of left.entries()) {
    if (isExcluded(a.patterns[i], b.excluded)) continue
    for (const [j, q] of right.entries()) {
      if (isExcluded(b.patterns[j], a.excluded)) continue
      best = simplerPath(best, commonPath(p, q))
    }
  }
  return best
}

function isExcluded(pattern: Pattern | undefined, excluded: readonly Pattern[]): boolean {
  return pattern !== undefined && excluded.some((exclusion) => covers(exclusion, pattern))
}

function foldPattern(pattern: Pattern): Pattern {
  const literal = pattern.literal === null ? null : foldText(pattern.literal)
  return { segments: pattern.segments.map(foldSegment), literal }
}

function foldSegment(segment: Segment): Segment {
  if (typeof segment === 'string') return foldText(segment)
  return segment.flatMap((token) => (token < 0 ? [token] : toTokens(foldText(String.fromCharCode(token)))))
}

// By single characters, so that a name and a pattern fold alike: as a word, a final sigma would become another letter.
function foldText(text: string): string {
  return text.replace(/[^a-z]/g, (char) => char.toLowerCase())
}
