/**
 * Base64 (both alphabets), base32 and hexadecimal: runs of their characters, joined over wrapped lines. Where a run begins is
 * often not where the encoding does (`data:x,` or a cut line before it), so each alignment is tried and padding is ignored.
 */
import { hasMagic, isPlausible, isText, magics } from '../plausible.ts'
import { byteClass, findRuns } from '../runs.ts'
import type { Pass, Sink, View } from '../view.ts'

interface Run {
  readonly text: string
  /** Offset in the view of a character of `text`. */
  readonly at: (index: number) => number
}

const alphabet = byteClass('A-Za-z0-9+/_-')

/** Base64 of 18 bytes: shorter than any token of a strong rule. */
const leastBase64 = 24

export const base64: Pass = {
  name: 'base64',
  run: (view, sink) => {
    for (const run of runsOf(view)) {
      for (let shift = 0; shift < 4; shift++) {
        // A long run may hold anything from its beginning on; otherwise it must look like text or a container.
        const isWorthIt = (shift === 0 && run.text.length >= longRun) || looksEncoded(run.text, shift)
        if (!isWorthIt) continue
        const bytes = Buffer.from(shift === 0 ? run.text : run.text.slice(shift), 'base64')
        if (isPlausible(bytes)) emit(sink, run, bytes, (offset) => shift + Math.floor((offset * 4) / 3))
      }
    }
  },
}

const longRun = 64

/** Groups of four characters in a sample. */
const sampleGroups = 6

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

const digitValue = new Uint8Array(256)
for (const [value, digit] of [...digits].entries()) digitValue[digit.charCodeAt(0)] = value
digitValue[0x2d] = 62
digitValue[0x5f] = 63

/**
 * For each digit, in which of the first three places of a group it can stand when the group is text: the upper half of an
 * ASCII byte is 2 to 7, or 0 in line breaks and in the zeros of UTF-16. Of random groups, one in twelve passes.
 */
const textPlaces = new Uint8Array(256)
for (let code = 0; code < 256; code++) {
  const value = digitValue[code] as number
  const isFirst = value >= 8 ? value < 32 : value === 0 || value === 2 || value === 3
  const isSecond = (value & 15) < 8 && (value & 15) !== 1
  textPlaces[code] = (isFirst ? 1 : 0) | (isSecond ? 2 : 0) | ((value & 3) < 2 ? 4 : 0)
}

/** Whether at this alignment the beginning, the middle or the end could be text, or the beginning a container. */
function looksEncoded(text: string, shift: number): boolean {
  const last = Math.max(0, ((text.length - shift) >> 2) - sampleGroups)
  if (isTextSample(text, shift) || (last > 0 && isTextSample(text, shift + last * 4))) return true
  if (last > 1 && isTextSample(text, shift + (last >> 1) * 4)) return true
  return mayBeMagic(text, shift) && hasMagic(Buffer.from(text.slice(shift, shift + 8), 'base64'))
}

/** All groups of a sample but two. */
function isTextSample(text: string, from: number): boolean {
  const to = Math.min(text.length - 3, from + sampleGroups * 4)
  for (let at = from, others = 0; at < to; at += 4) {
    const first = textPlaces[text.charCodeAt(at)] as number
    const second = (textPlaces[text.charCodeAt(at + 1)] as number) >> 1
    const third = (textPlaces[text.charCodeAt(at + 2)] as number) >> 2
    if ((first & second & third & 1) === 0 && ++others > 2) return false
  }
  return true
}

/** By the first 12 bits, whether some container begins so. */
const magicStarts = new Uint8Array(4096)
for (const [first = 0, second = 0] of magics) magicStarts[(first << 4) | (second >> 4)] = 1

function mayBeMagic(text: string, at: number): boolean {
  const [first, second] = [digitValue[text.charCodeAt(at)] as number, digitValue[text.charCodeAt(at + 1)] as number]
  return magicStarts[(first << 6) | second] === 1
}

export const hex: Pass = {
  name: 'hex',
  run: (view, sink) => {
    for (const run of runsOf(view)) {
      if (!mayHold(run.text, hexDigits)) continue
      for (const { 0: digits, index } of run.text.matchAll(/[0-9a-fA-F]{32,}/g)) {
        for (let shift = 0; shift < 2; shift++) {
          const bytes = Buffer.from(digits.slice(shift, digits.length - ((digits.length - shift) % 2)), 'hex')
          if (isPlausible(bytes)) emit(sink, run, bytes, (offset) => index + shift + offset * 2)
        }
      }
    }
  },
}

const hexDigits = byteClass('0-9a-fA-F')
const base32Upper = byteClass('A-Z2-7')
const base32Lower = byteClass('a-z2-7')

