/** Bounded decompression that keeps what came out before an error, a cut or a limit. */
import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { Limits } from '../limits.ts'

export type Format = 'gzip' | 'zlib' | 'deflate' | 'brotli' | 'zstd'

export interface Inflated {
  readonly bytes: Buffer
  /** Why `bytes` is not all of it, if so. */
  readonly problem: string | null
}

/** Deflate cannot expand more than this (zlib's technical details); so a beginning of limit / 1032 bytes always fits. */
const mostExpansion = 1032

const floor = 1024 * 1024

/**
 * @returns what could be had, and `problem` `limit:ratio`, `limit:entry-bytes`, `truncated` or `corrupt` when that is not all
 */
export function inflate(format: Format, bytes: Uint8Array, limits: Limits): Inflated {
  const byRatio = Math.max(floor, bytes.length * limits.ratio)
  const most = Math.min(limits.entryBytes, byRatio)
  const whole = attempt(format, bytes, { most, isWhole: true })
  if (whole instanceof Buffer) return { bytes: whole, problem: null }
  if (whole === 'truncated') {
    const start = attempt(format, bytes, { most, isWhole: false })
    if (start instanceof Buffer) return { bytes: start, problem: 'truncated' }
  }
  if (whole === 'too-large') {
    const start = attempt(format, bytes.subarray(0, Math.max(64, Math.floor(most / mostExpansion))), {
      most,
      isWhole: false,
    })
    const problem = most === limits.entryBytes ? 'limit:entry-bytes' : 'limit:ratio'
    return { bytes: start instanceof Buffer ? start : Buffer.alloc(0), problem }
  }
  return { bytes: salvage(format, bytes, most), problem: 'corrupt' }
}

/** What the beginning of a zlib stream holds, empty when it is none. */
export function inflatePart(bytes: Uint8Array): Buffer {
  const out = attempt('zlib', bytes, { most: bytes.length * mostExpansion, isWhole: false })
  return out instanceof Buffer ? out : Buffer.alloc(0)
}

/** The output of the longest beginning that can be read, by halving: an error loses all output of its call. */
function salvage(format: Format, bytes: Uint8Array, most: number): Buffer {
  let best: Buffer = Buffer.alloc(0)
  let low = 0
  let high = bytes.length
  for (let tries = 0; tries < 12 && high - low > 8; tries++) {
    const middle = (low + high) >> 1
    const result = attempt(format, bytes.subarray(0, middle), { most, isWhole: false })
    if (result instanceof Buffer) {
      low = middle
      if (result.length > best.length) best = result
    } else {
      high = middle
    }
  }
  return best
}

interface Attempt {
  /** Most bytes to give out. */
  readonly most: number
  /** The stream must come to its end; otherwise what came out before the bytes ended will do. */
  readonly isWhole: boolean
}

function attempt(
  format: Format,
  bytes: Uint8Array,
  { most, isWhole }: Attempt,
): Buffer | 'too-large' | 'truncated' | 'not-readable' {
  // Most attempts fail, and half of their cost was the stack trace that nobody reads.
  const traceLimit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    return run(format, bytes, most, isWhole)
  } catch (error) {
    if (error instanceof RangeError) return 'too-large'
    return error instanceof Error && /unexpected end/.test(error.message) ? 'truncated' : 'not-readable'
  } finally {
    Error.stackTraceLimit = traceLimit
  }
}

/** Output is collected in pieces of this size at most, for each of which zlib is called anew. */
const mostChunk = 1024 * 1024

function run(format: Format, bytes: Uint8Array, maxOutputLength: number, isWhole: boolean): Buffer {
  const chunkSize = Math.min(Math.max(bytes.length * 2, 1024), mostChunk)
  const options = { maxOutputLength, chunkSize, ...(isWhole ? {} : { finishFlush: constants.Z_SYNC_FLUSH }) }
  switch (format) {
    case 'gzip':
      return gunzipSync(bytes, options)
    case 'zlib':
      return inflateSync(bytes, options)
    case 'deflate':
      return inflateRawSync(bytes, options)
    case 'brotli':
      return brotliDecompressSync(bytes, {
        maxOutputLength,
        ...(isWhole ? {} : { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
      })
    case 'zstd':
      return zstdDecompressSync(bytes, { maxOutputLength, ...(isWhole ? {} : { finishFlush: constants.ZSTD_e_flush }) })
  }
}
