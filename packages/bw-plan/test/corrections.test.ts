import { describe, expect, it } from 'vitest'
import { maxPatterns } from '../src/pattern-count.ts'
import { type PlanOptions, planCorrected, planItems } from '../src/plan.ts'
import { readPlan } from '../src/read/read-plan.ts'

function plan(text: string, options: Partial<PlanOptions> = {}) {
  return planItems(readPlan({ name: 'PLAN.md', bytes: Buffer.from(text) }), { maxParallel: 9, ...options })
}

function wavesOf({ items }: ReturnType<typeof plan>) {
  return items.map(({ id, wave }) => `${id}@${wave}`)
}

function told({ diagnostics }: ReturnType<typeof plan>) {
  return diagnostics.map(({ line, level, kind }) => `${line} ${level} ${kind}`)
}

const siblings = '- [ ] 2.1 In `a.ts`\n- [ ] 2.2 In `b.ts`\n- [ ] 2.3 In `c.ts`\n'

describe('--after', () => {
  it('takes an item out of the order of its siblings, while the next one still waits for it', () => {
    expect(wavesOf(plan(siblings))).toEqual(['2.1@1', '2.2@2', '2.3@3'])
    const after = new Map([['2.2', []]])
    const planned = plan(siblings, { corrections: { after } })
    expect(wavesOf(planned)).toEqual(['2.1@1', '2.2@1', '2.3@2'])
    expect(planned.items[2]?.waitsFor.map(({ item }) => item).toSorted()).toEqual(['2.1', '2.2'])
  })

  it('replaces a dependency of the text on what is not there, and nothing else that is wrong', () => {
    const text = '- [ ] 1. In `a.ts` (depends on 9)\n- [ ] 2. In `b.ts`\n  - Depends on: 8\n  - Blocks: 7\n'
    expect(told(plan(text))).toEqual([
      '1 error unknown-dependency',
      '3 error unknown-dependency',
      '4 error unknown-gated-item',
    ])
    const first = plan(text, { corrections: { after: new Map([['1', ['2']]]) } })
    expect(told(first)).toEqual(['3 error unknown-dependency', '4 error unknown-gated-item'])
    const both = plan(text.replace('  - Blocks: 7\n', ''), {
      corrections: {
        after: new Map([
          ['1', ['2']],
          ['2', []],
        ]),
      },
    })
    expect(told(both)).toEqual([])
    expect(wavesOf(both)).toEqual(['2@1', '1@2'])
  })

  it('of a large group on another is refused by name', () => {
    const members = (group: number) =>
      Array.from({ length: 500 }, (_, at) => `  - [ ] ${group}.${at + 1} In \`g${group}/${at}.ts\`\n`).join('')
    const text = `- [ ] 1. G\n${members(1)}- [ ] 2. H\n${members(2)}`
    expect(() => plan(text, { corrections: { after: new Map([['2', ['1']]]) } })).toThrow(/'--after 2=' is more than/)
  })

  it('replaces what a group waits for', () => {
    const text = '- [ ] 2. G (depends on 9)\n  - [ ] 2.1 In `a.ts`\n  - [ ] 2.2 In `b.ts`\n'
    expect(told(plan(text))).toEqual(['1 error unknown-dependency'])
    expect(told(plan(text, { corrections: { after: new Map([['2', []]]) } }))).toEqual([])
    expect(told(plan(text, { corrections: { after: new Map([['2.1', []]]) } }))).toContain('1 error unknown-dependency')
  })
})

