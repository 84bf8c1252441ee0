/**
 * Zip and what is one underneath (jar, docx, npz, wheels). Read from the central directory at the end, so that a program in
 * front or wrong local sizes do not matter; from the local headers when there is none. A bad entry loses only itself.
 */
import type { Limits } from '../limits.ts'
import { surveyOf } from '../survey.ts'
import type { Pass } from '../view.ts'
import { inflate } from './inflate.ts'

interface Entry {
  readonly name: string
  readonly method: number
  readonly encrypted: boolean
  /** Offset of the local header. */
  readonly header: number
  /** Compressed size, or null when only the data tells. */
  readonly size: number | null
}

const localHeader = Buffer.from('PK\x03\x04', 'latin1')
const directoryHeader = Buffer.from('PK\x01\x02', 'latin1')
const directoryEnd = Buffer.from('PK\x05\x06', 'latin1')

const stored = 0
const deflated = 8

export const zip: Pass = {
  name: 'zip',
  container: true,
  run: (view, sink) => {
    const { bytes, certain } = view
    if (surveyOf(view).signs('pk\x03\x04').length === 0) return
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const first = buffer.indexOf(localHeader)
    if (first < 0) return
    const directory = readDirectory(buffer)
    // Without a directory four bytes are no archive, unless the file begins with them.
    const isSure = directory !== null || (certain && first === 0)
    for (const [index, entry] of (directory ?? readLocalHeaders(buffer)).entries()) {
      if (index >= sink.limits.entries) {
        sink.incomplete('limit:entries')
        break
      }
      const { data, start, problem } = openEntry(buffer, entry, sink.limits)
      const at = (offset: number) => (entry.method === stored ? start + offset : entry.header)
      if (data.length > 0) sink.emit({ bytes: data, at, entry: entry.name, guessed: !isSure })
      if (problem !== null && isSure) sink.incomplete(problem, entry.name)
    }
  },
}

interface Opened {
  readonly data: Buffer
  /** Offset of the packed bytes. */
  readonly start: number
  readonly problem: string | null
}

function openEntry(buffer: Buffer, { header, size, method, encrypted }: Entry, limits: Limits): Opened {
  const unopened = (problem: string): Opened => ({ data: Buffer.alloc(0), start: header, problem })
  if (encrypted) return unopened('zip:encrypted')
  if (header + 30 > buffer.length || !buffer.subarray(header, header + 4).equals(localHeader)) {
    return unopened('zip:corrupt')
  }
  const start = header + 30 + buffer.readUInt16LE(header + 26) + buffer.readUInt16LE(header + 28)
  const data = buffer.subarray(start, size === null ? buffer.length : start + size)
  if (method === stored) return { data, start, problem: null }
  if (method !== deflated) return unopened(`zip:method-${method}`)
  const { bytes, problem } = inflate('deflate', data, limits)
  return { data: bytes, start, problem: problem === null || problem.startsWith('limit:') ? problem : `zip:${problem}` }
}

/** The entries of the central directory, or null when there is no sound one. */
function readDirectory(buffer: Buffer): Entry[] | null {
  const end = buffer.lastIndexOf(directoryEnd)
  if (end < 0 || end + 22 > buffer.length) return null
  const size = buffer.readUInt32LE(end + 12)
  const start = end - size
  // What stands before the archive shifts all its offsets.
  const shift = start - buffer.readUInt32LE(end + 16)
  if (start < 0 || shift < 0 || size === 0) return null
  const entries: Entry[] = []
  for (let at = start; at + 46 <= end && buffer.subarray(at, at + 4).equals(directoryHeader); ) {
    const nameLength = buffer.readUInt16LE(at + 28)
    const extraLength = buffer.readUInt16LE(at + 30)
    const wide = readWideSizes(buffer.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength), {
      size: buffer.readUInt32LE(at + 24),
      packed: buffer.readUInt32LE(at + 20),
      header: buffer.readUInt32LE(at + 42),
    })
    entries.push({
      name: buffer.toString('utf8', at + 46, at + 46 + nameLength),
      method: buffer.readUInt16LE(at + 10),
      encrypted: (buffer.readUInt16LE(at + 8) & 1) === 1,
      header: wide.header + shift,
      size: wide.packed,
    })
    at += 46 + nameLength + extraLength + buffer.readUInt16LE(at + 32)
  }
  return entries.length === 0 ? null : entries
}

const absent = 0xffffffff

/** Zip64 puts what does not fit 32 bits into extra field 1, in this order. */
function readWideSizes(
  extra: Buffer,
  narrow: { size: number; packed: number; header: number },
): { packed: number; header: number } {
  let { packed, header } = narrow
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue
    let field = at + 4
    const next = (): number => {
      field += 8
      return field <= extra.length ? Number(extra.readBigUInt64LE(field - 8)) : 0
    }
    if (narrow.size === absent) next()
    if (narrow.packed === absent) packed = next()
    if (narrow.header === absent) header = next()
  }
  return { packed, header }
}

function readLocalHeaders(buffer: Buffer): Entry[] {
  const entries: Entry[] = []
  for (
    let at = buffer.indexOf(localHeader);
    at >= 0 && at + 30 <= buffer.length;
    at = buffer.indexOf(localHeader, at + 4)
  ) {
    const flags = buffer.readUInt16LE(at + 6)
    const packed = buffer.readUInt32LE(at + 18)
    entries.push({
      name: buffer.toString('utf8', at + 30, at + 30 + buffer.readUInt16LE(at + 26)),
      method: buffer.readUInt16LE(at + 8),
      encrypted: (flags & 1) === 1,
      header: at,
      size: (flags & 8) === 8 || packed === absent ? null : packed,
    })
  }
  return entries
}
