import { describe, expect, test } from 'vitest'
import { clock, fit, type Row, renderTable, totals } from './table.ts'

function row(item: string, change: Partial<Row> = {}): Row {
  return {
    item,
    state: 'running',
    attempt: 1,
    turns: 3,
    tokens: 1500,
    costUsd: null,
    seconds: 65,
    lastTool: 'Bash',
    needsPerson: false,
    ...change,
  }
}

describe('the live table', () => {
  test('what needs a person comes first, totals last', () => {
    const lines = renderTable([row('a'), row('b', { state: 'failed', needsPerson: true })], 80)
    expect(lines).toEqual([
      'item  state    try  turns  tokens  cost  time  last tool',
      'b     failed     1      3    1.5k        1:05  Bash',
      'a     running    1      3    1.5k        1:05  Bash',
      '1 running, 1 failed · 3.0k tokens',
    ])
  })

  test.each([20, 40, 80, 200])('no line is wider than %i columns, whatever the names', (width) => {
    const rows = [row('日本語'.repeat(40)), row('x'.repeat(300), { lastTool: '🎉'.repeat(200) })]
    for (const line of renderTable(rows, width)) expect(columnsOf(line)).toBeLessThanOrEqual(width)
  })

  test('wide characters count twice and are never cut in half', () => {
    expect(fit('日本語', 4)).toBe('日…')
    expect(fit('日本語', 6)).toBe('日本語')
  })

  test('times and totals read well', () => {
    expect([clock(5), clock(65), clock(7209)]).toEqual(['0:05', '1:05', '2:00:09'])
    expect(totals([row('a', { costUsd: 0.1 }), row('b', { costUsd: 0.02, tokens: 1_000_000 })])).toBe(
      '2 running · 1.0M tokens · $0.12',
    )
  })
})

function columnsOf(line: string): number {
  return [...line].reduce((sum, char) => sum + (/[\u2e80-\uffe6]|\p{Emoji_Presentation}/u.test(char) ? 2 : 1), 0)
}
