/**
 * Text escapes. A pass looks for its escape first and then rewrites only the lines round it (at most 4 KiB to each side, for
 * files of one line), so text without escapes costs one search.
 */
import { unseenPattern } from '../projection.ts'
import { surveyOf } from '../survey.ts'
import type { Decoded, Pass, View } from '../view.ts'

interface Escape {
  /** Sticky: one escape. */
  readonly pattern: RegExp
  /** What it may begin with. */
  readonly leads: readonly string[]
  readonly read: (match: RegExpExecArray) => string
  /** What the usual escapes of two characters stand for, by the second: no pattern is needed for those. */
  readonly single?: readonly string[]
}

const reach = 4096

export const percent: Pass = escapePass('percent', {
  leads: ['%'],
  pattern: /%([0-9a-fA-F]{2})/y,
  read: (match) => fromHex(match[1]),
})

const simple: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  e: '\x1b',
}

const simpleByCode = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return simple[character] ?? (/["'`\\/-]/.test(character) ? character : '')
})

/** The escapes of JSON, JavaScript, C, Python and the shells' printf. */
export const backslash: Pass = escapePass('backslash', {
  leads: ['\\'],
  single: simpleByCode,
  pattern:
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|U([0-9a-fA-F]{8})|([0-7]{3})|([nrtbfvae"'`\\/-]))/y,
  read: ([, x, u, braced, wide, octal, character]) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff)
    const hex = x ?? u ?? braced ?? wide
    return hex !== undefined ? fromHex(hex) : (simple[character ?? ''] ?? character ?? '')
  },
})

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  hyphen: '-',
  dash: '-',
  lowbar: '_',
  period: '.',
  equals: '=',
  colon: ':',
  sol: '/',
  plus: '+',
  nbsp: ' ',
}

export const htmlEntity: Pass = escapePass('html-entity', {
  leads: ['&'],
  pattern:
    /&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos|hyphen|dash|lowbar|period|equals|colon|sol|plus|nbsp));?/y,
  read: ([, decimal, hexadecimal, name]) =>
    decimal !== undefined
      ? character(Number(decimal))
      : hexadecimal !== undefined
        ? fromHex(hexadecimal)
        : (named[name ?? ''] ?? ''),
})

/** Only where it has been used for what it is for: a character of tokens, or a soft break at the length of a line. */
export const quotedPrintable: Pass = {
  name: 'quoted-printable',
  run: (view, sink) => {
    const { signs } = surveyOf(view)
    const isUsed = (['=3d', '=2d', '=5f'] as const).some((sign) =>
      signs(sign).some((at) => view.text[at + 2] !== sign[2]),
    )
    if (isUsed || hasSoftBreak(view.text, signs('=\n'))) quotedPrintableLines.run(view, sink)
  },
}

/** An equals sign ends a line of 57 to 76 characters (RFC 2045, 6.7): shorter ones are padding and assignments. */
function hasSoftBreak(text: string, ends: readonly number[]): boolean {
  return ends.some((at) => {
    const length = at - text.slice(Math.max(0, at - 78), at).lastIndexOf('\n') - Math.max(0, at - 78)
    return length >= 57 && length <= 77
  })
}

const quotedPrintableLines: Pass = escapePass('quoted-printable', {
  leads: ['='],
  pattern: /=(?:([0-9A-F]{2})|\r?\n)/y,
  read: ([, hexadecimal]) => (hexadecimal === undefined ? '' : fromHex(hexadecimal)),
})

/** Text as a reader sees it: without terminal commands and zero-width characters. */
export const unseen: Pass = {
  name: 'unseen-removed',
  run: (view, sink) => {
    if (!view.bytes.includes(0)) unseenLines.run(view, sink)
  },
}

const unseenLines: Pass = escapePass('unseen-removed', {
  leads: ['\x1b', '\xe2\x80', '\xe2\x81', '\xef\xbb\xbf'],
  pattern: new RegExp(unseenPattern.source, 'y'),
  read: () => '',
})

