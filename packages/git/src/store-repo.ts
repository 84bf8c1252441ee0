import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { callGit } from './call.ts'
import type { Store } from './repo.ts'

/**
 * Switches every attribute off, above what a tree's own `.gitattributes` says: nothing is converted, left out of an
 * archive, or merged by another driver because a builder wrote such a file.
 */
const noAttributes =
  '* !text !eol !crlf !ident !filter !working-tree-encoding !diff !merge !conflict-marker-size !whitespace !export-ignore !export-subst !delta\n'

/**
 * Makes the bare repository of a run in `dir`, or opens the one that is there. Several processes may call it at once:
 * whoever is first wins, and nobody ever sees half a repository.
 */
export async function initStore(dir: string, objectFormat: 'sha1' | 'sha256' = 'sha1'): Promise<Store> {
  const gitDir = resolve(dir)
  if (await exists(join(gitDir, 'HEAD'))) return { gitDir }
  await mkdir(dirname(gitDir), { recursive: true, mode: 0o700 })
  const made = await mkdtemp(`${gitDir}.new-`)
  try {
    await callGit(null, [
      'init',
      '--quiet',
      '--bare',
      '--template=',
      `--object-format=${objectFormat}`,
      '--initial-branch=main',
      made,
    ])
    await mkdir(join(made, 'info'), { recursive: true })
    await writeFile(join(made, 'info', 'attributes'), noAttributes)
    await rename(made, gitDir)
  } catch (error) {
    await rm(made, { recursive: true, force: true })
    if (!(await exists(join(gitDir, 'HEAD')))) throw error
  }
  return { gitDir }
}

/** A handle on a store that `initStore` made; touches nothing. */
export function openStore(dir: string): Store {
  return { gitDir: resolve(dir) }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
