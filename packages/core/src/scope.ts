import micromatch from 'micromatch'
import { parseGlob, patternText } from './glob.ts'

/** Says whether a changed file, by its path in the repository, lies within the globs. */
export type Scope = (path: string) => boolean

/** Names of files and folders may hold line ends; the flags are text, whatever the types of the package say. */
const flags = 's' as unknown as boolean
const options = { dot: true, nonegate: true, noextglob: true, nobrace: true, nobracket: true, flags } as const

/**
 * The scope of a list of globs: what any of them covers, less what any `!glob` covers. Dot files match like others,
 * brackets and parentheses are literal. No globs: nothing lies within.
 */
export function compileScope(globs: readonly string[]): Scope {
  const inside = matchAny(globs.filter((glob) => !glob.startsWith('!')))
  const outside = matchAny(globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1)))
  return (path) => {
    const name = path.normalize('NFC')
    return inside(name) && !outside(name)
  }
}

function matchAny(globs: readonly string[]): Scope {
  const patterns = globs.flatMap(parseGlob)
  const literals = new Set(patterns.flatMap(({ literal }) => (literal === null ? [] : [literal])))
  const matchers = patterns
    .filter(({ literal }) => literal === null)
    .map((pattern) => micromatch.matcher(patternText(pattern), options))
  return (path) => literals.has(path) || matchers.some((matches) => matches(path))
}
