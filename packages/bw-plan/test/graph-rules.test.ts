import { describe, expect, it } from 'vitest'
import { planItems } from '../src/plan.ts'
import { readOrderLine } from '../src/read/order-lines.ts'
import { readPlan } from '../src/read/read-plan.ts'
import { maxEdges } from '../src/read/wave-graph.ts'

function read(text: string) {
  return readPlan({ name: 'PLAN.md', bytes: Buffer.from(text) })
}

function kinds(text: string): string[] {
  return read(text).diagnostics.map(({ level, kind, line }) => `${line} ${level} ${kind}`)
}

describe('ids that are used twice', () => {
  it.each([
    ['a child like its parent', '- [ ] 1. Parent\n  - [ ] 1. Child', 2],
    ['a grandchild like its grandparent', '- [ ] 1. A\n  - [ ] 2. B\n    - [ ] 1. C', 3],
  ])('are an error, and no group of itself: %s', (_, text, line) => {
    const reading = read(text)
    expect(reading.diagnostics).toMatchObject([{ level: 'error', kind: 'duplicate-id', line, id: '1' }])
    expect(reading.diagnostics[0]?.text).toMatch(/^id '1' is used twice/)
    expect(reading.groups.get('1') ?? []).not.toContain('1')
    expect(
      planItems(reading, { maxParallel: 3, chosen: [], corrections: { after: new Map([['1', []]]) } }).items,
    ).toEqual([])
  })

  it('in numbering against nesting give no group of itself', () => {
    const { groups } = read('- [ ] 2.1.1 A\n  - [ ] 2.1 B\n    - [ ] 3.1 C')
    expect([...groups]).toEqual([['2.1', ['2.1.1', '3.1']]])
  })

  it('but for letter case are a warning', () => {
    expect(kinds('- [ ] t1: A\n- [ ] T1: B')).toEqual(['2 warning ids-differ-in-case'])
  })
})

