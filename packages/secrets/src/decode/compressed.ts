/**
 * Compressed streams wherever they begin: as a file, inside an image (PNG text), a document (PDF), a git object or a pack.
 * At the start of a view a gzip or zstd header is a declaration, and a failure is reported; elsewhere it is a guess.
 */
import type { Limits } from '../limits.ts'
import { type PassSign, surveyOf } from '../survey.ts'
import type { Pass, Sink, View } from '../view.ts'
import { isDeflateStart } from './deflate-start.ts'
import { type Format, inflate, inflatePart } from './inflate.ts'

/** More beginnings than this in one view are noise. */
const mostStarts = 4096

export const gzip: Pass = {
  name: 'gzip',
  container: true,
  run: (view, sink) => openAll(view, sink, 'gzip', '\x1f\x8b\x08'),
}

export const zstd: Pass = {
  name: 'zstd',
  container: true,
  run: (view, sink) => openAll(view, sink, 'zstd', '\x28\xb5\x2f\xfd'),
}

/** Headers of a zlib stream for the four levels that writers use. */
const zlibHeaders = ['\x78\x01', '\x78\x5e', '\x78\x9c', '\x78\xda'] as const

export const zlib: Pass = {
  name: 'zlib',
  container: true,
  run: (view, sink) => {
    for (const header of zlibHeaders) {
      for (const at of startsOf(view, header)) {
        const out = peek(view.bytes.subarray(at), sink.limits)
        if (out.length > 0) sink.emit({ bytes: out, at: () => at, guessed: at > 0 })
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

function openAll(view: View, sink: Sink, format: Format, header: PassSign): void {
  for (const at of startsOf(view, header)) emitInflated(sink, format, view.bytes.subarray(at), at)
}

/** Where a header stands; letters in it were met in either case. */
function startsOf(view: View, header: PassSign): number[] {
  return surveyOf(view)
    .signs(header)
    .filter((at) => view.text.startsWith(header, at))
    .slice(0, mostStarts)
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
