/**
 * NDJSON framing. Lines end at byte 0x0A only and are decoded whole, so that a character split over two chunks, a lone CR
 * or U+2028 inside a string changes nothing.
 */
import { StringDecoder } from 'node:string_decoder'
import { UserError } from '@buildwave/core'

/** Longest line that is read, from the protocol. */
export const maxLineBytes = 16 * 1024 * 1024

export interface AnyRecord {
  kind: string
  [field: string]: unknown
}

export interface RecordLine {
  /** The line as it came, without its line end. */
  line: string
  record: AnyRecord
  number: number
}

const newline = 0x0a

/** Splits a byte stream into lines; a last line without LF counts. Throws UserError `line-too-long`. */
export async function* readLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  let held: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    let bytes =
      typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline)) {
      held.push(bytes.subarray(0, at))
      guardSize(size + at)
      yield decodeLine(held)
      held = []
      size = 0
      bytes = bytes.subarray(at + 1)
    }
    if (bytes.length > 0) {
      held.push(bytes)
      size += bytes.length
      guardSize(size)
    }
  }
  if (size > 0) yield decodeLine(held)
}

function guardSize(size: number): void {
  if (size > maxLineBytes) throw new UserError('line-too-long', `a line is longer than ${maxLineBytes} bytes`)
}

function decodeLine(parts: Buffer[]): string {
  const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts)
  const decoder = new StringDecoder('utf8')
  const text = bytes === undefined ? '' : decoder.write(bytes) + decoder.end()
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

/** Reads records; blank lines and one byte order mark are passed over. Throws UserError `not-a-record` with the line. */
export async function* readRecords(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<RecordLine> {
  let number = 0
  for await (const raw of readLines(input)) {
    number++
    const line = number === 1 && raw.startsWith('\ufeff') ? raw.slice(1) : raw
    if (line.trim() === '') continue
    yield { line, record: parseRecord(line, number), number }
  }
}

/** One line as a record: an object with a string `kind`. */
export function parseRecord(line: string, number: number): AnyRecord {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw new UserError('not-a-record', `line ${number}: not JSON`, {
      cause,
      hint: 'the input is one JSON object a line',
    })
  }
  if (!isRecord(value))
    throw new UserError('not-a-record', `line ${number}: not a record`, {
      hint: "a record is an object with a string 'kind'",
    })
  return value
}

function isRecord(value: unknown): value is AnyRecord {
  return typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string'
}