describe('--owns', () => {
  it('replaces claims of the text that cannot be compared', () => {
    const text = '### Task 1: A\n**Files:** `src/{1..99999999}.ts`\n### Task 2: B\n**Files:** `b.ts`\n'
    expect(told(plan(text))).toEqual(['1 error bad-claim'])
    expect(told(plan(text, { corrections: { owns: new Map([['1', ['a.ts']]]) } }))).toEqual([])
  })

  it('with exclusions alone leaves the files unknown', () => {
    const text = '- [ ] 1. In `a.ts`\n- [ ] 2. In `b.ts`\n- [ ] 3. In `c.ts`\n'
    const planned = plan(text, { corrections: { owns: new Map([['2', ['!docs/']]]) } })
    expect(wavesOf(planned)).toEqual(['1@1', '2@2', '3@3'])
    expect(planned.items[1]).toMatchObject({ owns: [], ownsFrom: 'unknown' })
    expect(told(planned)).toEqual(['2 warning only-exclusions', '2 warning unknown-ownership'])
  })
})

describe('placing records anew', () => {
  const again = (items: ReturnType<typeof plan>['items'], options: Partial<PlanOptions> = {}) =>
    planCorrected(
      items.toSorted((a, b) => a.position - b.position),
      {
        groups: new Map(),
        sequential: false,
        diagnostics: [],
        options: { maxParallel: 9, ...options },
      },
    )

  it('forgets an urgency that came from an item which no longer waits', () => {
    const text = '- [ ] 1. In `a.ts`\n- [ ] 2. In `b.ts`\n- [ ] 3. [P1] In `c.ts` (depends on 2)\n'
    const first = plan(text)
    expect(wavesOf(first)).toEqual(['2@1', '1@1', '3@2'])
    expect(wavesOf(again(first.items))).toEqual(wavesOf(first))
    const freed = again(first.items, { corrections: { after: new Map([['3', []]]) } })
    expect(wavesOf(freed)).toEqual(['3@1', '1@1', '2@1'])
  })

  it('refuses a dependency on what is not among them, unless it is replaced', () => {
    const first = plan('- [ ] 1. In `a.ts`\n- [ ] 2. In `b.ts` (depends on 1)\n- [ ] 3. In `c.ts`\n')
    const kept = first.items.filter(({ id }) => id !== '1')
    const refused = again(kept)
    expect(refused.diagnostics).toMatchObject([
      { level: 'error', kind: 'unknown-dependency', line: 2, id: '2', about: '1' },
    ])
    expect(refused.diagnostics[0]?.text).toMatch(/^item '2' depends on '1', which is not among these records/)
    expect(told(again(kept, { corrections: { after: new Map([['2', []]]) } }))).toEqual([])
  })
})

describe('files that differ in letter case', () => {
  it('are told once', () => {
    const names = ['a/Say.ts', 'a/say.ts', 'b/Say.ts', 'b/say.ts']
    const planned = plan(names.map((name, at) => `- [ ] ${at + 1}. In \`${name}\`\n`).join(''))
    expect(told(planned).filter((one) => one.includes('case-fold'))).toEqual(['2 warning case-fold-overlap'])
    expect(planned.items.find(({ id }) => id === '2')?.waitsFor).toMatchObject([{ item: '1', certainty: 'case-fold' }])
  })
})

describe('the patterns of a plan', () => {
  const braces = Array.from({ length: 8 }, () => '{a,b}').join('/')
  const item = (at: number) => `- [ ] ${at}. X\n  - Files: \`src${at}/${braces}.ts\`\n`
  const items = (count: number) => Array.from({ length: count }, (_, at) => item(at + 1)).join('')
  const most = Math.floor(maxPatterns / 256)

  it('have a bound, and the item that passes it is named', () => {
    const { diagnostics } = plan(items(most + 2))
    expect(diagnostics).toMatchObject([{ level: 'error', kind: 'too-many-patterns', id: String(most + 1) }])
  })

  it('include the exclusions of each claim', () => {
    const owns = Array.from({ length: 400 }, (_, at) => [`f${at}.ts`, `!g${at}.ts`]).flat()
    const { diagnostics } = plan('- [ ] 1. A\n', { corrections: { owns: new Map([['1', owns]]) } })
    expect(diagnostics).toMatchObject([{ level: 'error', kind: 'too-many-patterns', id: '1' }])
  })
})
