/**
 * Zip and what is one underneath (jar, docx, npz, wheels). Read from the central directory at the end, so that a program in
 * front or wrong local sizes do not matter; from the local headers when there is none. A bad entry loses only itself.
 */
import type { Pass, Sink } from '../view.ts'
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
    const buffer = Buffer.from(view.bytes.buffer, view.bytes.byteOffset, view.bytes.length)
    if (buffer.indexOf(localHeader) < 0) return
    const entries = readDirectory(buffer) ?? readLocalHeaders(buffer)
    for (const [index, entry] of entries.entries()) {
      if (index >= sink.limits.entries) {
        sink.incomplete('limit:entries')
        break
      }
      openEntry(buffer, entry, sink)
    }
  },
}

function openEntry(buffer: Buffer, entry: Entry, sink: Sink): void {
  const { name, header, size, method, encrypted } = entry
  if (name.endsWith('/') && (size ?? 0) === 0) return
  if (encrypted) {
    sink.incomplete('zip:encrypted', name)
    return
  }
  if (header + 30 > buffer.length || !buffer.subarray(header, header + 4).equals(localHeader)) {
    sink.incomplete('zip:corrupt', name)
    return
  }
  const start = header + 30 + buffer.readUInt16LE(header + 26) + buffer.readUInt16LE(header + 28)
  const data = buffer.subarray(start, size === null ? buffer.length : start + size)
  if (method === stored) {
    sink.emit({ bytes: data, at: (offset) => start + offset, entry: name, guessed: false })
  } else if (method === deflated) {
    const { bytes, problem } = inflate('deflate', data, sink.limits)
    if (bytes.length > 0) sink.emit({ bytes, at: () => header, entry: name, guessed: false })
    if (problem !== null) sink.incomplete(problem.startsWith('limit:') ? problem : `zip:${problem}`, name)
  } else {
    sink.incomplete(`zip:method-${method}`, name)
  }
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
