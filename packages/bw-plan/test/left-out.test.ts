import { describe, expect, it } from 'vitest'
import { readPlan } from '../src/read/read-plan.ts'

function read(text: string, name = 'PLAN.md') {
  return readPlan({ name, bytes: Buffer.from(text) })
}

function told(text: string, name?: string): string[] {
  return read(text, name).diagnostics.map(({ level, kind, line, about }) =>
    [line, level, kind, about].filter((part) => part !== undefined).join(' '),
  )
}

describe('marks in brackets', () => {
  it.each(['✗', 'v', '☑', '🚧', 'WIP', 'TODO', '..', '$'])('[%s] is a box that is open, and told', (mark) => {
    const text = `- [ ] a\n- [${mark}] b\n`
    expect(read(text).items.map(({ title, state }) => `${title} ${state}`)).toEqual(['a open', 'b open'])
    expect(told(text)).toEqual([`2 warning unknown-mark ${mark}`])
  })

  it('with spaces are what they are without', () => {
    const text = '- [  ] a\n- [x ] b\n- [ X ] c\n'
    expect(read(text).items.map(({ title, state }) => `${title} ${state}`)).toEqual(['a open', 'b done', 'c done'])
    expect(told(text)).toEqual([])
  })

  it.each([
    '[link](https://x.test)',
    '[v](x)',
    '[ab][1]',
    '[1] note',
    '[^1] note',
    '[P] x',
    '[bug] x',
    '[API] x',
    '[T1] x',
  ])('%s is no box', (text) => {
    expect(read(`- [ ] a\n- ${text}\n`).items).toHaveLength(1)
  })
})

describe('lines that look like boxes and are none', () => {
  it('are named', () => {
    const text = '- [ ] a\n\n-[ ] b\n\n[ ] c\n[x] d\n\n☐ e\n\n- ☐ f\n\n[x](https://x.test) g\n'
    expect(told(text)).toEqual([3, 5, 6, 8, 10].map((line) => `${line} warning not-a-box`))
    expect(told('-[ ] 1. A\n-[ ] 2. B\n')).toEqual(['1 error no-items', '1 warning not-a-box', '2 warning not-a-box'])
  })

  it('are found where they go on a bullet', () => {
    expect(told('- [ ] a\n-[ ] b\n')).toEqual(['2 warning not-a-box'])
  })

  it('are counted where there are many', () => {
    expect(told(`- [ ] a\n\n${'[ ] b\n'.repeat(100)}`).at(-1)).toBe('23 warning not-a-box 80')
  })
})

describe('a fence that never closes', () => {
  it('is an error where it hides headings of items', () => {
    expect(told('### Task 1: A\n\n```sh\nmake\n\n### Task 2: B\n\n### Task 3: C\n')).toEqual([
      '3 error unclosed-fence 2',
    ])
  })

  it('is none where it hides nothing', () => {
    expect(told('### Task 1: A\n\n### Task 2: B\n\n```sh\n# make it\nmake\n')).toEqual([])
  })
})

describe('front matter', () => {
  it.each(['---\n- [ ] 1. A\n- [ ] 2. B\n---\n', '---\nSome words.\n\n- [ ] 1. A\n- [ ] 2. B\n\n---\nmore\n'])(
    'is none where it is no mapping: %j',
    (text) => {
      expect(read(text).items.map(({ title }) => title)).toEqual(['A', 'B'])
    },
  )

  it('of fields holds no items', () => {
    expect(read('---\ntitle: x\nlist:\n  - a\n---\n- [ ] 1. A\n').items.map(({ line }) => line)).toEqual([6])
  })

  it('whose todos yield none leaves them to the next source', () => {
    expect(read('---\ntodos: []\n---\n- [ ] 1. A\n').items.map(({ title }) => title)).toEqual(['A'])
    const text = '---\ntodos:\n  - just text\n  - id: x\n---\n- [ ] 1. A\n'
    expect(read(text).items.map(({ title }) => title)).toEqual(['A'])
    expect(told(text)).toEqual(['3 warning members-ignored 2'])
  })
})

describe('what a better source hides', () => {
  it('is told of boxes: steps under the headings that are items, left out elsewhere', () => {
    const text = '- [ ] before\n\n### Task 1: A\n- [ ] s\n- [ ] t\n\n### Task 2: B\n- [ ] u\n\n# Notes\n- [ ] after\n'
    expect(told(text)).toEqual(['1 warning boxes-ignored 2', '4 info boxes-are-steps 3'])
  })

  it('is told of boxes under front matter with todos', () => {
    expect(told('---\ntodos:\n  - id: a\n    content: A\n---\n- [ ] b\n')).toEqual(['6 warning boxes-ignored 1'])
  })

  it('is told of tables, unless their rows are the items', () => {
    const table = (ids: string[]) => `| ID | Task |\n|--|--|\n${ids.map((id) => `| ${id} | t${id} |\n`).join('')}`
    expect(told(`- [ ] 1. A\n- [ ] 2. B\n\n${table(['3', '4'])}`)).toEqual(['6 warning rows-ignored 2'])
    expect(told(`- [ ] 1. A\n- [ ] 2. B\n\n${table(['1', '2'])}`)).toEqual([])
    expect(told(`### Task 1: A\n${table(['3'])}\n### Task 2: B\n`)).toEqual(['4 info rows-are-text 1'])
  })

  it('is told of members of JSON that are no objects', () => {
    const tasks = JSON.stringify({ tasks: ['a', { id: 1, title: 'A', subtasks: ['x', { id: 1, title: 'B' }] }, null] })
    expect(told(tasks, 'tasks.json')).toEqual(['1 warning members-ignored 2', '1 warning members-ignored 1'])
    const stories = JSON.stringify({ userStories: ['a', { id: 'US-1', title: 'A' }] })
    expect(told(stories, 'prd.json')).toEqual(['1 warning members-ignored 1'])
  })
})

describe('phases', () => {
  it('may be numbered in words', () => {
    const { items } = read('## Phase One: Base\n- [ ] 1. A\n## Phase Two: Top\n- [ ] 2. B\n')
    expect(items.map(({ phase }) => phase)).toEqual(['Phase One Base', 'Phase Two Top'])
  })

  it('that nest are told apart by those around them', () => {
    const { items } = read('# Phase 1\n## Wave A\n- [ ] 1. A\n# Phase 2\n## Wave A\n- [ ] 2. B\n')
    expect(items.map(({ phase }) => phase)).toEqual(['Phase 1 › Wave A', 'Phase 2 › Wave A'])
  })
})
