/**
 * Tokens in pieces: string concatenation, lists that are joined, wrapped lines, letters set apart, markup between runs of
 * letters. The joined forms are made only where the beginning of a token stands, whole or cut.
 */

import { identity, plainWrapPattern, without, wrapPattern } from '../projection.ts'
import { byteClass } from '../runs.ts'
import { allRules, surveyOf } from '../survey.ts'
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

/** A way in which a token may be in pieces. */
interface Joint {
  /** What stands between pieces. */
  readonly pattern: RegExp
  readonly sticky: RegExp
  /** Bytes that a piece is made of. */
  readonly piece: Uint8Array
}

function joint(pattern: RegExp, piece: string): Joint {
  return { pattern, sticky: new RegExp(pattern.source, 'y'), piece: byteClass(piece) }
}

const joints: readonly Joint[] = [
  joint(concatenation, 'A-Za-z0-9_./+=~-'),
  joint(plainWrapPattern, 'A-Za-z0-9_./+=~-'),
  joint(wrapPattern, 'A-Za-z0-9_./+=~-'),
  joint(letterSpacing, 'A-Za-z0-9_-'),
]

export const joinedPieces: Pass = {
  name: 'joined',
  run: (view, sink) => {
    const beginnings = findBeginnings(view)
    if (beginnings.length === 0) return
    for (const each of joints) {
      for (const [start, end] of windows(view, beginnings, each)) {
        const part = identity(view.bytes.subarray(start, end))
        const joined = without(part, each.pattern)
        if (joined !== part)
          sink.emit({ bytes: joined.bytes, at: (offset) => start + joined.at(offset), guessed: false, rules: 'strong' })
      }
    }
  },
}

/** Where the beginning of a strong token ends. */
interface Beginning {
  readonly end: number
  /** The word, null when it is itself in pieces. */
  readonly word: number | null
}

function findBeginnings(view: View): Beginning[] {
  const found: Beginning[] = findCutWords(view).map((end) => ({ end, word: null }))
  const { words, ends } = surveyOf(view).strong
  for (const [index, word] of words.entries()) {
    const end = ends[index] ?? 0
    const length = allRules().automaton.words[word]?.length ?? 0
    if (mayGoOn(view.bytes, length, end) || isKey(word)) found.push({ word, end })
  }
  return found.sort((a, b) => a.end - b.end)
}

const wordBytes = byteClass('A-Za-z0-9_-')
const letterBytes = byteClass('A-Za-z0-9')
const pieceBytes = byteClass('A-Za-z0-9_./+=~-')
const jointStarts = byteClass('"\'`\\\r\n')

/** Whether a joint may follow; short beginnings must not be the ends of ordinary words. */
function mayGoOn(bytes: Uint8Array, length: number, end: number): boolean {
  if (length < 5 && letterBytes[bytes[end - length - 1] ?? 0] === 1) return false
  let stop = end
  while (stop < bytes.length && stop < end + reach && pieceBytes[bytes[stop] as number] === 1) stop++
  if (jointStarts[bytes[stop] ?? 0] === 1) return true
  // Letters that each stand alone.
  return wordBytes[bytes[end - 1] as number] === 0 || wordBytes[bytes[end - 2] ?? 0] === 0
}

/** Ranges around the beginnings that a joint makes longer, without overlaps. */
function windows(view: View, beginnings: readonly Beginning[], each: Joint): [number, number][] {
  const found: [number, number][] = []
  for (const beginning of beginnings) {
    const { end } = beginning
    if (!goesOn(view, beginning, each)) continue
    const last = found.at(-1)
    const start = Math.max(0, end - back)
    const stop = Math.min(view.bytes.length, end + reach)
    if (last !== undefined && start <= last[1]) last[1] = stop
    else found.push([start, stop])
  }
  return found
}

/** What a private key is made of is no single piece. */
function isKey(word: number): boolean {
  return allRules().automaton.words[word]?.endsWith(' ') === true
}

/** Characters after its beginning that the shortest strong token has. */
const leastRest = 12

/** Whether pieces that the joint holds together make what a rule of the beginning could match. */
function goesOn({ bytes, text }: View, { end, word }: Beginning, { pattern, sticky, piece }: Joint): boolean {
  if (word === null || !isKey(word)) {
    let joints = word === null ? 1 : 0
    let length = 0
    for (let at = end; joints === 0 || length < leastRest; joints++) {
      const from = at
      while (at < bytes.length && at < end + reach && piece[bytes[at] as number] === 1) at++
      length += at - from
      if (joints > 0 && length >= leastRest) break
      sticky.lastIndex = at
      const found = at < end + reach ? sticky.exec(text) : null
      if (found === null) return false
      at += found[0].length
    }
  }
  if (word === null) return true
  const length = allRules().automaton.words[word]?.length ?? 0
  const joined = text.slice(end - length, end + reach).replace(pattern, '')
  return (allRules().rulesOf[word] ?? []).some((rule) => {
    rule.pattern.lastIndex = 0
    return rule.strong && rule.pattern.test(joined)
  })
}

/** Tags between characters, as word processors leave them; only where one stands right between two letters of words. */
const tags = /(?:<\/?[a-zA-Z][^<>]{0,200}>){1,8}/g

/** From the end of a closing tag right after a letter on. */
const closingTag = /(?<=[\w-]<\/[a-zA-Z:]{1,12})>(?:<[^<>]{1,200}>){1,8}[\w-]/y

export const markup: Pass = {
  name: 'markup-removed',
  run: (view, sink) => {
    const { bytes, text } = view
    const isBetweenLetters = surveyOf(view)
      .signs('><')
      .some((at) => {
        closingTag.lastIndex = at
        return closingTag.test(text)
      })
    if (!isBetweenLetters) return
    const whole = identity(bytes)
    const bare = without(whole, tags)
    if (bare !== whole) sink.emit({ bytes: bare.bytes, at: bare.at, guessed: false, rules: 'strong' })
  },
}
