import { PassThrough } from 'node:stream'
import { UserError } from '@buildwave/core'
import { type GitStream, streamGit } from './call.ts'
import type { Repo } from './repo.ts'

/**
 * A git process that is asked many times; starting one for each question costs more than the answer. It ends with us, whatever
 * ends us, since its stdin ends.
 */
export interface Dialogue {
  say(bytes: Uint8Array): void
  /** The next line, without its end. Throws UserError when the process ends first. */
  line(): Promise<Buffer>
  /** The next so many bytes. */
  bytes(count: number): Promise<Buffer>
  close(): void
}

export function openDialogue(repo: Repo, args: readonly string[]): Dialogue {
  const input = new PassThrough()
  const git = streamGit(repo, args, { stdin: input, isDialogue: true })
  const answers = git.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held: Buffer = Buffer.alloc(0)

  /** Takes in what came; a large answer is put together once, not at each piece. */
  async function fill(wanted: number): Promise<void> {
    const pieces = [held]
    for (let size = held.length; size < wanted; size = sizeOf(pieces)) {
      const { value, done } = await answers.next()
      if (done === true) throw await whyEnded(git, args)
      pieces.push(value)
    }
    held = Buffer.concat(pieces)
  }

  function take(count: number, skipped = 0): Buffer {
    const taken = held.subarray(0, count)
    held = held.subarray(count + skipped)
    return taken
  }

  return {
    say: (bytes) => void input.write(bytes),
    async line() {
      let end = held.indexOf(0x0a)
      while (end === -1) {
        await fill(held.length + 1)
        end = held.indexOf(0x0a)
      }
      return take(end, 1)
    },
    async bytes(count) {
      if (held.length < count) await fill(count)
      return take(count)
    },
    close() {
      input.end()
      git.stdout.resume()
    },
  }
}

async function whyEnded(git: GitStream, args: readonly string[]): Promise<unknown> {
  return git.ended.then(
    () => new UserError('git-failed', `'git ${args[0]}' ended early`),
    (error: unknown) => error,
  )
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((size, piece) => size + piece.length, 0)
}
