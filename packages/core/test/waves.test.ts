import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyTree, findCycles, overlapGlobs, type Placeable, placeItems, type WavePolicies } from '../src/index.ts'
import { tableClaims } from '../src/waves-claims.ts'

const policies: WavePolicies = {
  maxParallel: 3,
  unknown: 'alone',
  phases: true,
  trustMarkers: false,
  sequential: false,
  shared: [],
}

function unit(item: string, owns: string[], more: Partial<Placeable> = {}): Placeable {
  return { item, owns, after: [], phase: null, marked: false, group: null, priority: null, ...more }
}

function wavesOf(items: Placeable[], more: Partial<WavePolicies> = {}): string[] {
  const { placements, waves } = placeItems(items, { ...policies, ...more })
  return Array.from({ length: waves }, (_, at) =>
    placements.flatMap(({ item, wave }) => (wave === at + 1 ? [item] : [])).join(' '),
  )
}

function waitsOf(items: Placeable[], item: string, more: Partial<WavePolicies> = {}) {
  const { placements } = placeItems(items, { ...policies, ...more })
  return placements.find((placement) => placement.item === item)?.waitsFor
}

describe('waves', () => {
  it('fill in plan order up to the number of slots', () => {
    const items = ['a', 'b', 'c', 'd', 'e'].map((name) => unit(name, [`${name}.ts`]))
    expect(wavesOf(items)).toEqual(['a b c', 'd e'])
    expect(wavesOf(items, { maxParallel: 2 })).toEqual(['a b', 'c d', 'e'])
    expect(waitsOf(items, 'd')).toEqual([{ item: 'c', reason: 'slots' }])
  })

  it('keep apart who may touch a common file, with the file', () => {
    const items = [unit('a', ['src/**']), unit('b', ['lib/x.ts']), unit('c', ['**/index.ts'])]
    expect(wavesOf(items)).toEqual(['a b', 'c'])
    expect(waitsOf(items, 'c')).toEqual([{ item: 'a', reason: 'file', witness: 'src/index.ts' }])
  })

  it('let an item go ahead of an earlier one that has to wait', () => {
    const items = [unit('a', ['a.ts']), unit('b', ['b.ts'], { after: ['a'] }), unit('c', ['b.ts'])]
    expect(wavesOf(items)).toEqual(['a c', 'b'])
    expect(waitsOf(items, 'b')).toEqual([
      { item: 'a', reason: 'dependency' },
      { item: 'c', reason: 'file', witness: 'b.ts' },
    ])
  })

  it('follow a dependency that stands further down', () => {
    const items = [unit('a', ['a.ts'], { after: ['c'] }), unit('b', ['b.ts']), unit('c', ['c.ts'])]
    expect(wavesOf(items)).toEqual(['b c', 'a'])
  })

  it('count a dependency that is not in the list as met', () => {
    expect(wavesOf([unit('a', ['a.ts'], { after: ['done'] })])).toEqual(['a'])
  })

  it('give an item without files its own wave in its place', () => {
    const items = [unit('a', ['a.ts']), unit('b', []), unit('c', ['c.ts'])]
    expect(wavesOf(items)).toEqual(['a', 'b', 'c'])
    expect(wavesOf(items, { unknown: 'parallel' })).toEqual(['a b c'])
    expect(waitsOf(items, 'c')).toEqual([{ item: 'b', reason: 'unknown-files' }])
  })

  it('give an item that only says what it leaves alone its own wave too', () => {
    const items = [unit('a', ['a.ts']), unit('b', ['!docs/']), unit('c', ['c.ts'])]
    expect(wavesOf(items)).toEqual(['a', 'b', 'c'])
  })

  it('take phases for barriers', () => {
    const items = [
      unit('a', ['a.ts'], { phase: 'Phase 1' }),
      unit('b', ['b.ts'], { phase: 'Phase 1' }),
      unit('c', ['c.ts'], { phase: 'Phase 2' }),
    ]
    expect(wavesOf(items)).toEqual(['a b', 'c'])
    expect(waitsOf(items, 'c')).toEqual([
      { item: 'a', reason: 'phase' },
      { item: 'b', reason: 'phase' },
    ])
    expect(wavesOf(items, { phases: false })).toEqual(['a b c'])
  })

  it('name more than one phase where all of a phase may be given up before its turn', () => {
    const items = [
      unit('x', ['x.ts'], { phase: 'Phase 1' }),
      unit('a', ['a.ts'], { phase: 'Phase 1' }),
      unit('b', ['b.ts'], { phase: 'Phase 2', after: ['x'] }),
      unit('c', ['c.ts'], { phase: 'Phase 3' }),
    ]
    expect(waitsOf(items, 'c')?.map(({ item }) => item)).toEqual(['b', 'x', 'a'])
    const firm = items.map((item) => (item.item === 'b' ? { ...item, after: [] } : item))
    expect(waitsOf(firm, 'c')?.map(({ item }) => item)).toEqual(['b'])
  })

  it('never let a mark beat a common file', () => {
    const items = [unit('a', ['x.ts'], { marked: true }), unit('b', ['x.ts'], { marked: true })]
    for (const trustMarkers of [false, true]) expect(wavesOf(items, { trustMarkers })).toEqual(['a', 'b'])
    expect(placeItems(items, policies).disputed).toEqual([{ item: 'b', other: 'a', witness: 'x.ts' }])
  })

  it('leave an unmarked item alone where others are marked', () => {
    const items = [unit('a', ['a.ts'], { marked: true }), unit('b', ['b.ts']), unit('c', ['c.ts'], { marked: true })]
    expect(wavesOf(items)).toEqual(['a', 'b', 'c'])
  })

  it('trust a mark on an item without files only when told to', () => {
    const items = [unit('a', ['a.ts'], { marked: true }), unit('b', [], { marked: true })]
    expect(wavesOf(items)).toEqual(['a', 'b'])
    expect(wavesOf(items, { trustMarkers: true })).toEqual(['a b'])
  })

  it('run the members of a group in their order', () => {
    const items = [
      unit('2.1', ['a.ts'], { group: '2' }),
      unit('2.2', ['b.ts'], { group: '2' }),
      unit('3.1', ['c.ts'], { group: '3' }),
    ]
    expect(wavesOf(items)).toEqual(['2.1 3.1', '2.2'])
    expect(waitsOf(items, '2.2')).toEqual([{ item: '2.1', reason: 'order' }])
  })

  it('hold no item back for a shared file', () => {
    const items = [unit('a', ['pkg/__init__.py', 'pkg/a.py']), unit('b', ['pkg/__init__.py', 'pkg/b.py'])]
    expect(wavesOf(items)).toEqual(['a', 'b'])
    expect(wavesOf(items, { shared: ['pkg/__init__.py'] })).toEqual(['a b'])
  })

  it('hold an item back for files beside a shared one', () => {
    const items = [unit('a', ['pkg/*.py']), unit('b', ['pkg/**'])]
    expect(wavesOf(items, { shared: ['pkg/__init__.py'] })).toEqual(['a', 'b'])
  })

  it('start the urgent first, and who gates the urgent', () => {
    const items = [
      unit('a', ['a.ts']),
      unit('b', ['b.ts'], { priority: 2 }),
      unit('c', ['c.ts']),
      unit('d', ['d.ts'], { priority: 1, after: ['c'] }),
    ]
    expect(wavesOf(items)).toEqual(['c b a', 'd'])
  })

  it('are the same for the same items', () => {
    const items = ['a', 'b', 'c'].map((name) => unit(name, ['src/**']))
    expect(placeItems(items, policies)).toEqual(placeItems(items, policies))
  })
})

