import { createHash } from 'node:crypto'
import { UserError } from '@buildwave/core'
import { encodeFileName } from './file-name.ts'
import { type ObjectReader, objectReader } from './object-reader.ts'
import { headerValues, unusableObject } from './objects.ts'
import type { Repo } from './repo.ts'
import { diffTrees } from './tree-diff.ts'

/**
 * sha256 (hex) of what a patch consists of: the raw commit object, then for each path that differs from its first parent, as
 * the trees list them: path, modes, oid and content of the new blob. Content counts although the oid names it, since git does
 * not compare the two when it reads a loose object. Throws UserError `object-unusable` (status 4) that names what is missing or broken.
 */
export async function patchDigest(repo: Repo, commit: string): Promise<string> {
  return withReader(repo, async (reader) => (await readPatch(reader, commit)).digest)
}

/**
 * The parents of a patch that still is what it was when it was collected. Throws UserError (status 4) otherwise: `patch-changed`
 * when its digest differs, `object-unusable` when something of it, or its start, is missing or broken.
 */
export async function checkPatch(repo: Repo, commit: string, digest: string): Promise<string[]> {
  return withReader(repo, (reader) => checkPatchWith(reader, commit, digest))
}

/** `checkPatch` through a reader that is open already. */
export async function checkPatchWith(reader: ObjectReader, commit: string, digest: string): Promise<string[]> {
  const patch = await readPatch(reader, commit)
  if (patch.digest !== digest) throw changedPatch(commit)
  return patch.parents
}

/** The error of a patch that is not what was collected. */
export function changedPatch(commit: string): UserError {
  return new UserError('patch-changed', `patch '${commit}' is not what was collected`, {
    status: 4,
    hint: 'the store of this run is damaged; run the item again with --again',
  })
}

async function withReader<T>(repo: Repo, ask: (reader: ObjectReader) => Promise<T>): Promise<T> {
  const reader = objectReader(repo)
  try {
    return await ask(reader)
  } finally {
    reader.close()
  }
}

async function readPatch(reader: ObjectReader, commit: string): Promise<{ digest: string; parents: string[] }> {
  const raw = await readCommit(reader, commit)
  const [tree] = headerValues(raw, 'tree')
  const parents = headerValues(raw, 'parent')
  const [parent] = parents
  if (tree === undefined || parent === undefined) throw unusableObject(commit, 'has no tree or no parent')
  const [start] = headerValues(await readCommit(reader, parent), 'tree')
  const hash = createHash('sha256').update(`commit ${raw.length}\0`).update(raw)
  for (const { path, from, to } of await diffTrees(reader, start ?? null, tree)) {
    hash.update(encodeFileName(path)).update(`\0${from?.mode ?? '-'} ${to?.mode ?? '-'} ${to?.oid ?? '-'}\0`)
    if (to === null || to.mode === '160000') continue
    const [blob] = await reader.read([to.oid])
    const content = blob?.content ?? Buffer.alloc(0)
    hash.update(`${content.length}\0`).update(content)
  }
  return { digest: hash.digest('hex'), parents }
}

async function readCommit(reader: ObjectReader, oid: string): Promise<Buffer> {
  const [commit] = await reader.read([oid])
  if (commit?.type !== 'commit') throw unusableObject(oid, 'is not a commit')
  return commit.content
}
