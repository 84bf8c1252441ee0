import { chmod, lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'

/**
 * Removes a folder and all in it; links are removed, never followed. Nothing may still write there. What a builder made
 * unreadable is opened first. No error when it is gone already; UserError `cannot-remove` when something stays.
 */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'ENOTEMPTY') throw cannotRemove(folder, error)
    await openFolders(folder)
    await rm(folder, { recursive: true, force: true }).catch((cause: unknown) => {
      throw cannotRemove(folder, cause)
    })
  }
}

/** Gives the owner every right on the folders, so that their entries can be removed. */
async function openFolders(folder: string): Promise<void> {
  const stat = await lstat(folder).catch(() => null)
  if (stat?.isDirectory() !== true) return
  await chmod(folder, 0o700).catch(() => undefined)
  for (const name of await readdir(folder).catch(() => [])) await openFolders(join(folder, name))
}

function cannotRemove(folder: string, cause: unknown): UserError {
  const path = (cause as NodeJS.ErrnoException).path ?? folder
  return new UserError('cannot-remove', `cannot remove '${path}'`, {
    cause,
    hint: 'is it yours? run the same line again',
  })
}
