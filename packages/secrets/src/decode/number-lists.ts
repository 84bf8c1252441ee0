/** Bytes written as numbers: hex with separators, dumps of xxd, hexdump and od, lists of character codes. */
import { isPlausible } from '../plausible.ts'
import { byteClass, findRuns } from '../runs.ts'
import type { Pass } from '../view.ts'

const members = byteClass('0-9a-fA-FxX:, \t\r\n-')

/** Sixteen bytes in the shortest of these forms. */
const least = 47

export const numberList: Pass = {
  name: 'number-list',
  run: ({ bytes, text }, sink) => {
    for (const [start, end] of findRuns(bytes, members, least)) {
      const decoded = readNumbers(text.slice(start, end))
      if (decoded !== null && isPlausible(decoded)) sink.emit({ bytes: decoded, at: () => start, guessed: true })
    }
  },
}

/** Two hex digits each, or decimals up to 255, whichever all items but one at each end agree on. */
function readNumbers(text: string): Buffer | null {
  const items = text.split(/[^0-9a-zA-Z]+/).filter((item) => item !== '')
  const inner = items.slice(1, -1)
  if (inner.length < 14) return null
  if (inner.every((item) => /^(?:0[xX])?[0-9a-fA-F]{2}$/.test(item))) {
    const pairs = items.map((item) => item.replace(/^0[xX]/, '')).filter((item) => item.length === 2)
    // The ends of a run take in what stands beside the list; two decimals look like hex as well.
    const hex = Buffer.from(pairs.join(''), 'hex')
    if (isPlausible(hex)) return hex
  }
  if (inner.every((item) => /^\d{1,3}$/.test(item) && Number(item) < 256)) {
    return Buffer.from(items.filter((item) => /^\d{1,3}$/.test(item) && Number(item) < 256).map(Number))
  }
  return null
}

/** Offset, then up to sixteen bytes in groups, then at most their characters. */
const dumpLine =
  /^[ \t+>-]{0,4}[0-9a-fA-F]{6,10}:?[ \t]{1,4}((?:[0-9a-fA-F]{2,8}[ \t]{1,3}){0,16}[0-9a-fA-F]{2,8})(?=[ \t]*(?:$| {2}|[ \t]\|))/gm

export const hexDump: Pass = {
  name: 'hex-dump',
  run: ({ text }, sink) => {
    const from = firstDumpLine(text)
    if (from < 0) return
    const starts: number[] = []
    const parts: Buffer[] = []
    for (const match of text.slice(from).matchAll(dumpLine)) {
      const part = Buffer.from((match[1] ?? '').replace(/\s/g, ''), 'hex')
      for (let i = 0; i < part.length; i++) starts.push(from + match.index)
      parts.push(part)
    }
    const bytes = Buffer.concat(parts)
    if (isPlausible(bytes)) sink.emit({ bytes, at: (offset) => starts[offset] ?? from, guessed: true })
  },
}

const firstOffset = /[ \t+>-]{0,4}0{5,9}[0-9a-fA-F]:?[ \t]/y

/** Where a line begins with an offset below 16, -1 when none does. */
function firstDumpLine(text: string): number {
  for (let at = text.indexOf('00000'); at >= 0; at = text.indexOf('00000', at + 5)) {
    const start = Math.max(0, at - 5) + text.slice(Math.max(0, at - 5), at).lastIndexOf('\n') + 1
    if (at - start > 4) continue
    firstOffset.lastIndex = start
    if (firstOffset.test(text)) return start
  }
  return -1
}
