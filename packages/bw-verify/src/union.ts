/**
 * The text with what each side added, ours first where both added at the same place; null when a side took a line away. Text is
 * compared by whole lines, so the bytes may be of any encoding read as Latin-1.
 */
export function unionOfAdditions(base: string, ours: string, theirs: string): string | null {
  const lines = linesOf(base)
  const first = additions(lines, linesOf(ours))
  const second = additions(lines, linesOf(theirs))
  if (first === null || second === null) return null
  const merged = Array.from({ length: lines.length + 1 }, (_, place) => {
    const added = first[place] ?? []
    const known = new Set(added)
    return [...added, ...(second[place] ?? []).filter((line) => !known.has(line)), lines[place] ?? '']
  })
  return merged.flat().join('')
}

/** What `text` has before each line of `base` and after the last; null when `base` is not all in it, in order. */
function additions(base: readonly string[], text: readonly string[]): string[][] | null {
  const added: string[][] = [[]]
  for (const line of text) {
    if (line === base[added.length - 1]) added.push([])
    else added.at(-1)?.push(line)
  }
  return added.length === base.length + 1 ? added : null
}

/** Lines with their ends; a last line without one gets it, so that another can follow. */
function linesOf(text: string): string[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  return lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`))
}
