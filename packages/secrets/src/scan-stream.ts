/** Surfaces of any size, in pieces that overlap by more than the longest rule reads. */
import { hasMagic } from './plausible.ts'
import { type Finding, type Incomplete, type ScanOptions, type ScanResult, scanBytes } from './scan.ts'

export interface StreamOptions extends ScanOptions {
  /** Bytes of one piece. */
  readonly pieceBytes?: number
}

/** Text has no parts that must be seen together beyond the overlap; a container is opened as a whole where it fits. */
const textPiece = 4 * 1024 * 1024
const binaryPiece = 32 * 1024 * 1024

/** A private key, a web token or a wrapped encoding of one may span this. */
const overlap = 64 * 1024

/** As `scanBytes`, of chunks of any size; memory is bounded by one piece, its overlap and what is decoded from it. */
export async function scanStream(chunks: AsyncIterable<Uint8Array>, options: StreamOptions): Promise<ScanResult> {
  let piece = options.pieceBytes ?? textPiece
  const total = newTotal()
  let held: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    held.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    size += chunk.length
    if (options.pieceBytes === undefined && total.bytes === 0 && isBinary(held)) piece = binaryPiece
    while (size >= piece + overlap) {
      const bytes = join(held)
      addPiece(total, bytes.subarray(0, lastBreak(bytes, piece + overlap)), options)
      const keep = Math.min(overlap, piece)
      const rest = bytes.subarray(piece + overlap - keep)
      total.lines += countLines(bytes.subarray(0, piece + overlap - keep))
      total.bytes += piece + overlap - keep
      held = [rest]
      size = rest.length
    }
  }
  addPiece(total, join(held), options)
  return {
    findings: [...total.findings.values()],
    incomplete: [...total.incomplete.values()],
    bytes: total.bytes + size,
    work: total.work,
  }
}

/** Told as git does: a zero in the first 8,000 bytes. */
function isBinary(held: readonly Buffer[]): boolean {
  return held[0]?.subarray(0, 8000).includes(0) === true
}

/** A chunk larger than many pieces is not copied for each of them. */
function join(held: readonly Buffer[]): Buffer {
  return held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held)
}

/** The end of the last whole word before `end`: half a token would be reported beside the whole one of the next piece. */
function lastBreak(bytes: Buffer, end: number): number {
  for (let at = end; at > end - longestWord; at--) if (breaks.has(bytes[at - 1] ?? 0)) return at
  return end
}

const longestWord = 4096
const breaks: ReadonlySet<number> = new Set([0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x27])

interface Total {
  readonly findings: Map<string, Finding>
  readonly incomplete: Map<string, Incomplete>
  readonly work: { bytes: number; views: number; tries: number }
  /** Lines and bytes before the piece in hand. */
  lines: number
  bytes: number
  isContainer: boolean
}

function newTotal(): Total {
  return {
    findings: new Map(),
    incomplete: new Map(),
    work: { bytes: 0, views: 0, tries: 0 },
    lines: 0,
    bytes: 0,
    isContainer: false,
  }
}

function addPiece(total: Total, bytes: Buffer, options: ScanOptions): void {
  if (total.bytes === 0) total.isContainer = hasMagic(bytes)
  // The rest of a container means nothing by itself.
  else if (total.isContainer) note(total, { file: options.file, reason: 'limit:surface-bytes' })
  const { findings, incomplete, work } = scanBytes(bytes, options)
  for (const finding of findings) {
    if (total.findings.has(finding.secret)) continue
    total.findings.set(finding.secret, {
      ...finding,
      line: finding.line === null ? null : finding.line + total.lines,
    })
  }
  for (const entry of incomplete) note(total, entry)
  total.work.bytes += work.bytes
  total.work.views += work.views
  total.work.tries += work.tries
}

function note(total: Total, entry: Incomplete): void {
  total.incomplete.set(`${entry.reason}\0${entry.file}`, entry)
}

function countLines(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++
  return lines
}
