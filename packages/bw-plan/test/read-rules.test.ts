import { indexTree } from '@buildwave/core'
import { describe, expect, it } from 'vitest'
import { planItems } from '../src/plan.ts'
import { readPlan } from '../src/read/read-plan.ts'

const tree = indexTree(['package.json', 'src/app.ts', 'src/util/say.ts', 'Makefile', 'docs/a.md'])

function read(text: string, name = 'PLAN.md') {
  return readPlan({ name, bytes: Buffer.from(text) }, { tree })
}

/** The claims of a single item with this text. */
function claims(text: string): string[] {
  return read(`- [ ] 1. ${text}`).items[0]?.owns ?? []
}

/** What the third of three items waits for. */
function waits(text: string): string[] {
  return read(`- [ ] 1. One\n- [ ] 2. Two\n- [ ] 3. ${text}`).items[2]?.after ?? []
}

function kinds(text: string): string[] {
  return read(text).diagnostics.map(({ level, kind, line }) => `${line} ${level} ${kind}`)
}

describe('paths', () => {
  it.each([
    [
      'Edit `app/(shop)/[id]/page.tsx` and `app/[...slug]/page.tsx`',
      ['app/(shop)/[id]/page.tsx', 'app/[...slug]/page.tsx'],
    ],
    ['Do not touch `src/app.ts`; edit `src/b.ts`', ['src/b.ts']],
    ['Use @scope/name and Node.js in 1/2 of cases, https://x.test/z.html, feat/foo, `application/json`', []],
    ['say.ts in src/util/ says more', ['src/util/say.ts']],
    ['Move say.ts to src/other/', ['say.ts', 'src/other/']],
    ['Update `Makefile`, `.eslintrc.json`, not `.test.ts`', ['Makefile', '.eslintrc.json']],
    ['src/**/*.ts and lib/**/*.ts get types', ['src/**/*.ts', 'lib/**/*.ts']],
    ['**Update** **src/app.ts**, _src/b.ts_.', ['src/app.ts', 'src/b.ts']],
    ['Edit `src/a.ts:10-20`, `src/b.ts#L3` and `tests/c.py::test_x`', ['src/a.ts', 'src/b.ts', 'tests/c.py']],
    ['Open [src/a.ts](https://x.test/src/a.ts) [Source: docs/b.md#c]', ['src/a.ts']],
    ['Serve `/api/users` and `GET /health` from `src/app.ts`', ['src/app.ts']],
    ['Run `npx vitest run tests/a.test.ts`', []],
    ['Write `src/{a,b}.ts`, `src/c.ts`', ['src/{a,b}.ts', 'src/c.ts']],
    ['Look into `src/util` and `other/util`', ['src/util']],
  ])('of %j', (text, expected) => {
    expect(claims(text)).toEqual(expected)
  })

  it('that are declared leave those that are mentioned aside', () => {
    const text =
      '### Task 1: A\n**Files:**\n- Create: `x/y.ts` (new)\n- Modify: `src/app.ts:10`\n\nLike `src/other.ts`.\n\nRun: `cat src/z.ts`\n### Task 2: B\n'
    expect(read(text).items[0]).toMatchObject({ owns: ['x/y.ts', 'src/app.ts'], ownsFrom: 'declared' })
  })

  it('with spaces can be claimed', () => {
    const { items, diagnostics } = planItems(read('- [ ] 1. A\n  - Files: `docs/My Guide.md`'), { maxParallel: 3 })
    expect(diagnostics.filter(({ level }) => level === 'error')).toEqual([])
    expect(items[0]?.owns).toEqual(['docs/My Guide.md'])
  })

  it.each([
    ['bin/launch', ['bin/launch']],
    ['`bin/launch`, src/api and `launch`', ['bin/launch', 'src/api', 'launch']],
    ['conf/site.kdl, `x.zzz`, other.zzz', ['conf/site.kdl', 'x.zzz', 'other.zzz']],
    ['`docs/My Guide.md`', ['docs/My Guide.md']],
    ['`src/a.ts src/b.ts`', ['src/a.ts', 'src/b.ts']],
    ['`src/{a, b}.ts`, src/{c, d}.ts', ['src/{a,b}.ts', 'src/{c,d}.ts']],
    ['`src/a.ts`<br>`src/b.ts`<br/>src/c', ['src/a.ts', 'src/b.ts', 'src/c']],
    ['`src/a.ts` (adds `parse`), version 3.11', ['src/a.ts']],
  ])('in a place for files are all words that can be one: %j', (text, expected) => {
    const { items, diagnostics } = read(`- [ ] 1. A\n  - Files: ${text}`)
    expect(items[0]).toMatchObject({ owns: expected, ownsFrom: 'declared' })
    expect(diagnostics).toEqual([])
  })

  it.each([
    ['`npm test`', '`npm test`'],
    ['the parser', 'the parser'],
    ['`src/a.ts`, parser', 'parser'],
    ['`src/a.ts`, `node x.js --flag`', '`node x.js --flag`'],
  ])('in a place for files are told where they are none: %j', (text, about) => {
    expect(read(`- [ ] 1. A\n  - Files: ${text}`).diagnostics).toMatchObject([
      { level: 'warning', kind: 'unread-files', line: 2, about },
    ])
    expect(read(`| ID | Task | Files |\n|--|--|--|\n| 1 | A | ${text} |`).diagnostics).toMatchObject([
      { level: 'warning', kind: 'unread-files', line: 3, about },
    ])
  })

  it('in cells of a table stand apart by line breaks', () => {
    const { items } = read(
      '| ID | Task | Files | Depends on |\n|--|--|--|--|\n| 1 | A | src/a.ts<br>src/b.ts | - |\n| 2 | B | | |\n| 3 | C<br>d | | 1<br>2 |',
    )
    expect(items.map(({ title, owns, after }) => [title, owns, after])).toEqual([
      ['A', ['src/a.ts', 'src/b.ts'], []],
      ['B', [], []],
      ['C d', [], ['1', '2']],
    ])
  })

  it('out of the repository are told', () => {
    expect(kinds('- [ ] 1. Edit `../other/a.ts`')).toContain('1 warning path-outside-repo')
  })
})

