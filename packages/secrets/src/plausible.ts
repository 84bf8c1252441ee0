/** Whether bytes that were only guessed to be an encoding look like something once decoded. */

import { buildAutomaton, findWords } from './automaton.ts'
import { once } from './once.ts'
import { strongRules } from './strong.ts'

/** How what can be opened begins. */
export const magics: readonly (readonly number[])[] = [
  [0x1f, 0x8b, 0x08],
  [0x50, 0x4b, 0x03, 0x04],
  [0x50, 0x4b, 0x05, 0x06],
  [0x89, 0x50, 0x4e, 0x47],
  [0x25, 0x50, 0x44, 0x46],
  [0x28, 0xb5, 0x2f, 0xfd],
  [0x78, 0x9c],
  [0x78, 0xda],
  [0x78, 0x01],
  [0x78, 0x5e],
]

const ustar = Buffer.from('ustar')

/** The words of strong rules that chance does not write: short ones occur in any megabyte of noise. */
const longWords = once(() => buildAutomaton(strongRules().automaton.words.filter((word) => word.length >= 5)))

/** A known beginning, nine tenths text in one of the usual encodings, or a word that begins a credential. */
export function isPlausible(bytes: Uint8Array): boolean {
  if (bytes.length < 8) return false
  return hasMagic(bytes) || isText(bytes) || findWords(longWords(), bytes).ends.length > 0
}

export function hasMagic(bytes: Uint8Array): boolean {
  return (
    magics.some((magic) => magic.every((byte, index) => bytes[index] === byte)) ||
    (bytes.length > 262 && ustar.equals(bytes.subarray(257, 262)))
  )
}

/** Text: ASCII, or UTF-16 of it. One foreign byte in ten is let pass, since a cut or misaligned end is no reason to look away. */
export function isText(bytes: Uint8Array): boolean {
  const sample = Math.min(bytes.length, 64)
  return isMostlyText(bytes.subarray(0, sample), 0.8) && (bytes.length === sample || isMostlyText(bytes, 0.9))
}

function isMostlyText(bytes: Uint8Array, share: number): boolean {
  let printable = 0
  let zeros = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if ((byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09) printable++
    else if (byte === 0) zeros++
  }
  const isWide = zeros >= bytes.length * 0.4 && printable >= bytes.length * 0.4
  return isWide || printable >= bytes.length * share
}