describe('claims', () => {
  it('that are over the bound of comparisons are all told, so that their owners run alone', () => {
    const owners = Array.from({ length: 40 }, (_, at) => [`**/*${at}*`])
    const { isCrowded, touching } = tableClaims(owners, { tree: emptyTree, shared: [], maxComparisons: 100 })
    const apart = touching.flatMap((others, at) => (others.length < 14 && !isCrowded[at] ? [at] : []))
    expect(apart).toEqual([])
    expect(isCrowded.filter((isAlone) => !isAlone).length).toBe(14)
  })
})

describe('claims of many items', () => {
  it('are compared with their neighbours alone: twice the items, twice the comparisons', () => {
    const compared = (items: number) => {
      const owners = Array.from({ length: items }, (_, at) => [
        `src/p${at}/a.ts`,
        `src/p${at}/lib/**`,
        `tests/p${Math.floor(at / 4)}/*.test.ts`,
      ])
      return tableClaims(owners, { tree: emptyTree, shared: [] }).comparisons
    }
    expect(compared(2000)).toBeLessThanOrEqual(2.5 * compared(1000))
    expect(compared(2000)).toBeLessThan(10_000)
  })

  it('that are loose names meet their namesakes in any folder', () => {
    expect(wavesOf([unit('a', ['say.ts']), unit('b', ['src/say.ts']), unit('c', ['src/other.ts'])])).toEqual([
      'a c',
      'b',
    ])
    expect(wavesOf([unit('b', ['src/say.ts']), unit('a', ['say.ts'])])).toEqual(['b', 'a'])
  })

  it('that differ in letter case alone are one file somewhere', () => {
    const items = [unit('a', ['docs/Readme.md']), unit('b', ['docs/README.md'])]
    expect(wavesOf(items)).toEqual(['a', 'b'])
    expect(waitsOf(items, 'b')).toEqual([
      { item: 'a', reason: 'file', witness: 'docs/readme.md', certainty: 'case-fold' },
    ])
    const alsoExact = [unit('a', ['docs/Readme.md', 'x.ts']), unit('b', ['docs/README.md', 'x.ts'])]
    expect(waitsOf(alsoExact, 'b')).toEqual([{ item: 'a', reason: 'file', witness: 'x.ts' }])
  })
})

