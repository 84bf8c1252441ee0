import { lstat, readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { UserError } from '@buildwave/core'

/** A file as it would stand in a tree. */
export interface ReadFile {
  mode: '100644' | '100755' | '120000'
  content: Buffer
}

/** The paths of all files and links below `folder`. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

/**
 * The file at `path` below `folder`, null when it is gone; of a link its target. Throws UserError `not-a-file`, also when a
 * folder on the way is a link: nothing outside is read.
 */
export async function readResolved(folder: string, path: string): Promise<ReadFile | null> {
  const place = join(folder, path)
  const found = await lstat(place).catch(() => null)
  if (found === null) return null
  const isInside = (await realpath(dirname(place))) === join(await realpath(folder), dirname(path))
  if (found.isSymbolicLink() && isInside) return { mode: '120000', content: await readlink(place, 'buffer') }
  if (!found.isFile() || !isInside) throw new UserError('not-a-file', `'${place}' is not a file`)
  return { mode: (found.mode & 0o100) === 0 ? '100644' : '100755', content: await readFile(place) }
}