function escapePass(name: string, { leads, pattern, read, single }: Escape): Pass {
  return {
    name,
    run: (view, sink) => {
      const { text, bytes } = view
      const next = leads.length === 1 ? seek(text, leads[0] ?? '') : seekNearest(text, leads)
      let at = next(0)
      if (at < 0) return
      const out = newRewriting(bytes)
      let done = 0
      let end = 0
      for (let lineEnd = 0; at >= 0; at = next(Math.max(at + 1, done))) {
        const short = single === undefined ? '' : (single[text.charCodeAt(at + 1)] ?? '')
        pattern.lastIndex = at
        const match = short === '' ? pattern.exec(text) : null
        if (short === '' && match === null) continue
        if (at >= end) {
          if (end > done) out.copy(done, end)
          if (end > 0) out.write('\n', at)
          done = lineStart(view, at, end)
        }
        if (at > done) out.copy(done, at)
        out.write(match === null ? short : read(match), at)
        done = at + (match === null ? 2 : match[0].length)
        if (lineEnd < done) lineEnd = nextBreak(text, done)
        end = Math.min(lineEnd, done + reach, bytes.length)
      }
      if (end === 0) return
      if (end > done) out.copy(done, end)
      sink.emit({ ...out.finish(), guessed: false })
    },
  }
}

interface Rewriting {
  /** Takes bytes over as they are. */
  readonly copy: (from: number, to: number) => void
  /** Puts characters in the place of what stands at `origin`. */
  readonly write: (text: string, origin: number) => void
  readonly finish: () => Pick<Decoded, 'bytes' | 'at'>
}

/** Nothing gets longer by it: an escape has two bytes at least, and a break is written only where lines are left out. */
function newRewriting(bytes: Uint8Array): Rewriting {
  let out = new Uint8Array(Math.min(bytes.length + 1, firstRoom))
  let length = 0
  const starts: number[] = []
  const origins: number[] = []
  let isAfterEscape = false
  const begin = (origin: number): void => {
    starts.push(length)
    origins.push(origin)
  }
  const grow = (more: number): void => {
    if (length + more <= out.length) return
    const larger = new Uint8Array(Math.max(length + more, out.length * 2))
    larger.set(out.subarray(0, length))
    out = larger
  }
  return {
    copy: (from, to) => {
      begin(from)
      grow(to - from)
      for (let at = from; at < to; at++) out[length++] = bytes[at] as number
      isAfterEscape = false
    },
    write: (text, origin) => {
      // After bytes that were taken over, the one escape that follows is where they lead.
      if (isAfterEscape || length === 0) begin(origin)
      grow(text.length)
      for (let i = 0; i < text.length; i++) out[length++] = text.charCodeAt(i)
      isAfterEscape = true
    },
    finish: () => ({
      bytes: out.subarray(0, length),
      at: (offset) => {
        const piece = lastAtMost(starts, offset)
        return Math.min((origins[piece] ?? 0) + offset - (starts[piece] ?? 0), bytes.length)
      },
    }),
  }
}

const firstRoom = 65_536

function seek(text: string, lead: string): (from: number) => number {
  return (from) => text.indexOf(lead, from)
}

/** A search for the nearest of several strings, forwards only: what has been found and not yet passed is remembered. */
function seekNearest(text: string, leads: readonly string[]): (from: number) => number {
  const ahead = leads.map((lead) => text.indexOf(lead))
  return (from) => {
    let nearest = -1
    for (const [index, lead] of leads.entries()) {
      let at = ahead[index] as number
      if (at >= 0 && at < from) ahead[index] = at = text.indexOf(lead, from)
      if (at >= 0 && (nearest < 0 || at < nearest)) nearest = at
    }
    return nearest
  }
}

/** No further back than `reach`, so that a file of one line is not gone through again and again. */
function lineStart({ bytes }: View, at: number, notBefore: number): number {
  const least = Math.max(notBefore, at - reach)
  let start = at
  while (start > least && bytes[start - 1] !== 0x0a) start--
  return start
}

function nextBreak(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at
}

function fromHex(digits: string | undefined): string {
  return character(Number.parseInt(digits ?? '', 16))
}

/** In latin-1, as the views are; tokens are ASCII and other characters only have to stand for something else. */
function character(code: number): string {
  return code < 0x100 ? String.fromCharCode(code) : '?'
}

/** Index of the last of the ascending `values` that is at most `limit`. */
function lastAtMost(values: readonly number[], limit: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}
