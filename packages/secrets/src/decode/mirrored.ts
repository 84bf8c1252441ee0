/** Reversed text and rot13: looked for only where the beginning of a strong token stands in that form. */
import { rotate, surveyOf } from '../survey.ts'
import type { Pass, Sink, View } from '../view.ts'

const reach = 1200

export const reversed: Pass = {
  name: 'reversed',
  run: (view, sink) =>
    emitWindows(view, sink, {
      ends: surveyOf(view).reversed,
      range: (end) => [end - reach, end + 64],
      turn: (part) => ({ text: [...part].toReversed().join(''), at: (offset) => part.length - 1 - offset }),
    }),
}

export const rot13: Pass = {
  name: 'rot13',
  run: (view, sink) =>
    emitWindows(view, sink, {
      ends: surveyOf(view).rotated,
      range: (end) => [end - 64, end + reach],
      turn: (part) => ({ text: rotate(part), at: (offset) => offset }),
    }),
}

interface Turning {
  readonly ends: readonly number[]
  readonly range: (end: number) => [number, number]
  readonly turn: (part: string) => { text: string; at: (offset: number) => number }
}

function emitWindows(view: View, sink: Sink, { ends, range, turn }: Turning): void {
  let done = -1
  for (const end of ends) {
    if (end <= done) continue
    const [from, to] = range(end)
    const start = Math.max(0, from)
    const turned = turn(view.text.slice(start, to))
    done = Math.min(to, view.text.length)
    sink.emit({
      bytes: Buffer.from(turned.text, 'latin1'),
      at: (offset) => start + turned.at(offset),
      guessed: false,
      rules: 'strong',
    })
  }
}
