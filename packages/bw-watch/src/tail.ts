/**
 * Follows a file that a builder writes. Lines are hostile: one that is longer than the bound is cut, and what is read at
 * once is bounded too, so memory stays flat whatever is written.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

/** Longest line handed on; an agent's longest measured line had 40 kB. */
const maxLine = 1024 * 1024
const chunkBytes = 256 * 1024

export interface Tail {
  /** The whole lines that came since the last call. */
  read(): string[]
  /** The last line, if it has no line end. */
  rest(): string[]
  /** Bytes read so far. */
  size(): number
  close(): void
}

/** Opens `path` for following, now or as soon as it is there. A link is not followed: a builder may have made it. */
export function tailFile(path: string): Tail {
  let fd: number | undefined
  let offset = 0
  let partial = ''
  const decoder = new StringDecoder('utf8')
  const chunk = Buffer.alloc(chunkBytes)

  function open(): number | undefined {
    try {
      // O_RDONLY | O_NOFOLLOW | O_NONBLOCK: neither a link nor a FIFO made by a builder can lead or block us.
      const opened = openSync(path, 0o400000 | 0o4000)
      if (fstatSync(opened).isFile()) return opened
      closeSync(opened)
    } catch {
      // Not there yet.
    }
    return undefined
  }

  function read(): string[] {
    fd ??= open()
    if (fd === undefined) return []
    const lines: string[] = []
    for (let count = next(); count > 0; count = next()) {
      offset += count
      take(decoder.write(chunk.subarray(0, count)), lines)
      if (lines.length > 10_000) break
    }
    return lines
  }

  function next(): number {
    return fd === undefined ? 0 : readSync(fd, chunk, 0, chunk.length, offset)
  }

  function take(text: string, lines: string[]): void {
    const parts = text.split('\n')
    const last = parts.pop() ?? ''
    for (const part of parts) {
      lines.push((partial + part).slice(0, maxLine))
      partial = ''
    }
    if (partial.length < maxLine) partial += last
  }

  return {
    read,
    rest: () => (partial === '' ? [] : [partial.slice(0, maxLine)]),
    size: () => offset,
    close: () => void (fd !== undefined && closeSync(fd)),
  }
}
