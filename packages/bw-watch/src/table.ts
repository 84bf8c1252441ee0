/** The live table as text. Pure: rows and a width in, lines out. */

export interface Row {
  item: string
  state: string
  attempt: number
  turns: number
  tokens: number
  costUsd: number | null
  seconds: number | null
  lastTool: string
  /** True for what a person should look at; such rows come first. */
  needsPerson: boolean
}

const columns = [
  { title: 'item', of: (row: Row) => row.item, right: false },
  { title: 'state', of: (row: Row) => row.state, right: false },
  { title: 'try', of: (row: Row) => (row.attempt === 0 ? '' : String(row.attempt)), right: true },
  { title: 'turns', of: (row: Row) => (row.attempt === 0 ? '' : String(row.turns)), right: true },
  { title: 'tokens', of: (row: Row) => (row.tokens === 0 ? '' : shortCount(row.tokens)), right: true },
  { title: 'cost', of: (row: Row) => (row.costUsd === null ? '' : `$${row.costUsd.toFixed(2)}`), right: true },
  { title: 'time', of: (row: Row) => (row.seconds === null ? '' : clock(row.seconds)), right: true },
  { title: 'last tool', of: (row: Row) => row.lastTool, right: false },
] as const

/** Header, one line a row (those that need a person first), totals. No line is wider than `width` characters. */
export function renderTable(rows: readonly Row[], width: number): string[] {
  const sorted = [...rows].sort((a, b) => Number(b.needsPerson) - Number(a.needsPerson))
  const widths = columns.map(({ title, of }) => Math.max(title.length, ...sorted.map((row) => widthOf(of(row)))))
  const itemRoom = Math.max(8, Math.floor(width / 3))
  widths[0] = Math.min(widths[0] ?? 0, itemRoom)
  const line = (cells: readonly string[]) =>
    fit(
      cells
        .map((cell, i) => pad(cell, widths[i] ?? 0, columns[i]?.right === true))
        .join('  ')
        .trimEnd(),
      width,
    )
  return [
    line(columns.map(({ title }) => title)),
    ...sorted.map((row) => line(columns.map(({ of }) => of(row)))),
    fit(totals(rows), width),
  ]
}

/** `2 running, 1 built, 1 merged · 5.1k tokens · $0.12` */
export function totals(rows: readonly Row[]): string {
  const byState = new Map<string, number>()
  for (const { state } of rows) byState.set(state, (byState.get(state) ?? 0) + 1)
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0)
  const costs = rows.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]))
  return [
    [...byState].map(([state, count]) => `${count} ${state}`).join(', '),
    ...(tokens > 0 ? [`${shortCount(tokens)} tokens`] : []),
    ...(costs.length > 0 ? [`$${costs.reduce((a, b) => a + b, 0).toFixed(2)}`] : []),
  ].join(' · ')
}

/** `1:05`, `2:00:09`. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const two = (n: number) => String(n).padStart(2, '0')
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor((whole % 3600) / 60)
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}

function shortCount(count: number): string {
  if (count < 1000) return String(count)
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

function pad(text: string, width: number, right: boolean): string {
  const cut = fit(text, width)
  const space = ' '.repeat(Math.max(0, width - widthOf(cut)))
  return right ? space + cut : cut + space
}

/** Cut to `width` columns, with an ellipsis. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let out = ''
  let used = 0
  for (const char of text) {
    const wide = charWidth(char)
    if (used + wide > width - 1) break
    out += char
    used += wide
  }
  return width > 0 ? `${out}…` : ''
}

function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** Columns of one character: East Asian wide forms and emoji take two, combining marks none. */
function charWidth(char: string): number {
  if (/\p{Mark}/u.test(char)) return 0
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    char,
  )
    ? 2
    : 1
}
