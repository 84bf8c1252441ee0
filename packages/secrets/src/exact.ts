/**
 * Known credentials by value: no rule is needed and chance plays no part. Each value is put into the encodings in which it
 * could leave, and all of these into one suffix automaton (Blumer et al., 1985), which gives at every byte the length of the
 * longest piece of any of them that ends there. So a token cut into pieces of 16 characters is still found.
 */

export interface ExactSearch {
  readonly classOf: Uint8Array
  readonly classes: number
  /** `next[state * classes + class]`, 0 where there is none (no transition leads back to the start). */
  readonly next: Int32Array
  readonly link: Int32Array
  readonly length: Int32Array
  /** The shortest piece that counts, by state: the encoding of 16 characters. */
  readonly least: Int32Array
  /** The shortest piece of all. */
  readonly shortest: number
  /** By hash of four bytes, whether some form has them. */
  readonly grams: Uint8Array
}

export interface ExactRange {
  readonly start: number
  readonly end: number
}

interface Form {
  readonly text: string
  /** Characters that stand for one of the value. */
  readonly width: number
}

/** Pieces below this are met by chance in other text: `sk-ant-oat01-` alone has 13 characters. */
const leastPiece = 16

/** Values below this would mask ordinary text and are not sought. */
const leastValue = 8

const cache = new Map<string, ExactSearch>()

/** The search for `values`, built once per list. */
export function exactSearch(values: readonly string[]): ExactSearch {
  const usable = [...new Set(values)].filter((value) => value.length >= leastValue)
  const key = usable.join('\0')
  const known = cache.get(key)
  if (known !== undefined) return known
  const built = compile(buildSuffixes(usable))
  cache.clear()
  cache.set(key, built)
  return built
}

/** Ranges of `bytes` that are a piece of a value, merged where they touch. */
export function findExact(search: ExactSearch, bytes: Uint8Array): ExactRange[] {
  const ranges: ExactRange[] = []
  if (search.link.length === 1) return ranges
  for (const [from, to] of likelyParts(search, bytes)) {
    for (const { start, end } of walk(search, bytes.subarray(from, to)).ranges)
      addRange(ranges, from + start, from + end)
  }
  return ranges
}

/** The length of the piece of a value that `bytes` end with, 0 when none. */
export function openPiece(search: ExactSearch, bytes: Uint8Array): number {
  return search.link.length === 1 ? 0 : walk(search, bytes.subarray(-longestForm)).open
}

/** Longer than any form of a usual token. */
const longestForm = 4096

/** Bytes looked at together; every piece of 16 has all four of some look within it. */
const gram = 4
const stride = 8

/**
 * Any piece that counts has, at every eighth byte or so, four bytes that some form has: all else is passed over at one look
 * per eight bytes.
 */
function likelyParts({ grams, shortest }: ExactSearch, bytes: Uint8Array): [number, number][] {
  if (shortest < stride + gram) return [[0, bytes.length]]
  const parts: [number, number][] = []
  for (let at = 0; at + gram <= bytes.length; at += stride) {
    if (grams[gramHash(bytes, at)] === 0) continue
    const last = parts.at(-1)
    if (last !== undefined && at - stride <= last[1]) last[1] = Math.min(bytes.length, at + 2 * stride)
    else parts.push([Math.max(0, at - stride), Math.min(bytes.length, at + 2 * stride)])
  }
  return parts
}

function gramHash(bytes: Uint8Array, at: number): number {
  const a = (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
  const b = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8)
  return (Math.imul(a, 0x9e3b) ^ Math.imul(b, 0x79b9)) & 0xffff
}

function walk(search: ExactSearch, bytes: Uint8Array): { ranges: ExactRange[]; open: number } {
  const { next, link, length, least, classOf, classes } = search
  const ranges: ExactRange[] = []
  let state = 0
  let matched = 0
  for (let i = 0; i < bytes.length; i++) {
    const c = classOf[bytes[i] as number] as number
    let to = next[state * classes + c] as number
    while (to === 0 && state !== 0) {
      state = link[state] as number
      matched = length[state] as number
      to = next[state * classes + c] as number
    }
    if (to === 0) continue
    state = to
    matched++
    if (matched >= (least[state] as number)) addRange(ranges, i + 1 - matched, i + 1)
  }
  return { ranges, open: matched }
}

