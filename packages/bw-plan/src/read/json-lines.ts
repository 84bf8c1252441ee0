/**
 * The line of each object of a JSON text, in the order of their `{`: that of its first text value, which is what a reader
 * looks for (an id, a title), else that of the `{`.
 */
export function objectLines(text: string): number[] {
  const lines: number[] = []
  const open: { object: number | null; isTold: boolean }[] = []
  let line = 1
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\n') line++
    else if (char === '{') open.push({ object: lines.push(line) - 1, isTold: false })
    else if (char === '[') open.push({ object: null, isTold: true })
    else if (char === '}' || char === ']') open.pop()
    else if (char === '"') {
      at = stringEnd(text, at)
      const around = open.at(-1)
      if (around?.object == null || around.isTold || isName(text, at + 1)) continue
      lines[around.object] = line
      around.isTold = true
    }
  }
  return lines
}

function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function isName(text: string, from: number): boolean {
  let at = from
  while (/\s/.test(text[at] ?? '')) at++
  return text[at] === ':'
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
