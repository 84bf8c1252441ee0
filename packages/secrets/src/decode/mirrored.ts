/** Reversed text and rot13: looked for only where the beginning of a strong token stands in that form. */
import { type Automaton, buildAutomaton, findWords } from '../automaton.ts'
import { strongRules } from '../strong.ts'
import type { Pass, Sink, View } from '../view.ts'

const reach = 1200

/** Shorter words read backwards are ordinary syllables. */
const words = strongRules.automaton.words.filter((word) => word.length >= 4 && /[-_]/.test(word))

const reversedWords = buildAutomaton(words.map((word) => [...word].toReversed().join('')))

const rotatedWords = buildAutomaton(words.map(rotate))

export const reversed: Pass = {
  name: 'reversed',
  run: (view, sink) =>
    emitWindows(view, sink, {
      automaton: reversedWords,
      range: (end) => [end - reach, end + 64],
      turn: (part) => ({ text: [...part].toReversed().join(''), at: (offset) => part.length - 1 - offset }),
    }),
}

export const rot13: Pass = {
  name: 'rot13',
  run: (view, sink) =>
    emitWindows(view, sink, {
      automaton: rotatedWords,
      range: (end) => [end - 64, end + reach],
      turn: (part) => ({ text: rotate(part), at: (offset) => offset }),
    }),
}

interface Turning {
  readonly automaton: Automaton
  readonly range: (end: number) => [number, number]
  readonly turn: (part: string) => { text: string; at: (offset: number) => number }
}

function emitWindows({ bytes, text }: View, sink: Sink, { automaton, range, turn }: Turning): void {
  let done = -1
  for (const { end } of findWords(automaton, bytes)) {
    if (end <= done) continue
    const [from, to] = range(end)
    const start = Math.max(0, from)
    const turned = turn(text.slice(start, to))
    done = Math.min(to, text.length)
    sink.emit({
      bytes: Buffer.from(turned.text, 'latin1'),
      at: (offset) => start + turned.at(offset),
      guessed: false,
      rules: 'strong',
    })
  }
}

function rotate(text: string): string {
  return text.replace(/[a-zA-Z]/g, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
}
