import { UserError } from '@buildwave/core'
import { type Dialogue, openDialogue } from './dialogue.ts'
import { movedRef, readRef } from './refs.ts'
import type { Store } from './repo.ts'

/** Moves refs of one store through one git process. */
export interface RefWriter {
  /** As `updateRef`; null for `old` means that the ref must not exist. */
  update(ref: string, next: string, old: string | null): Promise<void>
  close(): void
}

/** Opens nothing yet. Updates must not overlap. */
export function refWriter(store: Store): RefWriter {
  let git: Dialogue | undefined
  const close = () => {
    git?.close()
    git = undefined
  }
  return {
    close,
    async update(ref, next, old) {
      git ??= openDialogue(store, ['update-ref', '--no-deref', '--stdin'])
      const zero = '0'.repeat(next.length)
      try {
        git.say(Buffer.from(`start\nupdate ${ref} ${next} ${old ?? zero}\ncommit\n`))
        for (const expected of ['start: ok', 'commit: ok']) await expectLine(git, expected)
      } catch (error) {
        close()
        const now = await readRef(store, ref)
        throw now === old ? error : movedRef(ref, { now, old, cause: error })
      }
    },
  }
}

async function expectLine(git: Dialogue, expected: string): Promise<void> {
  const line = (await git.line()).toString('utf8')
  if (line !== expected) throw new UserError('git-failed', `'git update-ref' said '${line}'`)
}
