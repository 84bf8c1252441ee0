import { UserError } from '@buildwave/core'
import { type Dialogue, openDialogue } from './dialogue.ts'
import { type GitObject, unusableObject } from './objects.ts'
import type { Repo } from './repo.ts'

/** Reads objects of one repository through one git process. */
export interface ObjectReader {
  /**
   * The objects of these oids, in this order. Throws UserError `object-unusable` (status 4) that names the first one that is
   * missing or broken.
   */
  read(oids: readonly string[]): Promise<GitObject[]>
  /** Ends the process; reading again starts another. */
  close(): void
}

/** Opens nothing yet. Reads must not overlap. */
export function objectReader(repo: Repo): ObjectReader {
  let git: Dialogue | undefined
  const close = () => {
    git?.close()
    git = undefined
  }
  return {
    close,
    async read(oids) {
      const found: GitObject[] = []
      try {
        // One at a time: with many questions ahead, git and we could both wait for the other to read.
        for (const oid of oids) {
          git ??= openDialogue(repo, ['cat-file', '--batch'])
          git.say(Buffer.from(`${oid}\n`))
          found.push(await readAnswer(git, oid))
        }
      } catch (error) {
        close()
        if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
        const oid = oids[found.length] ?? ''
        throw new UserError('object-unusable', `object '${oid}' cannot be read: ${error.message}`, {
          status: 4,
          cause: error,
        })
      }
      return found
    },
  }
}

/** `oid type size LF content LF`, or `oid missing LF`. */
async function readAnswer(git: Dialogue, oid: string): Promise<GitObject> {
  const header = (await git.line()).toString('latin1')
  if (header === `${oid} missing`) throw unusableObject(oid, 'is missing')
  const [, type, size] = /^[0-9a-f]+ (blob|tree|commit|tag) (\d+)$/.exec(header) ?? []
  if (type === undefined || size === undefined) throw unusableObject(oid, 'cannot be read')
  const content = await git.bytes(Number(size))
  await git.bytes(1)
  return { oid, type: type as GitObject['type'], content }
}