describe('dependencies', () => {
  it.each([
    ['x (depends on 1 and 2)', ['1', '2']],
    ['x (depends on 1, 2) and more', ['1', '2']],
    ['x, depends on 1–2', ['1', '2']],
    ['x, after #2', ['2']],
    ['x after task 1', ['1']],
    ['x, blocked by task 1 (hard), task 2', ['1', '2']],
    ['x, depends on all previous tasks', ['1', '2']],
    ['x depends on 2 flags', []],
    ['x after 2 retries', []],
    ['x does not depend on 1', []],
    ['x, independent of task 1', []],
    ['x; needs Python 3.11, requires React 2', []],
    ['x\n  - Depends on: 1\n  - Files: `a.ts`', ['1']],
    ['x\n  **Depends on**: None', []],
    ['x\n  依赖：1、2', ['1', '2']],
    ['x\n  abhängig von: 2', ['2']],
    ['x\n  - Consumes: `parse()` from Task 1', ['1']],
    ['x\n  - Depends on: 1, and 2', ['1', '2']],
    ['x\n  - Depends on: 1 or 2', ['1', '2']],
    ['x\n  - Depends on: 1 plus 2', ['1', '2']],
    ['x\n  - Depends on: 1<br>2', ['1', '2']],
    ['x, depends on 1, and 2', ['1', '2']],
    ['x, depends on 1 or more flags', []],
    ['x\n  - Depends on: schema, 2', ['2']],
    ['x\n  - Depends on: completion of Task 1 and 2', ['1', '2']],
    ['x\n  - Depends on: 1 (hard, by design), 2. Then more', ['1', '2']],
    ['x (deps: 1)', ['1']],
    ['x (depends: 1)', ['1']],
    ['x (dependencies: 1, 2)', ['1', '2']],
    ['x — Depends: 1', ['1']],
    ['x | Dependencies: 1', ['1']],
    ['x _Depends on 1_', ['1']],
    ['x, blocked-by 2', ['2']],
    ['x\n  - blocked-by: 2', ['2']],
    ['x\n  - depends_on: 2', ['2']],
    ['x\n  - Predecessors: 1', ['1']],
    ['x\n  - **Depends on**\n    - Task 1\n    - Task 2', ['1', '2']],
    ['x\n\n  Dependencies\n  - 1', ['1']],
    ['Bump deps: 2 packages', []],
  ])('of %j', (text, expected) => {
    expect(waits(text)).toEqual(expected)
  })

  it('may be stated the other way round, or away from the items', () => {
    expect(read('- [ ] 1. A\n  - Blocks: 2\n- [ ] 2. B').items[1]?.after).toEqual(['1'])
    const gates = read('- [ ] 1. A\n  - Required by: 2, and 3\n- [ ] 2. B\n- [ ] 3. C').items
    expect(gates.map(({ after }) => after)).toEqual([[], ['1'], ['1']])
    expect(read('- [ ] 1. A\n- [ ] 2. B\n\n## Dependencies\n\n1 → 2').items[1]?.after).toEqual(['1'])
  })

  it.each([
    ['- [ ] 1. A\n  - Depends on: schema', ['2 error unknown-dependency']],
    ['- [ ] 1. A\n  - Dependencies:\n    - the schema', ['3 error unknown-dependency']],
    ['- [ ] 1. A\n- [ ] 2. B\n  - Depends on: schema, 1', ['3 warning unread-dependency']],
    ['- [ ] 1. A\n- [ ] 2. B\n  - Depends on: 1\n    - for the schema', ['4 warning unread-dependency']],
    ['- [ ] 1. A\n- [ ] 2. B\n  - Depends on: 1, schema', ['3 warning unread-dependency']],
    ['- [ ] 1. A\n  - Depends on: none of the others\n  - Blocked by: —\n  - Deps: []', []],
    ['- [ ] 1. A\n  - Depends on: Phase 1', ['2 warning unread-dependency']],
    ['| ID | Task | Depends on |\n|--|--|--|\n| 1 | A | schema |', ['3 error unknown-dependency']],
    ['| ID | Task | Depends on |\n|--|--|--|\n| 1 | A | - |\n| 2 | B | 1<br>schema |', ['4 warning unread-dependency']],
  ])('that name nothing known are told: %j', (text, expected) => {
    expect(kinds(text)).toEqual(expected)
  })

  it('are quoted where they cannot be read', () => {
    const { diagnostics } = read('- [ ] 1. A\n  - Depends on: **the schema**')
    expect(diagnostics[0]?.text).toBe("item '1' depends on 'the schema', which is not in this plan")
  })

  it('on ids that differ in padding are met, and told', () => {
    const { items, diagnostics } = read('- [ ] T001 A\n- [ ] T030 B, depends on T1 and US1')
    expect(items[1]?.after).toEqual(['T001'])
    expect(diagnostics).toMatchObject([{ level: 'warning', kind: 'loose-id-match' }])
  })

  it('on a group mean all that is in it', () => {
    const { items } = read('- [ ] 2. G\n- [ ] 2.1 A\n- [ ] 2.2 B\n- [ ] 3. C (depends on 2)')
    expect(items.map(({ id, after }) => [id, after])).toEqual([
      ['2.1', []],
      ['2.2', []],
      ['3', ['2.1', '2.2']],
    ])
  })

  it('on itself, on nothing known and in a broken graph are errors, all told at once', () => {
    const text =
      '- [ ] 1. A (depends on 1)\n- [ ] 2. B (depends on 9)\n\n## Dependency Graph\n\n```json\n{"waves":[{"tasks":["1","7"]}]}\n```\n'
    expect(kinds(text)).toEqual([
      '1 error self-dependency',
      '2 error unknown-dependency',
      '6 error unknown-id-in-graph',
    ])
    expect(kinds('- [ ] 1. A\n\n## Task Dependency Graph\n\n```json\n{"waves": oops}\n```\n')).toEqual([
      '5 error bad-graph',
    ])
  })
})

