/**
 * Tokens in pieces: string concatenation, lists that are joined, wrapped lines, letters set apart, markup between runs of
 * letters. One pass that does not see what stands between pieces finds the beginnings of tokens; only there are
 * the joined forms made.
 */

import { findWordsThrough } from '../automaton.ts'
import { identity, unseenPattern, without, wrapPattern } from '../projection.ts'
import { strongRules } from '../strong.ts'
import type { Pass } from '../view.ts'

/** A long token, each character with a separator. */
const reach = 1200

/** Room before the end of a beginning: itself in pieces. */
const back = 400

const between: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n"\'`+,.|&\\()[]'))

/** From a closing quote over what joins strings to the next opening one. */
const concatenation =
  /["'`]\)?[ \t]{0,16}(?:\\?\r?\n[ \t]{0,80})?(?:[+.,|&]{0,2}|\|\|)[ \t]{0,16}(?:\\?\r?\n[ \t]{0,80})?\(?["'`]/g

/** Between letters that each stand alone. */
const letterSpacing = /(?<=(?<![\w-])[\w-])[ \t\r\n"'`+,.|&\\]{1,8}(?=[\w-](?![\w-]))/g

export const joinedPieces: Pass = {
  name: 'joined',
  run: ({ bytes }, sink) => {
    for (const [start, end] of windows(bytes)) {
      const part = identity(bytes.subarray(start, end))
      for (const pattern of [concatenation, wrapPattern, letterSpacing]) {
        const joined = without(part, pattern)
        if (joined !== part)
          sink.emit({ bytes: joined.bytes, at: (offset) => start + joined.at(offset), guessed: false, rules: 'strong' })
      }
    }
  },
}

/** Where a strong beginning stands once separators are left out, as ranges that do not overlap. */
function windows(bytes: Uint8Array): [number, number][] {
  const found: [number, number][] = []
  for (const { end } of findWordsThrough(strongRules.automaton, bytes, between).hits) {
    const last = found.at(-1)
    const start = Math.max(0, end - back)
    const stop = Math.min(bytes.length, end + reach)
    if (last !== undefined && start <= last[1]) last[1] = stop
    else found.push([start, stop])
  }
  return found
}

/** Text as a reader sees it: without terminal commands and zero-width characters. */
export const unseen: Pass = {
  name: 'unseen-removed',
  run: ({ bytes }, sink) => {
    if (bytes.includes(0)) return
    if (!bytes.includes(0x1b) && !bytes.includes(0xe2) && !bytes.includes(0xef)) return
    const whole = identity(bytes)
    const seen = without(whole, unseenPattern)
    if (seen !== whole) sink.emit({ bytes: seen.bytes, at: seen.at, guessed: false })
  },
}

/** Tags between characters, as word processors leave them; only where one stands right between two letters of words. */
const tags = /(?:<\/?[a-zA-Z][^<>]{0,200}>){1,8}/g

export const markup: Pass = {
  name: 'markup-removed',
  run: ({ bytes, text }, sink) => {
    if (!/[\w-]<\/[a-zA-Z:]{1,12}>(?:<[^<>]{1,200}>){1,8}[\w-]/.test(text)) return
    const whole = identity(bytes)
    const bare = without(whole, tags)
    if (bare !== whole) sink.emit({ bytes: bare.bytes, at: bare.at, guessed: false, rules: 'strong' })
  },
}