describe('a section on dependencies', () => {
  const numbered = '- [ ] 1. A\n- [ ] 2. B\n- [ ] 3. C\n- [ ] 4. D\n- [ ] 5. E\n'
  const lettered = numbered.replace(/(\d)\./g, 'T00$1')
  const edges = (text: string) =>
    read(text).items.flatMap(({ id, after }) => (after.length === 0 ? [] : [`${id}<${after.toSorted().join()}`]))

  it.each([
    ['Task 1 → Task 2', ['2<1']],
    ['1 → 2 -> 3', ['2<1', '3<2']],
    ['- **Task 1** (setup) → Task 2: the rest', ['2<1']],
    ['Task 3 depends on Task 2', ['3<2']],
    ['Tasks 3 and 4 depend on tasks 1, and 2.', ['3<1,2', '4<1,2']],
    ['- 3 depends on 2', ['3<2']],
    ['- 3 needs 2 retries', []],
    ['Phase 1 (5 tasks) → Phase 2 (3)', []],
    ['- Task 3 runs fast, and nobody depends on Task 2', []],
    ['- Run the tests after Task 2', []],
  ])('of numbers says %j', (line, expected) => {
    expect(edges(`${numbered}\n## Dependencies\n\n${line}\n`)).toEqual(expected)
  })

  it.each([
    ['T001, T002 → T003', ['T003<T001,T002']],
    ['T001 → T004, T005', ['T004<T001', 'T005<T001']],
    ['T003 depends on T001, T002', ['T003<T001,T002']],
    ['T001 & T002 -> T003 + T004 -> T005', ['T003<T001,T002', 'T004<T001,T002', 'T005<T003,T004']],
    ['First `T001` → `T002` (models) → T003 builds on it', ['T002<T001', 'T003<T002']],
    ['T001 Set up → T002 Go on', ['T002<T001']],
    ['Setup (T001, T002) → Models (T003) → Views (see T005)', ['T003<T001,T002']],
    ['T003 is blocked by T001 (the schema)', ['T003<T001']],
  ])('of letters says %j', (line, expected) => {
    expect(edges(`${lettered}\n## Dependencies\n\n${line}\n`)).toEqual(expected)
  })

  it.each([
    ['words', 'a.'.repeat(30_000)],
    ['marks', `T001 ${'*_`'.repeat(20_000)} -> T002`],
    ['parentheses', `T001 ${'('.repeat(60_000)} -> T002`],
    ['spaces', `T001${' '.repeat(60_000)}depends on T002`],
    ['arrows', '-> '.repeat(20_000)],
  ])('looks each word up a few times at most: %s', (_, text) => {
    let lookUps = 0
    readOrderLine(text, (name) => {
      lookUps++
      return name === 'T001' || name === 'T002' ? name : null
    })
    expect(lookUps).toBeLessThanOrEqual(4 * text.split(/\s+|->/).length)
  })
})

describe('the files of a group', () => {
  it('are claimed by each of its items', () => {
    const text =
      '- [ ] 1. Group\n  - Files: `src/all.ts`\n  - [ ] 1.1 In `src/a.ts`\n  - [ ] 1.2 B\n    - Files: `src/b.ts`\n  - [ ] 1.3 C\n- [ ] 2. In `src/d.ts`\n'
    expect(read(text).items.map(({ id, owns, ownsFrom }) => [id, owns, ownsFrom])).toEqual([
      ['1.1', ['src/a.ts', 'src/all.ts'], 'declared'],
      ['1.2', ['src/b.ts', 'src/all.ts'], 'declared'],
      ['1.3', ['src/all.ts'], 'declared'],
      ['2', ['src/d.ts'], 'mentioned'],
    ])
  })
})

describe('a priority', () => {
  it('counts at the end of a title too', () => {
    const { items } = read('- [ ] 1. Add a queue [P1]\n- [ ] 2. Add [P1] more\n')
    expect(items.map(({ title, priority }) => [title, priority])).toEqual([
      ['Add a queue', 1],
      ['Add [P1] more', null],
    ])
  })
})

describe('a plan with more dependencies than can be kept', () => {
  const each = (count: number, line: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => line(at + 1)).join('')
  const halves = (count: number, from: number) => Array.from({ length: count / 2 }, (_, at) => String(from + at + 1))
  const inputs: Record<string, (count: number) => string> = {
    'all previous': (count) => each(count, (at) => `- [ ] ${at}. In \`f${at}.ts\` (depends on all previous)\n`),
    ranges: (count) =>
      each(count, (at) => `- [ ] ${at}. In \`f${at}.ts\`${at < 3 ? '' : ` (depends on 1-${at - 1})`}\n`),
    'the waves of a graph': (count) => {
      const waves = [halves(count, 0), halves(count, count / 2)].map((tasks) => ({ tasks }))
      const items = each(count, (at) => `- [ ] ${at}. In \`f${at}.ts\`\n`)
      return `${items}\n## Task Dependency Graph\n\n\`\`\`json\n${JSON.stringify({ waves })}\n\`\`\`\n`
    },
    'a group': (count) =>
      `- [ ] 1. G\n${each(count / 2, (at) => `- [ ] 1.${at} In \`f${at}.ts\`\n`)}${each(count / 2, (at) => `- [ ] ${at + 1}. In \`g${at}.ts\` (depends on 1)\n`)}`,
    'a list of arrows': (count) =>
      `${each(count, (at) => `- [ ] ${at}. In \`f${at}.ts\`\n`)}\n## Dependencies\n\n${halves(count, 0).join(', ')} → ${halves(count, count / 2).join(', ')}\n`,
    braces: (count) =>
      each(count, (at) => `- [ ] ${at}. X\n  - Files: \`s${at}/${Array(8).fill('{a,b}').join('/')}.ts\`\n`),
  }

  it.each(Object.keys(inputs).filter((name) => name !== 'braces'))(
    'is refused by name, and small ones are not: %s',
    (name) => {
      const large = read(inputs[name]?.(1000) ?? '')
      expect(large.diagnostics.filter(({ level }) => level === 'error')).toMatchObject([
        { kind: 'too-many-dependencies' },
      ])
      const count = large.items.reduce((sum, { after }) => sum + after.length, 0)
      expect(count).toBeLessThanOrEqual(maxEdges)
      const small = read(inputs[name]?.(100) ?? '')
      expect(small.diagnostics.filter(({ level }) => level === 'error')).toEqual([])
      expect(small.items.reduce((sum, { after }) => sum + after.length, 0)).toBeGreaterThanOrEqual(2450)
    },
  )

  it.each(Object.keys(inputs))(
    'never has records that grow faster than it does: %s',
    (name) => {
      const bytesOf = (count: number) =>
        JSON.stringify(planItems(read(inputs[name]?.(count) ?? ''), { maxParallel: 3 }).items).length
      expect(bytesOf(2000)).toBeLessThanOrEqual(2 * 1.2 * bytesOf(1000))
    },
    30_000,
  )
})
