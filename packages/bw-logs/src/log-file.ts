/**
 * Reads a file that a builder could have written, or put something else in the place of: a link is not followed, a FIFO does
 * not block, and whatever the file's size or its lines' lengths, one chunk at a time is in memory.
 */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '@buildwave/core'

export interface Following {
  /** Whether nothing more will be written. */
  isOver(): Promise<boolean>
  /** Ends the reading; its reason is thrown. */
  signal: AbortSignal
}

const chunkBytes = 64 * 1024
const pollMs = 300

/**
 * The file's bytes, to its end, or with `following` to the moment when nothing more comes; then the file may also appear
 * later. Throws UserError `no-log` when there is none and `not-a-file` when it is something else.
 */
export async function* readLog(path: string, following: Following | null): AsyncGenerator<Buffer> {
  let file = await openFile(path)
  let offset = 0
  try {
    for (let isLast = following === null; ; ) {
      file ??= await openFile(path)
      for (let bytes = await readAt(file, offset); bytes.length > 0; bytes = await readAt(file, offset)) {
        offset += bytes.length
        yield bytes
      }
      if (isLast) break
      // Asked before the last look, so that what was written until then is read.
      isLast = (await following?.isOver()) ?? true
      if (!isLast) await sleep(pollMs, undefined, following === null ? {} : { signal: following.signal })
    }
    if (file === null) throw new UserError('no-log', `there is no '${path}'`)
  } finally {
    await file?.close()
  }
}

/** Null when nothing is there. */
async function openFile(path: string): Promise<FileHandle | null> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    if (code === 'ELOOP' || code === 'ENXIO') throw notAFile(path, cause)
    throw new UserError('cannot-read', `cannot read '${path}'`, { cause })
  }
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw notAFile(path)
}

async function readAt(file: FileHandle | null, offset: number): Promise<Buffer> {
  if (file === null) return Buffer.alloc(0)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, offset)
  return buffer.subarray(0, bytesRead)
}

function notAFile(path: string, cause?: unknown): UserError {
  return new UserError('not-a-file', `'${path}' is not a regular file and is not opened`, {
    hint: 'the builder put it there',
    cause,
  })
}