describe('boxes', () => {
  it('have marks that say how an item stands', () => {
    const text = '- [ ] a\n- [x] b\n- [✓] c\n- [-] d\n- [~] e\n- [N/A] f\n- [ ] ~~g~~\n- [\u00a0] h\n- [ ]* i\n- [X]j\n'
    expect(read(text).items.map(({ title, state }) => `${title} ${state}`)).toEqual([
      'a open',
      'b done',
      'c done',
      'd in-progress',
      'e open',
      'f skipped',
      'g skipped',
      'h open',
      'i open',
      'j done',
    ])
    expect(kinds(text)).toContain('5 warning unknown-mark')
  })

  it('are found behind a byte order mark, tabs and CR line ends', () => {
    const { items } = read('\ufeff- [ ] 1. A in `src/a.ts`\r\n-\t[ ] 2. B\r\n')
    expect(items.map(({ id, title }) => `${id} ${title}`)).toEqual(['1 A in src/a.ts', '2 B'])
  })

  it('hidden by a fence that never closes are an error', () => {
    expect(kinds('- [ ] 1. A\n\n```sh\nmake\n\n- [ ] 2. B\n')).toContain('3 error unclosed-fence')
  })

  it('in code and comments are counted', () => {
    expect(kinds('- [ ] 1. A\n\n```\n- [ ] x\n```\n\n<!--\n- [ ] y\n-->\n')).toEqual([
      '3 info tasks-in-code-ignored',
      '7 info tasks-in-comment-ignored',
    ])
  })

  it.each(['Risk engine', 'Verification emails', 'Acceptance tests', 'Legendary items', 'Test planner'])(
    'under %j are items',
    (heading) => {
      expect(read(`## ${heading}\n- [ ] a\n- [ ] b\n`).items.map(({ title }) => title)).toEqual(['a', 'b'])
    },
  )

  it.each([
    'Acceptance Criteria',
    'Acceptance',
    'Risks',
    'Risks & mitigations',
    'Verification',
    'Test plan',
    'Acceptance criteria for US1',
    'Definition of Done (all)',
    '4. Success criteria:',
    '验收标准',
  ])('under %j are criteria, and counted', (heading) => {
    const { items, diagnostics } = read(`- [ ] a\n\n## ${heading}\n- [ ] b\n  - [ ] c\n- [ ] d\n`)
    expect(items.map(({ title }) => title)).toEqual(['a'])
    expect(diagnostics).toMatchObject([{ level: 'info', kind: 'criteria-ignored', line: 4, about: '2' }])
  })

  it('without text are told', () => {
    expect(kinds('- [ ]\n- [ ] a\n')).toContain('1 warning empty-item')
  })
})

