import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'
import { callGit, gitLine } from './call.ts'
import { nameField } from './objects.ts'
import type { Store, TreeFile } from './repo.ts'

/**
 * The tree that has these files (null: none at that path) and is `tree` (a tree or commit) otherwise. The blobs must be in
 * the store. Throws UserError `path-refused` for a path that git refuses, such as one inside `.git`.
 */
export async function treeWithFiles(
  store: Store,
  tree: string,
  files: ReadonlyMap<string, TreeFile | null>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bw-index-'))
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  try {
    await callGit(store, ['read-tree', `${tree}^{tree}`], { env })
    const lines = [...files].map(([path, file]) => {
      const zero = '0'.repeat(tree.length)
      return Buffer.concat([Buffer.from(file === null ? `0 ${zero}\t` : `${file.mode} ${file.oid}\t`), nameField(path)])
    })
    const { stderr } = await callGit(store, ['update-index', '-z', '--index-info'], {
      env,
      stdin: Buffer.concat(lines),
    })
    // git leaves such a path out and says so, with exit status 0.
    if (stderr.includes('Ignoring path')) throw new UserError('path-refused', `git refuses a path: ${stderr.trim()}`)
    return await gitLine(store, ['write-tree'], { env })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
