export interface Span {
  text: string
  isCode: boolean
}

/** A line in parts, code spans apart: a run of backticks opens one that the next run of the same length closes. */
export function splitCode(text: string): Span[] {
  if (!text.includes('`')) return [{ text, isCode: false }]
  const runs = [...text.matchAll(/`+/g)].map(({ 0: run, index }) => ({ length: run.length, at: index }))
  const closing = nextOfSameLength(runs.map(({ length }) => length))
  const spans: Span[] = []
  let from = 0
  for (let open = 0; open < runs.length; open++) {
    const [start, end] = [runs[open], runs[closing[open] ?? -1]]
    if (start === undefined || end === undefined) continue
    spans.push({ text: text.slice(from, start.at), isCode: false })
    spans.push({ text: text.slice(start.at + start.length, end.at), isCode: true })
    from = end.at + end.length
    open = closing[open] ?? open
  }
  spans.push({ text: text.slice(from), isCode: false })
  return spans
}

function nextOfSameLength(lengths: readonly number[]): number[] {
  const next: number[] = []
  const seen = new Map<number, number>()
  for (let at = lengths.length - 1; at >= 0; at--) {
    const length = lengths[at] ?? 0
    next[at] = seen.get(length) ?? -1
    seen.set(length, at)
  }
  return next
}
