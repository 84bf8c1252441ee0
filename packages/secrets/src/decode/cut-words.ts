/**
 * Where the beginning of a strong token may stand in pieces. Only three places can cut a word: a line break, two quotes with
 * what joins strings between them, and letters set apart. At each the two letters that would become neighbours are looked up
 * first; few pairs occur inside of a beginning, and only those places are searched with the separators left out.
 */
import { findWordsThrough } from '../automaton.ts'
import { once } from '../once.ts'
import { strongRules } from '../strong.ts'
import { separators, surveyOf } from '../survey.ts'
import type { View } from '../view.ts'

const between: ReadonlySet<number> = new Set(Buffer.from(separators))

const isBetween = new Uint8Array(256)
for (const byte of between) isBetween[byte] = 1

const folded = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte))

/** Longest thing between two pieces. */
const gap = 160

/** Room on both sides of a cut for a word that is cut several times. */
const room = 120

/** Pairs, and threes, of letters that are neighbours in some beginning; the threes that begin one. */
const neighbours = once(() => {
  const pairs = new Uint8Array(65_536)
  const threes = new Set<number>()
  const firstThrees = new Set<number>()
  for (const word of strongRules().automaton.words) {
    const letters = [...Buffer.from(word)]
    for (const [index, letter] of letters.entries()) {
      const [before = 0, twoBefore = 0] = [letters[index - 1], letters[index - 2]]
      if (index >= 1) pairs[(before << 8) | letter] = 1
      if (index >= 2) threes.add((twoBefore << 16) | (before << 8) | letter)
      if (index === 2) firstThrees.add((twoBefore << 16) | (before << 8) | letter)
    }
  }
  return { pairs, threes, firstThrees }
})

/** Offsets after a beginning that was found across a cut; in text only, told as git does by a zero in the first 8,000 bytes. */
export function findCutWords(view: View): number[] {
  const { bytes } = view
  const ends: number[] = []
  if (bytes.subarray(0, 8000).includes(0)) return ends
  let done = 0
  const consider = (left: number, right: number): void => {
    if (right < done || !isInside(bytes, left, right)) return
    const from = Math.max(0, left - room)
    const to = Math.min(bytes.length, right + room)
    for (const end of findWordsThrough(strongRules().automaton, bytes.subarray(from, to), between).hits.ends) {
      ends.push(from + end)
      done = from + end
    }
  }
  considerLineBreaks(bytes, consider)
  done = 0
  considerQuotes(bytes, surveyOf(view).quotes, consider)
  done = 0
  considerSpacedLetters(bytes, consider)
  return ends
}

type Consider = (left: number, right: number) => void

/** Whether the bytes on both sides could be neighbours in a beginning, together with one more on either side. */
function isInside(bytes: Uint8Array, left: number, right: number): boolean {
  const a = folded[bytes[left] as number] as number
  const b = folded[bytes[right] as number] as number
  const { pairs, threes, firstThrees } = neighbours()
  if (pairs[(a << 8) | b] === 0) return false
  const before = folded[nextLetter(bytes, left - 1, -1)] as number
  const after = folded[nextLetter(bytes, right + 1, 1)] as number
  return threes.has((before << 16) | (a << 8) | b) || firstThrees.has((a << 16) | (b << 8) | after)
}

/** The nearest byte in a direction that is no separator, 0 when there is none near. */
function nextLetter(bytes: Uint8Array, from: number, step: 1 | -1): number {
  for (let at = from, left = gap; left > 0 && at >= 0 && at < bytes.length; at += step, left--) {
    if (isBetween[bytes[at] as number] === 0) return bytes[at] as number
  }
  return 0
}

/** Two quotes with only separators between them join what is left of the first to what is right of the second. */
function considerQuotes(bytes: Uint8Array, quotes: readonly number[], consider: Consider): void {
  for (const at of quotes) {
    const second = nextQuote(bytes, at)
    if (second >= 0) considerSides(bytes, at, second, consider)
  }
}

function considerLineBreaks(bytes: Uint8Array, consider: Consider): void {
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) considerSides(bytes, at, at, consider)
}

/** Letter, separator, letter, separator: four times in a row wherever one looks. */
function considerSpacedLetters(bytes: Uint8Array, consider: Consider): void {
  for (let look = 1; look + 8 < bytes.length; look += 8) {
    const at = look + 1 - (isBetween[bytes[look] as number] as number)
    const areBetween =
      (isBetween[bytes[at] as number] as number) &
      (isBetween[bytes[at + 2] as number] as number) &
      (isBetween[bytes[at + 4] as number] as number) &
      (isBetween[bytes[at + 6] as number] as number)
    if (areBetween === 0 || isBetween[bytes[at + 1] as number] === 1 || isBetween[bytes[at - 1] as number] === 1)
      continue
    for (let site = at; site < at + 8; site += 2) consider(site - 1, site + 1)
  }
}

/** The offset of the next quote when only separators stand before it, else -1. */
function nextQuote(bytes: Uint8Array, quote: number): number {
  for (let at = quote + 1; at < bytes.length && at < quote + gap; at++) {
    const byte = bytes[at] as number
    if (byte === 0x22 || byte === 0x27 || byte === 0x60) return at
    if (isBetween[byte] === 0) return -1
  }
  return -1
}

/** With the nearest bytes around a cut that are no separators; the marker of a diff line is one too. */
function considerSides(bytes: Uint8Array, from: number, to: number, consider: Consider): void {
  let left = from
  while (left >= 0 && left > from - gap && isBetween[bytes[left] as number] === 1) left--
  let right = to
  while (right < bytes.length && right < to + gap && isBetween[bytes[right] as number] === 1) right++
  if (left < 0 || right >= bytes.length) return
  consider(left, right)
  if (bytes[right] === 0x2d && bytes[right - 1] === 0x0a && right + 1 < bytes.length) consider(left, right + 1)
}