describe('cycles', () => {
  it('are each found once, from their first item on', () => {
    expect(findCycles([[2], [0], [1], [], [5], [4], [4]])).toEqual([
      [0, 2, 1],
      [4, 5],
    ])
    expect(findCycles([[0]])).toEqual([[0]])
    expect(findCycles([[1], []])).toEqual([])
  })
})

describe('any plan', () => {
  const glob = fc.constantFrom(
    'a.ts',
    'src/**',
    'src/a.ts',
    'lib/',
    '**/index.ts',
    'lib/index.ts',
    'docs/*.md',
    'x/{a,b}.ts',
  )
  const item = fc.record({
    owns: fc.array(glob, { maxLength: 2 }),
    after: fc.array(fc.nat(11), { maxLength: 2 }),
    phase: fc.constantFrom(null, 'Phase 1', 'Phase 2'),
    group: fc.constantFrom(null, null, 'g'),
    marked: fc.boolean(),
  })
  const plan = fc
    .array(item, { minLength: 1, maxLength: 12 })
    .map((items) =>
      items.map(({ after, ...rest }, at) =>
        unit(String(at), rest.owns, { ...rest, after: after.filter((on) => on < at).map(String) }),
      ),
    )

  it('never has two in a wave that may touch a file, or depend on each other, or more than the slots', () => {
    fc.assert(
      fc.property(plan, fc.integer({ min: 1, max: 4 }), (items, maxParallel) => {
        const { placements } = placeItems(items, { ...policies, maxParallel })
        const waveOf = new Map(placements.map(({ item, wave }) => [item, wave]))
        expect(placements.length).toBe(items.length)
        for (const a of items) {
          for (const on of a.after) expect(waveOf.get(on)).toBeLessThan(waveOf.get(a.item) ?? 0)
          const beside = items.filter((b) => waveOf.get(b.item) === waveOf.get(a.item))
          expect(beside.length).toBeLessThanOrEqual(maxParallel)
          if (beside.length > 1) expect(a.owns).not.toEqual([])
          for (const b of beside) if (a !== b) expect(isTouching(a, b)).toBe(false)
        }
      }),
      { seed: 3, numRuns: 1_000 },
    )
  })

  it('has, for each pair that must not meet, a chain of waits between them', () => {
    fc.assert(
      fc.property(plan, (items) => {
        const { placements } = placeItems(items, policies)
        const reached = new Map<string, Set<string>>()
        for (const { item, waitsFor } of placements) {
          const real = waitsFor.filter(({ reason }) => reason !== 'slots')
          reached.set(item, new Set(real.flatMap(({ item: on }) => [on, ...(reached.get(on) ?? [])])))
        }
        const isHeld = (a: Placeable, b: Placeable) =>
          reached.get(a.item)?.has(b.item) || reached.get(b.item)?.has(a.item)
        for (const a of items) {
          for (const b of items) {
            if (a === b) continue
            const mayMeet = !isTouching(a, b) && a.phase === b.phase && a.owns.length > 0 && b.owns.length > 0
            if (!mayMeet) expect(isHeld(a, b)).toBe(true)
          }
        }
      }),
      { seed: 4, numRuns: 1_000 },
    )
  })
})

function isTouching(a: Placeable, b: Placeable): boolean {
  return a.owns.some((mine) => b.owns.some((theirs) => overlapGlobs(mine, theirs) !== null))
}
