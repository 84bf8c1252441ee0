/**
 * Is this value random enough to be a real credential? Documentation is full of shapes filled with runs, alphabets and words.
 * Cheap and certain signs come first; entropy is the last word and never the only one.
 */
import { hash } from 'node:crypto'

/**
 * Credentials printed in their makers' own documentation, and in the standards of OAuth (RFC 5849, 6749, 6750) from where they
 * are copied into every library for it; by the first 8 bytes of their SHA-256.
 */
const specimens: ReadonlySet<string> = new Set([
  '2cafc0970149a84f',
  '8d567eb88afff34f',
  '9d03b692e941d5ac',
  'cb87c87e4a138d9a',
  '649e1f5c769e718b',
  'bb9b1163338b2a51',
  '4c20e6f5cc11b937',
  '6aa14267d94944e6',
  '293257ab6495ebb1',
  '6c96130f130ab0d6',
  '00cf4c781dc37003',
  'a35b81a7d7927b70',
  'ca7459e2b26776de',
  'e9974c507d2a8021',
  'b8e148545b13c78b',
  'a71b359a87afde13',
])

const fillerWord =
  /example|sample|placeholder|change[-_]?me|replace|dummy|redacted|masked|your[-_]|[-_]here|not[-_]?real|insert|todo|fake|xxxx|0{8}|1234567890|abcdefgh/i

/** True for shapes filled in by a writer: one letter repeated, an alphabet or keyboard run, a word that says so. */
export function isPlaceholder(value: string): boolean {
  if (value.length === 0) return true
  const distinct = new Set(value).size
  if (distinct < Math.min(5, Math.ceil(value.length / 3))) return true
  if (value.length >= 8 && steps(value) > value.length * 0.5) return true
  // A long random token meets a four-letter word by chance; a short one does not.
  return value.length <= 48 && fillerWord.test(value)
}

/** Bytes of a program's own tables and not of text. */
const unprintable = /[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]/

/** True when what stands round `start` is the string table of a program, where strings follow each other without a mark. */
export function isInTable(text: string, start: number, end: number): boolean {
  return unprintable.test(text.slice(Math.max(0, start - 200), start)) || unprintable.test(text.slice(end, end + 200))
}

/** True for a whole credential that is known from documentation and opens nothing. */
export function isSpecimen(secret: string): boolean {
  return specimens.has(hash('sha256', secret).slice(0, 16))
}

/** True when `value` could be the random part of a credential: no placeholder, no words, the mix and entropy of chance. */
export function isRandom(value: string): boolean {
  if (isPlaceholder(value)) return false
  if (/^(?:[0-9a-f-]+|[0-9A-F-]+)$/.test(value)) return entropy(value) >= (value.length >= 24 ? 2.9 : 2.2)
  if (/^[0-9.:-]+$/.test(value)) return true
  return isMixed(value) && entropy(value) >= (value.length >= 24 ? 3.4 : 2.5)
}

/**
 * True when `value` has the mix of character kinds of a random string over its alphabet. Over letters and digits, 24
 * random characters miss the digits with p = 0.015 and one letter case with p < 1e-5; 64 miss any kind with p < 2e-5.
 */
export function isMixed(value: string): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/].filter((kind) => kind.test(value)).length
  if (value.length >= 64) return kinds === 3 || !/[_-]/.test(value.slice(1, -1))
  return kinds >= 2
}

/** Shannon entropy of the characters, in bits a character. */
export function entropy(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}

/** How many neighbours are equal, or one apart (abc, 321). */
function steps(value: string): number {
  let count = 0
  for (let i = 1; i < value.length; i++) if (Math.abs(value.charCodeAt(i) - value.charCodeAt(i - 1)) <= 1) count++
  return count
}

/**
 * True when a value without any shape of its own reads like chance: its character kinds change often, in its middle too.
 * Identifiers, sentences and version strings change kind at word borders only.
 */
export function isScrambled(value: string): boolean {
  if (value.length < 10 || isPlaceholder(value) || isWordsJoined(value) || colonHex.test(value)) return false
  if (isTypedAtRandom(value) || isFields(value) || isForeignText(value)) return false
  if (/^[0-9a-f]+$/i.test(value))
    return value.length >= 32 && isRandom(value) && /[0-9]/.test(value) && /[a-f]/i.test(value)
  const changes = countChanges(value)
  const digitGroups = value.match(/[0-9]+/g) ?? []
  if (digitGroups.length === 0)
    return value.length >= 16 && changes >= (value.length - 1) * 0.4 && wordShare(value) < 0.25
  if (!/[A-Za-z]/.test(value) || wordShare(value) > (value.length < 20 ? 0.5 : 0.6)) return false
  if (value.length < 16 && digitGroups.join('').length < 2) return false
  const least = digitGroups.length >= 3 ? 0.15 : digitGroups.length === 2 ? 0.22 : 0.3
  return changes >= (value.length - 1) * least && entropy(value) >= Math.min(3.3, Math.log2(value.length) * 0.75)
}

/**
 * What a writer's hands fall on: letters of the middle row of the keyboard. Of ten random letters of both cases, eight are
 * with p = 0.004; of twenty, sixteen with p < 1e-4.
 */
function isTypedAtRandom(value: string): boolean {
  const letters = value.replace(/[^A-Za-z]/g, '')
  if (letters.length < 10 || /^[0-9a-f]+$/i.test(value)) return false
  return letters.replace(/[^asdfghjkl]/gi, '').length >= letters.length * 0.8
}

/** Fingerprints and addresses. */
const colonHex = /^(?:[0-9a-fA-F]{2}:)+[0-9a-fA-F]{2}$/

/** Parts between underscores or dashes that are each a word, a number or an abbreviation. */
function isWordsJoined(value: string): boolean {
  const parts = value.split('_').filter((part) => part !== '')
  if (parts.length >= 2 && parts.every((part) => /^(?:[A-Z]?[a-z]{0,9}|[A-Z]{1,9})[0-9]{0,5}$/.test(part))) return true
  const words = value.split('-')
  return (
    words.length >= 3 && words.every((word) => /^(?:[A-Z]?[a-z]{2,11}[0-9]{0,3}|[A-Z]{2,9}|[0-9]{1,4})$/.test(word))
  )
}

/** Fields with colons between, as in lists of users, and addresses of networks: each a word or a short number. */
function isFields(value: string): boolean {
  const fields = value.split(':')
  return fields.length >= 3 && fields.every((field) => /^(?:[A-Z]?[a-z]*|[0-9a-fA-F]{1,4}|[0-9]{1,9})$/.test(field))
}

/** A language that is not written in ASCII. */
function isForeignText(value: string): boolean {
  return (value.match(/[\x80-\xff]/g) ?? []).length > value.length * 0.15
}

/** How often the kind of character differs from that of the one before. */
function countChanges(value: string): number {
  let changes = 0
  for (let i = 1; i < value.length; i++) if (kindOf(value.charCodeAt(i)) !== kindOf(value.charCodeAt(i - 1))) changes++
  return changes
}

/** The share of the characters that stand in what could be words: four letters or more, with vowels, not all consonants. */
export function wordShare(value: string): number {
  const words = (value.match(/[A-Za-z][a-z]{3,}/g) ?? []).filter(
    (run) => /[aeiouy]/i.test(run) && !/[^aeiouy]{4}/i.test(run),
  )
  return words.join('').length / value.length
}

function kindOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return 0
  if (code >= 0x41 && code <= 0x5a) return 1
  if (code >= 0x61 && code <= 0x7a) return 2
  return 3
}
