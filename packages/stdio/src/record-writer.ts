import { once } from 'node:events'
import type { Writable } from 'node:stream'
import ndjson from 'ndjson'
import type { AnyRecord } from './record-lines.ts'

export interface RecordWriter {
  /** Writes one record of ours. Resolves when the stream takes more; false when the reader is gone. */
  write(record: AnyRecord): Promise<boolean>
  /** Writes a line that was read, unchanged. */
  pass(line: string, record: AnyRecord): Promise<boolean>
  /** Resolves once everything written so far has left this process, or the reader is gone. */
  drained(): Promise<void>
  /** True once the reader has gone away. */
  isGone(): boolean
  onGone(listener: () => void): void
}

/** How a record is shown when stdout is a terminal; undefined: not at all. */
export type ShowRecord = (record: AnyRecord) => string | undefined

/** A writer over stdout: records in a pipe, one text line a record when `show` is given. Back-pressure is awaited. */
export function recordWriter(stdout: Writable, show?: ShowRecord): RecordWriter {
  let gone = false
  const listeners: (() => void)[] = []
  const lines = ndjson.stringify()
  const leave = () => {
    if (gone) return
    gone = true
    for (const listener of listeners) listener()
  }
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    leave()
  })
  stdout.on('close', leave)

  async function put(text: string): Promise<boolean> {
    if (gone) return false
    if (!stdout.write(text)) await Promise.race([once(stdout, 'drain').catch(() => undefined), whenGone()])
    return !gone
  }
  function whenGone(): Promise<void> {
    return new Promise((resolve) => (gone ? resolve() : listeners.push(resolve)))
  }
  function serialise(record: AnyRecord): string {
    lines.write(record)
    return String(lines.read())
  }
  return {
    write: (record) => (show === undefined ? put(serialise(record)) : showText(record)),
    pass: (line, record) => (show === undefined ? put(`${line}\n`) : showText(record)),
    isGone: () => gone,
    onGone: (listener) => void (gone ? listener() : listeners.push(listener)),
    drained: () =>
      gone
        ? Promise.resolve()
        : Promise.race([new Promise<void>((resolve) => stdout.write('', () => resolve())), whenGone()]),
  }
  async function showText(record: AnyRecord): Promise<boolean> {
    const text = show?.(record)
    return text === undefined ? !gone : put(`${text}\n`)
  }
}
