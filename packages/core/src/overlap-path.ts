import { anyChar, globstar, type Pattern, type Segment, star, type Token, toTokens } from './glob.ts'

/** What stands where both sides would take any character. */
const filler = 'x'

/** A path that both patterns match, null when there is none. Takes a step per pair of segments. */
export function commonPath(a: Pattern, b: Pattern): string | null {
  if (a.literal !== null && b.literal !== null) return a.literal === b.literal ? a.literal : null
  return meetSegments(a.segments, b.segments)
}

/**
 * The product of the two patterns, read from the end: `found[i][j]` is a common path of `a` from its segment i and `b` from
 * its segment j. `**` takes nothing, or one name of the other side and stays.
 */
function meetSegments(a: readonly Segment[], b: readonly Segment[]): string | null {
  if (isApartEarly(a, b)) return null
  const width = b.length + 1
  const found: (string | null)[] = new Array((a.length + 1) * width).fill(null)
  const at = (i: number, j: number) => found[i * width + j] ?? null
  found[a.length * width + b.length] = ''
  for (let i = a.length; i >= 0; i--) {
    for (let j = b.length; j >= 0; j--) {
      if (i === a.length && j === b.length) continue
      found[i * width + j] = meetAt(a[i], b[j], { next: at(i + 1, j + 1), skipA: at(i + 1, j), skipB: at(i, j + 1) })
    }
  }
  return at(0, 0)
}

interface Onward {
  next: string | null
  skipA: string | null
  skipB: string | null
}

function meetAt(p: Segment | undefined, q: Segment | undefined, { next, skipA, skipB }: Onward): string | null {
  if (p === globstar && q === globstar) return simplerPath(skipA, skipB)
  if (p === globstar)
    return q === undefined ? skipA : simplerPath(skipA, skipB === null ? null : joinName(sampleName(q), skipB))
  if (q === globstar)
    return p === undefined ? skipB : simplerPath(skipB, skipA === null ? null : joinName(sampleName(p), skipA))
  if (p === undefined || q === undefined) return null
  if (next === null) return null
  const name = commonName(p, q)
  return name === null ? null : joinName(name, next)
}

/** The path with fewer names, or the shorter, or the first: what a reader takes in at a glance. Null stands for none. */
export function simplerPath(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return (depthOf(a) - depthOf(b) || a.length - b.length || (a <= b ? -1 : 1)) <= 0 ? a : b
}

function depthOf(path: string): number {
  return path === '' ? 0 : path.split('/').length
}

function joinName(name: string, rest: string): string {
  return rest === '' ? name : `${name}/${rest}`
}

/** Most pairs of a plan differ in their first folder; they need no table. */
function isApartEarly(a: readonly Segment[], b: readonly Segment[]): boolean {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const p = a[i]
    const q = b[i]
    if (p === undefined || q === undefined || p === globstar || q === globstar) return false
    if (commonName(p, q) === null) return true
  }
  return false
}

/** True when what stands before the first star, or after the last, differs: most names of one folder do. */
function isApart(p: readonly Token[], q: readonly Token[]): boolean {
  const most = Math.min(p.length, q.length)
  for (let i = 0; i < most && p[i] !== star && q[i] !== star; i++) if (isOther(p[i], q[i])) return true
  for (let i = 1; i <= most; i++) {
    const [a, b] = [p[p.length - i], q[q.length - i]]
    if (a === star || b === star) return false
    if (isOther(a, b)) return true
  }
  return false
}

function isOther(a: Token | undefined, b: Token | undefined): boolean {
  return a !== anyChar && b !== anyChar && a !== b
}

/** A name that both match, null when there is none. A name is never empty, `.` or `..`. */
export function commonName(a: Segment, b: Segment): string | null {
  if (typeof a === 'string' && typeof b === 'string') return a === b ? a : null
  const p = typeof a === 'string' ? toTokens(a) : a
  const q = typeof b === 'string' ? toTokens(b) : b
  if (isApart(p, q)) return null
  const shortest = commonText(p, q)
  if (shortest === null || !isNoName(shortest)) return shortest
  return longerNames(p, q).find((name) => name !== null) ?? null
}

/** Common names of three characters and more, by making one star after the other take at least three. */
function longerNames(p: readonly Token[], q: readonly Token[]): (string | null)[] {
  const stretch = [anyChar, anyChar, anyChar, star]
  return p.flatMap((token, at) => (token === star ? [commonText(p.toSpliced(at, 1, ...stretch), q)] : []))
}

function isNoName(text: string): boolean {
  return text === '' || text === '.' || text === '..'
}

/** The product of two small automata, read from the end. */
function commonText(p: readonly Token[], q: readonly Token[]): string | null {
  const width = q.length + 1
  const found: (string | null)[] = new Array((p.length + 1) * width).fill(null)
  found[p.length * width + q.length] = ''
  for (let i = p.length; i >= 0; i--) {
    for (let j = q.length; j >= 0; j--) {
      if (i === p.length && j === q.length) continue
      const ways = {
        next: found[(i + 1) * width + j + 1] ?? null,
        skipA: i < p.length ? (found[(i + 1) * width + j] ?? null) : null,
        skipB: j < q.length ? (found[i * width + j + 1] ?? null) : null,
      }
      found[i * width + j] = meetTokens(p[i], q[j], ways)
    }
  }
  return found[0] ?? null
}

function meetTokens(a: Token | undefined, b: Token | undefined, { next, skipA, skipB }: Onward): string | null {
  if (a === star && skipA !== null) return skipA
  if (b === star && skipB !== null) return skipB
  if (a === undefined || b === undefined) return null
  if (a === star) return b === star || skipB === null ? null : charOf(b) + skipB
  if (b === star) return skipA === null ? null : charOf(a) + skipA
  if (next === null || (a !== b && a !== anyChar && b !== anyChar)) return null
  return charOf(a === anyChar ? b : a) + next
}

function sampleName(segment: Segment): string {
  return typeof segment === 'string' ? segment : (commonName(segment, [star]) ?? filler)
}

function charOf(token: Token): string {
  return token < 0 ? filler : String.fromCharCode(token)
}
