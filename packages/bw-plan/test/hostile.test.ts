import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planItems } from '../src/plan.ts'
import { readNodes, readPieces } from '../src/read/markdown-nodes.ts'
import { readPlan } from '../src/read/read-plan.ts'

function errorsOf(text: string, name = 'PLAN.md'): string[] {
  const reading = readPlan({ name, bytes: Buffer.from(text) })
  const { diagnostics } = planItems(reading, { maxParallel: 3 })
  return diagnostics.flatMap(({ level, kind }) => (level === 'error' ? [kind] : []))
}

const large = (text: string) => text.repeat(Math.ceil(2_000_000 / text.length))

describe('hostile text', () => {
  it.each([
    ['one line', `- [ ] 1. ${large('word `a/b.ts` ')}`, 'line-too-long'],
    ['100,000 boxes', large('- [ ] do it now \n'), 'too-many-items'],
    [
      'deep nesting',
      Array.from({ length: 1000 }, (_, at) => `${'  '.repeat(at)}- [ ] x`).join('\n'),
      'nested-too-deeply',
    ],
    ['bullets in bullets', large('- - - - - - - - - x\n'), 'nested-too-deeply'],
    ['quotes in quotes', large(`${'> '.repeat(20)}x\n`), 'nested-too-deeply'],
    ['more than a plan can be', 'x\n'.repeat(2_000_000), 'plan-too-large'],
    ['headings without end', large('# x\n'), 'plan-too-large'],
    ['a table of many rows', large('| a | b |\n| - | - |\n'), 'plan-too-large'],
    ['a table of many columns', `| a ${'| b '.repeat(2000)}|\n`.repeat(20), 'plan-too-large'],
    ['one endless block', large('words without end and more of them to fill the line\n'), 'block-too-large'],
    ['front matter without end', `---\ntodos:\n${large('  - id: x\n').slice(0, 900_000)}---\n`, 'bad-front-matter'],
    ['no brace closed', `- [ ] 1. Files:\n  - Files: \`src/${'{a,'.repeat(300)}.ts\``, 'bad-claim'],
    [
      'more names than a glob may stand for',
      '### Task 1: A\n**Files:** `src/{1..99999999}.ts`\n### Task 2: B\n',
      'bad-claim',
    ],
    ['brackets', large(`- [ ] ${'['.repeat(5000)}\n`), null],
    [
      'backticks of every length',
      `- [ ] 1. ${Array.from({ length: 300 }, (_, at) => '`'.repeat(at + 1)).join(' ')}`,
      null,
    ],
    ['spaces', `- [ ] 1. a${' '.repeat(90_000)}b`, null],
  ])('%s has a clear answer', (_, text, kind) => {
    expect(errorsOf(text)).toEqual(kind === null ? [] : [kind])
  })

  it('in JSON has one too', () => {
    expect(errorsOf(`{"a":${'['.repeat(1_000_000)}`, 'tasks.json')).toEqual(['bad-json'])
  })
})

describe('text read in pieces', () => {
  // No indented code: right behind it the parser takes `3. x` for text, where the rule has a list.
  const line = fc.constantFrom(
    '- [ ] 1. a `x/y.ts`',
    '- [x] b',
    '- c',
    '* [ ] d',
    '2. [ ] e',
    '3. f',
    '  - [ ] nested',
    '  more',
    '',
    '',
    '# Heading',
    '## Phase 2',
    'words',
    '```',
    '```md',
    '````',
    '- ```',
    '<!--',
    '-->',
    '> quoted',
    '| a | b |',
    '|---|---|',
    '---',
    '===',
  )

  it('is what it is when read as a whole', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const whole = readPieces(lines, { from: 0, pieceLength: 1_000_000, hasShortcut: false })
        expect(readPieces(lines, { from: 0, pieceLength: 20, hasShortcut: true })).toEqual(whole)
      }),
      { seed: 5, numRuns: 3_000 },
    )
  })

  it('keeps the lines of what comes after many pieces', () => {
    const lines = [
      ...Array.from({ length: 3_000 }, (_, at) => `- [ ] ${at} words\n  - more of ${at}`)
        .join('\n')
        .split('\n'),
      '',
      '# End',
    ]
    expect(readNodes(lines)).toMatchObject([
      { type: 'list', line: 1 },
      { type: 'heading', line: 6_002 },
    ])
  })
})