/** Whether 32 neighbours may all be members: then some 16 from a multiple of 16 on are. */
function mayHold(text: string, members: Uint8Array): boolean {
  for (let at = 0; at + 16 <= text.length; at += 16) {
    let length = 0
    while (length < 16 && members[text.charCodeAt(at + length)] === 1) length++
    if (length === 16) return true
  }
  return false
}

/** Letters of a sample, a multiple of the eight that make five bytes. */
const sampleLetters = 32

export const base32: Pass = {
  name: 'base32',
  run: (view, sink) => {
    for (const run of runsOf(view)) {
      if (!mayHold(run.text, base32Upper) && !mayHold(run.text, base32Lower)) continue
      for (const { 0: letters, index } of run.text.matchAll(/[A-Z2-7]{32,}|[a-z2-7]{32,}/g)) {
        for (let shift = 0; shift < 8; shift++) {
          if (!isText(decodeBase32(letters.slice(shift, shift + sampleLetters).toUpperCase()))) continue
          const bytes = decodeBase32(letters.slice(shift).toUpperCase())
          if (isPlausible(bytes)) emit(sink, run, bytes, (offset) => index + shift + Math.floor((offset * 8) / 5))
        }
      }
    }
  },
}

function emit(sink: Sink, run: Run, bytes: Buffer, indexOf: (offset: number) => number): void {
  sink.emit({ bytes, at: (offset) => run.at(Math.min(indexOf(offset), run.text.length - 1)), guessed: true })
}

const known = new WeakMap<View, Run[]>()

/** The runs of a view, found once for the three passes. */
function runsOf(view: View): Run[] {
  let runs = known.get(view)
  if (runs === undefined) {
    runs = findWrappedRuns(view.bytes, view.text)
    known.set(view, runs)
  }
  return runs
}

/** Between two lines of one wrapped value: the break itself, written out or continued, and what each line begins with. */
const lineBreak = /["']?(?:\\?\r?\n|(?:\\r)?\\n)[ \t]{0,40}(?:(?:[>#*|]|\/\/|--)[ \t]{0,8})?["']?(?=[A-Za-z0-9+/_-])/y

function findWrappedRuns(bytes: Uint8Array, text: string): Run[] {
  const runs: Run[] = []
  let taken = 0
  for (const [start, end] of findRuns(bytes, alphabet, leastBase64)) {
    if (start < taken) continue
    if (!mayBeEncoded(bytes, start, end)) continue
    const pieces: [number, number][] = [[start, end]]
    for (let next = nextLine(bytes, text, [start, end]); next !== null; next = nextLine(bytes, text, next)) {
      pieces.push(next)
      taken = next[1]
    }
    runs.push(joinPieces(text, pieces))
  }
  return runs
}

/** Capitals: of 18 bytes of text in base64, less than one in ten thousand have none. */
const upper = byteClass('A-Z')
const inWords = byteClass('a-z0-9')

/** Whether a run has capitals, or is long enough without the signs that make paths and names of words. */
function mayBeEncoded(bytes: Uint8Array, start: number, end: number): boolean {
  let length = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (upper[byte] === 1) return true
    length = inWords[byte] === 1 ? length + 1 : 0
    if (length === leastBase64) return true
  }
  return false
}

/** The run on the next line, when it can be the rest of the one that ends here: not longer, and alone on its line. */
function nextLine(bytes: Uint8Array, text: string, [from, end]: [number, number]): [number, number] | null {
  if (!wrapStarts.has(bytes[end] ?? 0)) return null
  lineBreak.lastIndex = end
  const found = lineBreak.exec(text)
  if (found === null) return null
  const start = end + found[0].length
  let stop = start
  while (stop < bytes.length && alphabet[bytes[stop] as number] !== 0) stop++
  return stop - start <= end - from && lineEnds.has(bytes[stop] ?? 0x0a) ? [start, stop] : null
}

/** Line feed, carriage return, quotes, backslash; and what may follow the last line. */
const wrapStarts: ReadonlySet<number> = new Set(Buffer.from('\n\r"\'\\'))
const lineEnds: ReadonlySet<number> = new Set(Buffer.from('\n\r"\'\\=`),;<]}'))

function joinPieces(whole: string, pieces: readonly [number, number][]): Run {
  return {
    text: pieces.map(([start, end]) => whole.slice(start, end)).join(''),
    at: (index) => {
      let left = index
      for (const [start, end] of pieces) {
        if (left < end - start) return start + left
        left -= end - start
      }
      return pieces.at(-1)?.[0] ?? 0
    },
  }
}

const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function decodeBase32(letters: string): Buffer {
  const bytes = Buffer.alloc(Math.floor((letters.length * 5) / 8))
  let bits = 0
  let held = 0
  let length = 0
  for (const letter of letters) {
    held = ((held << 5) | base32Digits.indexOf(letter)) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[length++] = (held >> bits) & 0xff
    }
  }
  return bytes
}
