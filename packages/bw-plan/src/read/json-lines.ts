/** The line of each `{` of a JSON text, in order: the n-th object that a walk in the order of the text meets begins there. */
export function objectLines(text: string): number[] {
  const lines: number[] = []
  let line = 1
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\n') line++
    else if (char === '{') lines.push(line)
    else if (char === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++
    }
  }
  return lines
}

/** Finds the line of every object below a parsed value, in the order of the text. */
export function linesOfObjects(value: unknown, text: string): Map<object, number> {
  const starts = objectLines(text)
  const found = new Map<object, number>()
  let next = 0
  const open: unknown[] = [value]
  for (let at = open.pop(); open.length > 0 || at !== undefined; at = open.pop()) {
    if (typeof at !== 'object' || at === null) continue
    if (!Array.isArray(at)) found.set(at, starts[next++] ?? 1)
    open.push(...Object.values(at).reverse())
  }
  return found
}
