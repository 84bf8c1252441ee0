import { type FileHandle, open } from 'node:fs/promises'

/** A log file of at most `bytes` (and one line): its first half and its last, since a summary comes at the end. */
export interface BoundedLog {
  write: (data: Buffer) => Promise<void>
  /** Writes what was held back and closes the file. */
  close: () => Promise<void>
}

/** Makes the file anew, readable by its owner only. */
export async function openBoundedLog(path: string, bytes: number): Promise<BoundedLog> {
  const file: FileHandle = await open(path, 'w', 0o600)
  let head = Math.floor(bytes / 2)
  const tail = lastBytes(bytes - head)
  return {
    write: async (data) => {
      const first = data.subarray(0, head)
      head -= first.length
      if (first.length > 0) await file.appendFile(first)
      tail.add(data.subarray(first.length))
    },
    close: async () => {
      const { dropped, kept } = tail.take()
      if (dropped > 0) await file.appendFile(`\n[${dropped} bytes left out here]\n`)
      await file.appendFile(kept)
      await file.close()
    },
  }
}

/** Keeps the last `bytes` of what is added, whole pieces at a time while they come. */
export function lastBytes(bytes: number): {
  add: (data: Buffer) => void
  take: () => { dropped: number; kept: Buffer }
} {
  const pieces: Buffer[] = []
  let held = 0
  let dropped = 0
  return {
    add: (data) => {
      if (data.length === 0) return
      pieces.push(Buffer.from(data))
      held += data.length
      while (pieces[0] && held - pieces[0].length >= bytes) {
        held -= pieces[0].length
        dropped += pieces[0].length
        pieces.shift()
      }
    },
    take: () => {
      const all = Buffer.concat(pieces)
      const kept = all.subarray(Math.max(0, all.length - bytes))
      return { dropped: dropped + all.length - kept.length, kept }
    },
  }
}
