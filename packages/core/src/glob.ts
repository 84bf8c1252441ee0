/**
 * Ownership globs, read the way plans write them. `*` and `?` stay within a segment and match a leading dot, a whole
 * segment `**` matches any number of segments, braces are alternatives, and brackets and parentheses are literal: in real
 * plans they are route parameters and route groups, never character classes.
 */
import { expand } from 'brace-expansion'

/** A token of a name: a UTF-16 code unit, or one of the two wildcards. Code units, since micromatch counts `?` so. */
export type Token = number
export const star: Token = -1
export const anyChar: Token = -2

/** `**` matches zero or more segments, any other text is a name, a list of tokens matches one non-empty name. */
export type Segment = string | readonly Token[]
export const globstar = '**'

/** One alternative of a glob. It never ends in `**`: `dir/**` is held as `dir/**` and one more name. */
export interface Pattern {
  segments: readonly Segment[]
  /** The path itself when no wildcard is left, else null. */
  literal: string | null
}

/** How many alternatives the braces of one glob may stand for. */
export const maxAlternatives = 256
/** Longest glob that is read, in UTF-16 code units; also the longest path of Linux. */
export const maxGlobLength = 4096
const maxBraces = 32

/** Why a glob cannot be compared, as the end of a sentence, or null when it can. */
export function globProblem(glob: string): string | null {
  if (glob.length > maxGlobLength) return `is longer than ${maxGlobLength} characters`
  if (glob.split('{').length - 1 > maxBraces) return `has more than ${maxBraces} braces`
  const path = normalizeGlob(glob)
  if (path === '') return 'is empty'
  if (path.startsWith('/') || path.split('/').includes('..')) return 'lies outside the repository'
  return alternatives(path).length > maxAlternatives ? `stands for more than ${maxAlternatives} names` : null
}

/**
 * NFC, `/` as separator, no `./`, no doubled or trailing-dot segments, and without what points into a file: `:10-20`,
 * `:94,100`, `#L10`, `#anchor` after an extension, `::test`. A trailing slash stays, it says "directory".
 */
export function normalizeGlob(glob: string): string {
  const path = glob.trim().normalize('NFC').replaceAll('\\', '/')
  const bare = path
    .replace(/::[^/]*$/, '')
    .replace(/:\d+(?:[-,:]\d+)*$/, '')
    .replace(/(\.\w+)#[^/]*$/, '$1')
    .replace(/#L\d+(?:-L?\d+)?$/, '')
  return bare
    .replace(/\/{2,}/g, '/')
    .replace(/(^|\/)(?:\.\/)+/g, '$1')
    .replace(/\/\.$/, '/')
}

/**
 * The alternatives of a glob. `dir/` and a bare name without extension also cover what is below; a wildcard name without a
 * slash matches at any depth. A glob with a problem (see `globProblem`) gives what surely covers it: everything below its
 * literal beginning.
 */
export function parseGlob(glob: string): Pattern[] {
  const path = normalizeGlob(glob)
  if (path.length > maxGlobLength || path.split('{').length - 1 > maxBraces) return [coveringPattern(path)]
  const names = alternatives(path)
  if (names.length > maxAlternatives) return [coveringPattern(path)]
  return names.flatMap(parseAlternative)
}

/** True when the glob has neither wildcards nor alternatives. */
export function isLiteralGlob(glob: string): boolean {
  return !/[*?]/.test(glob) && alternatives(normalizeGlob(glob)).length === 1
}

/** True when the last name of the path ends in what looks like a file's extension; `.github` and `v1.2` do not. */
export function hasExtension(path: string): boolean {
  return /[^/.][^/]*\.[A-Za-z]\w*$/.test(path)
}

/** The text of a pattern with every literal character that means something to micromatch escaped. */
export function patternText(pattern: Pattern): string {
  return pattern.segments.map((segment) => (segment === globstar ? segment : segmentText(segment))).join('/')
}

function segmentText(segment: Segment): string {
  const tokens = typeof segment === 'string' ? toTokens(segment) : segment
  const special = /[\\^$.|?*+()[\]{}!@,"'<>]/
  return tokens
    .map((token) => {
      if (token === star) return '*'
      if (token === anyChar) return '?'
      const char = String.fromCharCode(token)
      return special.test(char) ? `\\${char}` : char
    })
    .join('')
}

function alternatives(path: string): string[] {
  return path.includes('{') ? expand(path, { max: maxAlternatives + 1, maxLength: maxGlobLength * 2 }) : [path]
}

function coveringPattern(path: string): Pattern {
  const literal = path.slice(0, Math.max(0, path.search(/[*?{]/)))
  return toPattern(`${literal.slice(0, literal.lastIndexOf('/') + 1).slice(0, maxGlobLength)}**`)
}

function parseAlternative(path: string): Pattern[] {
  const wild = /[*?]/.test(path)
  if (path.endsWith('/')) return [toPattern(`${path}**`)]
  if (wild) return [toPattern(path.includes('/') || path === globstar ? path : `**/${path}`)]
  return hasExtension(path) ? [toPattern(path)] : [toPattern(path), toPattern(`${path}/**`)]
}

function toPattern(path: string): Pattern {
  const segments: Segment[] = []
  for (const name of path.split('/').filter((part) => part !== '' && part !== '.')) {
    if (name !== globstar) segments.push(/[*?]/.test(name) ? toTokens(name) : name)
    else if (segments.at(-1) !== globstar) segments.push(globstar)
  }
  if (segments.at(-1) === globstar) segments.push([star])
  return { segments, literal: /[*?]/.test(path) ? null : path }
}

/** The tokens of a name; `*` and `?` in it are wildcards. */
export function toTokens(name: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < name.length; at++) {
    const char = name[at]
    if (char === '?') tokens.push(anyChar)
    else if (char !== '*') tokens.push(name.charCodeAt(at))
    else if (tokens.at(-1) !== star) tokens.push(star)
  }
  return tokens
}
