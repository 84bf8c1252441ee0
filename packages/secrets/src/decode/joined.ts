/**
 * Tokens in pieces: string concatenation, lists that are joined, wrapped lines, letters set apart, markup between runs of
 * letters. The joined forms are made only where the beginning of a token stands, whole or cut.
 */

import type { WordHit } from '../automaton.ts'
import { identity, plainWrapPattern, unseenPattern, without, wrapPattern } from '../projection.ts'
import { allRules, hitsOf, wordSigns } from '../strong.ts'
import type { Pass, View } from '../view.ts'
import { findCutWords } from './cut-words.ts'

/** A long token, each character with a separator. */
const reach = 1200

/** Room before the end of a beginning: itself in pieces. */
const back = 400

/** From a closing quote over what joins strings to the next opening one. */
const concatenation =
  /["'`]\)?[ \t]{0,16}(?:\\?\r?\n[ \t]{0,80})?(?:[+.,|&]{0,2}|\|\|)[ \t]{0,16}(?:\\?\r?\n[ \t]{0,80})?\(?["'`]/g

/** Between letters that each stand alone. */
const letterSpacing = /(?<=(?<![\w-])[\w-])[ \t\r\n"'`+,.|&\\]{1,8}(?=[\w-](?![\w-]))/g

export const joinedPieces: Pass = {
  name: 'joined',
  run: (view, sink) => {
    const { bytes } = view
    for (const [start, end] of windows(view)) {
      const part = identity(bytes.subarray(start, end))
      for (const pattern of [concatenation, plainWrapPattern, wrapPattern, letterSpacing]) {
        const joined = without(part, pattern)
        if (joined !== part)
          sink.emit({ bytes: joined.bytes, at: (offset) => start + joined.at(offset), guessed: false, rules: 'strong' })
      }
    }
  },
}

/** Ranges around the beginnings of tokens that are cut, or that do not go on to a natural end, without overlaps. */
function windows(view: View): [number, number][] {
  const found: [number, number][] = []
  const signs = wordSigns()
  const ends = findCutWords(view.bytes)
  for (const hit of hitsOf(view)) {
    if (signs[hit.word]?.isStrong === true && isCutAfter(view.text, hit)) ends.push(hit.end)
  }
  ends.sort((a, b) => a - b)
  for (const end of ends) {
    const last = found.at(-1)
    const start = Math.max(0, end - back)
    const stop = Math.min(view.bytes.length, end + reach)
    if (last !== undefined && start <= last[1]) last[1] = stop
    else found.push([start, stop])
  }
  return found
}

/** The token's characters stop at something that may join it to more: a quote, a line break, a single space. */
function isCutAfter(text: string, { word, end }: WordHit): boolean {
  const length = allRules().automaton.words[word]?.length ?? 0
  // Short beginnings are the ends of ordinary words.
  if (length < 5 && /[A-Za-z0-9]/.test(text.charAt(end - length - 1))) return false
  tokenRest.lastIndex = end
  return tokenRest.test(text)
}

const tokenRest =
  /(?=(?<body>[\w./+=-]{0,300}))\k<body>(?:["'`\\ \t]{1,3}[\s+,.|&()"'`\\-]{0,160}|\r?\n[\s+-]{0,80})[\w/+=]/y

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
    if (!text.includes('><') || !/[\w-]<\/[a-zA-Z:]{1,12}>(?:<[^<>]{1,200}>){1,8}[\w-]/.test(text)) return
    const whole = identity(bytes)
    const bare = without(whole, tags)
    if (bare !== whole) sink.emit({ bytes: bare.bytes, at: bare.at, guessed: false, rules: 'strong' })
  },
}