/** How a value could be written: itself, reversed, base64 in each alignment and alphabet, hexadecimal, escapes. */
function formsOf(value: string): Form[] {
  const bytes = Buffer.from(value)
  const pairs = bytes.toString('hex').match(/../g) ?? []
  const upper = pairs.map((pair) => pair.toUpperCase())
  return [
    { text: value, width: 1 },
    { text: [...value].toReversed().join(''), width: 1 },
    { text: encodeURIComponent(value), width: 1 },
    { text: JSON.stringify(value).slice(1, -1), width: 1 },
    { text: [...value].join('\0'), width: 2 },
    { text: pairs.join(''), width: 2 },
    { text: upper.join(''), width: 2 },
    ...[':', ' ', '%', '\\x', '\\u00'].flatMap((lead) => [
      { text: lead + pairs.join(lead), width: 2 + lead.length },
      { text: lead + upper.join(lead), width: 2 + lead.length },
    ]),
    ...[0, 1, 2].flatMap((shift) => base64Forms(bytes, shift)),
  ]
}

/** The characters of base64 that do not depend on what stands before and after the value. */
function base64Forms(bytes: Buffer, shift: number): Form[] {
  const whole = Buffer.concat([Buffer.alloc(shift), bytes, Buffer.alloc(3)]).toString('base64')
  const core = whole.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + bytes.length) * 4) / 3))
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')].map((text) => ({ text, width: 4 / 3 }))
}

interface Suffixes {
  readonly next: Map<number, number>[]
  readonly link: number[]
  readonly length: number[]
  readonly least: number[]
  readonly grams: Uint8Array
}

function buildSuffixes(values: readonly string[]): Suffixes {
  const suffixes: Suffixes = { next: [new Map()], link: [-1], length: [0], least: [0], grams: new Uint8Array(65_536) }
  const seen = new Set<string>()
  for (const value of values) {
    const characters = Math.min(leastPiece, value.length)
    for (const { text, width } of formsOf(value)) {
      if (seen.has(text)) continue
      seen.add(text)
      const least = Math.min(Math.ceil(characters * width), text.length)
      const bytes = Buffer.from(text)
      for (let at = 0; at + gram <= bytes.length; at++) suffixes.grams[gramHash(bytes, at)] = 1
      let last = 0
      for (const byte of bytes) last = extend(suffixes, { last, byte, least })
    }
  }
  return suffixes
}

interface Step {
  readonly last: number
  readonly byte: number
  readonly least: number
}

/** Adds one byte after the state `last` and gives the state of the whole; several forms share one automaton. */
function extend(suffixes: Suffixes, { last, byte, least }: Step): number {
  const { next, link, length } = suffixes
  const known = next[last]?.get(byte)
  if (known !== undefined) {
    const same = length[known] === (length[last] ?? 0) + 1
    return same ? known : split(suffixes, { last, byte, least })
  }
  const current = next.length
  next.push(new Map())
  length.push((length[last] ?? 0) + 1)
  suffixes.least.push(least)
  link.push(0)
  let state = last
  while (state !== -1 && !next[state]?.has(byte)) {
    next[state]?.set(byte, current)
    state = link[state] ?? -1
  }
  if (state === -1) return current
  const target = next[state]?.get(byte) ?? 0
  const same = length[target] === (length[state] ?? 0) + 1
  link[current] = same ? target : split(suffixes, { last: state, byte, least })
  return current
}

/** Gives the target of `last` over `byte` a twin that stands for the shorter pieces only. */
function split({ next, link, length, least: leasts }: Suffixes, { last, byte, least }: Step): number {
  const target = next[last]?.get(byte) ?? 0
  const twin = next.length
  next.push(new Map(next[target]))
  length.push((length[last] ?? 0) + 1)
  leasts.push(Math.min(least, leasts[target] ?? least))
  link.push(link[target] ?? 0)
  link[target] = twin
  let state = last
  while (state !== -1 && next[state]?.get(byte) === target) {
    next[state]?.set(byte, twin)
    state = link[state] ?? -1
  }
  return twin
}

function compile({ next, link, length, least, grams }: Suffixes): ExactSearch {
  const classOf = new Uint8Array(256)
  let classes = 1
  for (const byte of new Set(next.flatMap((edges) => [...edges.keys()]))) classOf[byte] = classes++
  const table = new Int32Array(next.length * classes)
  for (const [state, edges] of next.entries()) {
    for (const [byte, to] of edges) table[state * classes + (classOf[byte] ?? 0)] = to
  }
  return {
    classOf,
    classes,
    next: table,
    link: Int32Array.from(link, (to) => Math.max(to, 0)),
    length: Int32Array.from(length),
    least: Int32Array.from(least),
    shortest: Math.min(...least.slice(1)),
    grams,
  }
}

function addRange(ranges: ExactRange[], start: number, end: number): void {
  const last = ranges.at(-1)
  if (last !== undefined && start <= last.end) ranges[ranges.length - 1] = { start: Math.min(start, last.start), end }
  else ranges.push({ start, end })
}
