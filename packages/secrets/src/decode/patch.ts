/** The text that a diff adds and removes, file by file and without its markers, so that what spans lines reads as it will. */
import { surveyOf } from '../survey.ts'
import type { Pass, Sink } from '../view.ts'

export const patchText: Pass = {
  name: 'patch',
  run: (view, sink) => {
    const { text } = view
    if (surveyOf(view).signs('@@ -').length === 0 || !/^@@ -\d/m.test(text)) return
    let file = '?'
    let sides = newSides()
    let left = { old: 0, new: 0 }
    let at = 0
    for (const line of text.split('\n')) {
      const header = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
      if (header !== null) {
        left = { old: Number(header[1] ?? 1), new: Number(header[2] ?? 1) }
      } else if (left.old > 0 || left.new > 0) {
        const marker = line[0]
        if (marker === '+' || marker === '-') sides[marker].push(line.slice(1), at + 1)
        if (marker !== '+' && marker !== '\\') left.old--
        if (marker !== '-' && marker !== '\\') left.new--
      } else if (line.startsWith('diff --git ') || line.startsWith('--- ')) {
        emitSides(sink, file, sides)
        sides = newSides()
      } else if (line.startsWith('+++ ')) {
        file = line.slice(4).replace(/^b\//, '').replace(/\r$/, '')
      }
      at += line.length + 1
    }
    emitSides(sink, file, sides)
  },
}

interface Side {
  readonly push: (line: string, origin: number) => void
  readonly lines: string[]
  readonly starts: number[]
  readonly origins: number[]
}

function newSides(): { readonly '+': Side; readonly '-': Side } {
  return { '+': newSide(), '-': newSide() }
}

function newSide(): Side {
  const lines: string[] = []
  const starts: number[] = []
  const origins: number[] = []
  let length = 0
  const push = (line: string, origin: number): void => {
    lines.push(line)
    starts.push(length)
    origins.push(origin)
    length += line.length + 1
  }
  return { push, lines, starts, origins }
}

function emitSides(sink: Sink, file: string, sides: { readonly '+': Side; readonly '-': Side }): void {
  for (const { lines, starts, origins } of [sides['+'], sides['-']]) {
    if (lines.length === 0) continue
    sink.emit({
      bytes: Buffer.from(lines.join('\n'), 'latin1'),
      at: (offset) => {
        const index = starts.findLastIndex((start) => start <= offset)
        return (origins[index] ?? 0) + offset - (starts[index] ?? 0)
      },
      entry: file,
      guessed: false,
    })
  }
}
