/**
 * The journal of a run: one append-only NDJSON file that every stage writes to and reads from. A line is one `write`
 * followed by fsync, so a kill leaves at most one torn line at the end; the next append closes it with a line end, and
 * reading passes over it. Several processes append at once: O_APPEND makes each whole-line write land whole.
 */
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { UserError } from '@buildwave/core'

export interface JournalRecord {
  kind: string
  [field: string]: unknown
}

export interface Journal {
  /** Everything read so far, in order; `refresh` reads what was added since. */
  records(): readonly JournalRecord[]
  refresh(): readonly JournalRecord[]
  append(record: JournalRecord): void
  close(): void
  /** How many lines could not be read: torn by a kill in the middle of a write. */
  tornLines(): number
}

const newline = 0x0a

/** Opens (and with `create` makes, mode 600) the journal. Throws UserError `cannot-open-journal`. */
export function openJournal(path: string, { create }: { create: boolean }): Journal {
  const flags = constants.O_RDWR | constants.O_APPEND | (create ? constants.O_CREAT : 0)
  let fd: number
  try {
    fd = openSync(path, flags, 0o600)
  } catch (cause) {
    throw new UserError('cannot-open-journal', `cannot open journal '${path}'`, { cause })
  }
  const records: JournalRecord[] = []
  let offset = 0
  let torn = 0

  function refresh(): readonly JournalRecord[] {
    const added: JournalRecord[] = []
    const bytes = readFrom(fd, offset)
    let start = 0
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, start)) {
      const record = parseLine(bytes.toString('utf8', start, at))
      if (record === undefined) torn++
      else if (record !== 'blank') added.push(record)
      start = at + 1
    }
    offset += start
    records.push(...added)
    return added
  }

  refresh()
  return {
    records: () => records,
    refresh,
    append(record) {
      const line = `${isTorn(fd) ? '\n' : ''}${JSON.stringify(record)}\n`
      const bytes = Buffer.from(line)
      const written = writeSync(fd, bytes)
      if (written !== bytes.length)
        throw new UserError('disk-full', `cannot write journal '${path}': ${written} of ${bytes.length} bytes`)
      fsyncSync(fd)
    },
    close: () => closeSync(fd),
    tornLines: () => torn,
  }
}

function readFrom(fd: number, offset: number): Buffer {
  const size = fstatSync(fd).size
  const bytes = Buffer.alloc(Math.max(0, size - offset))
  let filled = 0
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, offset + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

function isTorn(fd: number): boolean {
  const size = fstatSync(fd).size
  if (size === 0) return false
  const last = Buffer.alloc(1)
  readSync(fd, last, 0, 1, size - 1)
  return last[0] !== newline
}

function parseLine(text: string): JournalRecord | 'blank' | undefined {
  if (text.trim() === '') return 'blank'
  try {
    const value: unknown = JSON.parse(text)
    const isRecord = typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string'
    return isRecord ? (value as JournalRecord) : undefined
  } catch {
    return undefined
  }
}
