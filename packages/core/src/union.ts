import { diffArrays } from 'diff'

/**
 * The text with what each side added to `base`, ours first where both added at the same place; a block that both added is
 * there once. Null when a side took a line away or changed one. Lines are compared whole, line ends included, so bytes of any
 * encoding may come read as Latin-1.
 */
export function unionOfAdditions(base: string, ours: string, theirs: string): string | null {
  const lines = linesOf(base)
  const first = additions(lines, linesOf(ours))
  const second = additions(lines, linesOf(theirs))
  if (first === null || second === null) return null
  const merged = Array.from({ length: lines.length + 1 }, (_, place) => {
    const [mine = '', other = ''] = [first[place], second[place]]
    return [mine, mine === other ? '' : other, lines[place] ?? '']
  })
  return merged.flat().join('')
}

/** The text added before each line of `base`, and after the last; null when a line of it is gone. */
function additions(base: readonly string[], side: readonly string[]): string[] | null {
  const added: string[] = ['']
  for (const part of diffArrays([...base], [...side])) {
    if (part.removed) return null
    if (part.added) added[added.length - 1] += part.value.join('')
    else added.push(...part.value.map(() => ''))
  }
  return added
}

/** Lines with their ends; a last line without one gets the end that the text uses, so that another line can follow. */
function linesOf(text: string): string[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  return lines.map((line) => (line.endsWith('\n') ? line : `${line}${end}`))
}
