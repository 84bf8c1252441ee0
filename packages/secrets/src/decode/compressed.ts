/**
 * Compressed streams wherever they begin: as a file, inside an image (PNG text), a document (PDF), a git object or a pack.
 * At the start of a view a gzip or zstd header is a declaration, and a failure is reported; elsewhere it is a guess.
 */
import type { Limits } from '../limits.ts'
import type { Pass, Sink, View } from '../view.ts'
import { isDeflateStart } from './deflate-start.ts'
import { type Format, inflate, inflatePart } from './inflate.ts'

const gzipHeader = Buffer.from([0x1f, 0x8b, 0x08])
const zstdHeader = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** More beginnings than this in one view are noise. */
const mostStarts = 4096

/** Header of a zlib stream for the four levels that writers use. */
const zlibHeaders = [0x01, 0x5e, 0x9c, 0xda].map((level) => Buffer.from([0x78, level]))

export const gzip: Pass = {
  name: 'gzip',
  container: true,
  run: (view, sink) => openAll(view, sink, 'gzip', gzipHeader),
}

export const zstd: Pass = {
  name: 'zstd',
  container: true,
  run: (view, sink) => openAll(view, sink, 'zstd', zstdHeader),
}

export const zlib: Pass = {
  name: 'zlib',
  container: true,
  run: ({ bytes }, sink) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    for (const header of zlibHeaders) {
      let starts = 0
      for (let at = buffer.indexOf(header); at >= 0 && starts < mostStarts; at = buffer.indexOf(header, at + 1)) {
        starts++
        const start = at
        const out = peek(bytes.subarray(at), sink.limits)
        if (out.length > 0) sink.emit({ bytes: out, at: () => start, guessed: at > 0 })
      }
    }
  },
}

/** By name only: brotli has no header. */
export const brotli: Pass = {
  name: 'brotli',
  container: true,
  run: ({ bytes, file }, sink) => {
    if (!/\.br$/i.test(file)) return
    emitInflated(sink, 'brotli', bytes, 0)
  },
}

function openAll({ bytes }: View, sink: Sink, format: Format, header: Buffer): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let starts = 0
  for (let at = buffer.indexOf(header); at >= 0 && starts < mostStarts; at = buffer.indexOf(header, at + 1), starts++) {
    emitInflated(sink, format, bytes.subarray(at), at)
  }
}

function emitInflated(sink: Sink, format: Format, bytes: Uint8Array, at: number): void {
  const { bytes: out, problem } = inflate(format, bytes, sink.limits)
  const isDeclared = at === 0
  if (out.length > 0) sink.emit({ bytes: out, at: () => at, guessed: !isDeclared })
  if (problem !== null && (isDeclared || problem.startsWith('limit:'))) {
    sink.incomplete(problem.startsWith('limit:') ? problem : `${format}:${problem}`)
  }
}

/** A zlib header is two ordinary bytes, so nearly all of these are none: a small attempt first, and no salvage. */
function peek(bytes: Uint8Array, limits: Limits): Buffer {
  if (!isDeflateStart(bytes, 2)) return Buffer.alloc(0)
  const first = inflatePart(bytes.subarray(0, 512))
  return first.length < 8 ? Buffer.alloc(0) : inflate('zlib', bytes, limits).bytes
}
