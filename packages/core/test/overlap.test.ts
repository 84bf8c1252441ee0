import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileScope, indexTree, overlapClaims, overlapGlobs, parseGlob, readClaim } from '../src/index.ts'

interface Row {
  id: string
  a: string
  b: string
  overlap: boolean
  witness: string | null
  certainty: string
  tree?: string[]
  why: string
}
const { rows } = JSON.parse(readFileSync(new URL('glob-overlap.json', import.meta.url), 'utf8')) as { rows: Row[] }

describe('overlap of two globs', () => {
  it.each(rows)('$id: $a and $b', ({ a, b, overlap, witness, certainty, tree }) => {
    const context = tree === undefined ? {} : { tree: indexTree(tree) }
    const expected = overlap ? { witness, certainty } : null
    expect(overlapGlobs(a, b, context)).toEqual(expected)
    expect(overlapGlobs(b, a, context)).toEqual(expected)
  })

  it('agrees with matching every short path, on 30,000 pairs', () => {
    const paths = shortPaths()
    const pool = fc.sample(anyGlob(), { seed: 20_240_607, numRuns: 700 }).map((glob) => {
      const within = compileScope([glob])
      return { glob, within, matched: Uint8Array.from(paths, (path) => (within(path) ? 1 : 0)) }
    })
    let overlapping = 0
    fc.assert(
      fc.property(fc.constantFrom(...pool), fc.constantFrom(...pool), (a, b) => {
        const found = overlapGlobs(a.glob, b.glob)
        const brute = a.matched.findIndex((isMatch, at) => isMatch === 1 && b.matched[at] === 1)
        overlapping += brute === -1 ? 0 : 1
        if (found?.certainty === 'exact') {
          if (!a.within(found.witness) || !b.within(found.witness)) throw new Error(`'${found.witness}' is no witness`)
        } else if (brute !== -1) throw new Error(`'${paths[brute]}' was not seen`)
      }),
      { seed: 20_240_607, numRuns: 30_000 },
    )
    expect(overlapping).toBeGreaterThan(3_000)
  })

  it('says for literal paths exactly what scope says', () => {
    const name = fc.stringMatching(/^[a-z[\](){}!+@^$.~-]{1,6}$/).filter((text) => !/^\.+$|^!/.test(text))
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `${names.join('/')}.ts`)
    fc.assert(
      fc.property(path, path, (a, b) => {
        fc.pre(parseGlob(a).length === 1)
        const within = compileScope([a])
        expect(within(a)).toBe(true)
        expect(within(b)).toBe(overlapGlobs(a, b)?.certainty === 'exact')
      }),
      { seed: 7, numRuns: 5_000 },
    )
  })

  it('lets an exclusion take away only what it covers wholly', () => {
    const narrow = readClaim('src/**', { exclusions: ['src/generated/**'] })
    expect(overlapClaims(narrow, readClaim('src/generated/api.ts'))).toBeNull()
    expect(overlapClaims(narrow, readClaim('src/generated/'))).toBeNull()
    expect(overlapClaims(narrow, readClaim('src/*/api.ts'))?.certainty).toBe('exact')
  })

  it('takes a name that is tracked nowhere for the same file as its namesake', () => {
    expect(overlapGlobs('say.ts', 'src/say.ts')).toEqual({ witness: 'src/say.ts', certainty: 'name' })
    expect(overlapGlobs('say.ts', 'src/**')).toBeNull()
    expect(overlapGlobs('say.ts', 'src/say.ts', { tree: indexTree(['say.ts']) })).toBeNull()
  })

  it('treats braces beyond the limit as everything below their folder', () => {
    const wild = `src/${'{a,b}'.repeat(20)}.ts`
    expect(overlapGlobs(wild, 'src/zz.ts')).not.toBeNull()
    expect(overlapGlobs(wild, 'lib/zz.ts')).toBeNull()
  })
})

function anyGlob(): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'ab', 'b.a', '.a', '[a]', '(a)') },
    { weight: 2, arbitrary: fc.constantFrom('*', '**', 'a*', '*b', '?', 'a?', '*a*', '*.a', '.*') },
    { weight: 1, arbitrary: fc.constantFrom('{a,b}', '{a,b*}', '[a]*', 'a{b,.a}') },
  )
  const glob = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
  return fc.tuple(glob, fc.boolean()).map(([text, isFolder]) => (isFolder ? `${text}/` : text))
}

/** Every path of up to three names over a small alphabet, and of five over a smaller one: `**` needs room on both sides. */
function shortPaths(): string[] {
  const names = [
    'a',
    'b',
    'ab',
    'ba',
    'b.a',
    '.a',
    '[a]',
    '(a)',
    'a.a',
    'x',
    'aab',
    'axb',
    '.b',
    '[a]b',
    'bb',
    'ax',
    '.x',
  ]
  const few = ['a', 'b', 'ab', '.a']
  const grow = (alphabet: string[], depth: number): string[] =>
    depth === 0 ? [''] : grow(alphabet, depth - 1).flatMap((head) => alphabet.map((name) => `${head}/${name}`))
  const wide = [1, 2, 3].flatMap((depth) => grow(names, depth))
  const deep = [4, 5].flatMap((depth) => grow(few, depth))
  return [...wide, ...deep].map((path) => path.slice(1))
}
