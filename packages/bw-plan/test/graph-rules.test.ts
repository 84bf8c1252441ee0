import { describe, expect, it } from 'vitest'
import { planItems } from '../src/plan.ts'
import { readPlan } from '../src/read/read-plan.ts'

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