describe('kinds and labels', () => {
  it.each([
    ['Fix x', 'bugfix'],
    ['fix(api): x', 'bugfix'],
    ['🐛 boom', 'bugfix'],
    ['[bug] crash', 'bugfix'],
    ['修复 x', 'bugfix'],
    ['Fixture for x', 'feature'],
    ['Prefix x', 'feature'],
    ['Bug report form', 'feature'],
  ])('%s is a %s', (title, type) => {
    expect(read(`- [ ] 1. ${title}`).items[0]?.type).toBe(type)
  })

  it('are taken off the title', () => {
    expect(read('- [ ] T001 [P] [US1] Model in src/a.ts (P)').items[0]).toMatchObject({
      title: 'Model in src/a.ts',
      marked: true,
      labels: ['US1'],
    })
    expect(read('- [ ] 1. [P1] Urgent').items[0]).toMatchObject({ title: 'Urgent', priority: 1, marked: false })
  })
})

describe('other sources of items', () => {
  it('are headings with a box', () => {
    const { format, items } = read(
      '## [x] Task 1: A\n- **Files**: `a.ts`\n## [ ] Task 2: B\n- **Depends On**: Task 1\n',
    )
    expect(format).toBe('trae')
    expect(items.map(({ id, state, after }) => [id, state, after])).toEqual([
      ['1', 'done', []],
      ['2', 'open', ['1']],
    ])
  })

  it('are a work package with front matter', () => {
    const text = '---\nwork_package_id: WP07\ntitle: Gate\nowned_files:\n  - src/gate/**\n---\n# WP07\n- [ ] step\n'
    expect(read(text).items).toMatchObject([{ id: 'WP07', title: 'Gate', owns: ['src/gate/**'], ownsFrom: 'declared' }])
  })

  it('are, for want of better, lists under a heading that says plan; told as a guess', () => {
    expect(read('# Plan\n\n## Steps\n1. Do `a.ts`\n2. Do `b.ts`\n')).toMatchObject({
      format: 'numbered-list',
      sequential: true,
    })
    expect(kinds('## Files to change\n- `src/a.ts`: x\n- `src/b.ts`: y\n')).toEqual(['2 warning items-from-bullets'])
  })

  it('have dependencies that are written as one number or text', () => {
    const json = (dependencies: unknown) =>
      read(
        JSON.stringify({
          tasks: [
            { id: 1, title: 'A' },
            { id: 2, title: 'B' },
            { id: 3, title: 'C', dependencies },
          ],
        }),
      )
    expect(json(1).items[2]?.after).toEqual(['1'])
    expect(json('1,2').items[2]?.after).toEqual(['1', '2'])
    expect(json([{ id: 2 }]).items[2]?.after).toEqual(['2'])
    expect(json('none').diagnostics).toEqual([])
    const todos =
      '---\ntodos:\n  - id: setup\n    content: A\n  - id: use\n    content: B\n    dependencies: setup\n---\n'
    expect(read(todos).items[1]?.after).toEqual(['setup'])
  })

  it('are not what the front matter, JSON or bytes make unreadable', () => {
    expect(kinds('---\ntodos: [\n---\n')).toEqual(['2 error bad-front-matter'])
    expect(kinds('{"tasks": [')).toEqual(['1 error bad-json'])
    expect(readPlan({ name: 'x', bytes: Buffer.from([0xff, 0xfe, 0x41]) }).diagnostics).toMatchObject([
      { kind: 'not-text' },
    ])
  })
})
