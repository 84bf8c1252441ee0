import { createHash } from 'node:crypto'
import { UserError } from '@buildwave/core'
import { type Change, listChanges } from './changes.ts'
import { encodeFileName } from './file-name.ts'
import { headerValues, readObjects, unusableObject } from './objects.ts'
import type { Repo } from './repo.ts'

/**
 * sha256 (hex) of what a patch consists of: the raw commit object, then for each path that differs from its first parent, in
 * order of bytes: path, modes, oid and content of the new blob. Content counts although the oid names it, since git does
 * not compare the two when it reads a loose object. Throws UserError `object-unusable` (status 4) that names what is missing or broken.
 */
export async function patchDigest(repo: Repo, commit: string): Promise<string> {
  return digestOf(repo, commit, await readRawCommit(repo, commit))
}

/**
 * The parents of a patch that still is what it was when it was collected. Throws UserError (status 4) otherwise: `patch-changed`
 * when its digest differs, `object-unusable` when something of it, or its start, is missing or broken.
 */
export async function checkPatch(repo: Repo, commit: string, digest: string): Promise<string[]> {
  const raw = await readRawCommit(repo, commit)
  if ((await digestOf(repo, commit, raw)) !== digest) throw changedPatch(commit)
  return headerValues(raw, 'parent')
}

/** The error of a patch that is not what was collected. */
export function changedPatch(commit: string): UserError {
  return new UserError('patch-changed', `patch '${commit}' is not what was collected`, {
    status: 4,
    hint: 'the store of this run is damaged; run the item again with --again',
  })
}

async function readRawCommit(repo: Repo, commit: string): Promise<Buffer> {
  const [raw] = await readObjects(repo, [commit])
  if (raw?.type !== 'commit') throw unusableObject(commit, 'is not a commit')
  return raw.content
}

async function digestOf(repo: Repo, commit: string, raw: Buffer): Promise<string> {
  const changes = await changesOf(repo, commit, raw)
  const hash = createHash('sha256').update(`commit ${raw.length}\0`).update(raw)
  const contents = await newContents(repo, changes)
  for (const change of changes) {
    const to = change.to
    hash
      .update(encodeFileName(change.path))
      .update(`\0${change.from?.mode ?? '-'} ${to?.mode ?? '-'} ${to?.oid ?? '-'}\0`)
    const content = to === null ? undefined : contents.get(to.oid)
    hash.update(`${content?.length ?? '-'}\0`)
    if (content !== undefined) hash.update(content)
  }
  return hash.digest('hex')
}

async function changesOf(repo: Repo, commit: string, raw: Buffer): Promise<Change[]> {
  const [parent] = headerValues(raw, 'parent')
  const [tree] = headerValues(raw, 'tree')
  if (tree === undefined) throw unusableObject(commit, 'has no tree')
  if (parent === undefined) throw unusableObject(commit, 'has no parent')
  try {
    return await listChanges(repo, parent, tree)
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
    throw new UserError('object-unusable', `patch '${commit}' cannot be read: ${error.message}`, {
      status: 4,
      cause: error,
    })
  }
}

/** Contents by oid of the blobs that the new side holds. */
async function newContents(repo: Repo, changes: readonly Change[]): Promise<Map<string, Buffer>> {
  const blobs = changes.flatMap(({ to }) => (to === null || to.mode === '160000' ? [] : [to.oid]))
  const found = await readObjects(repo, [...new Set(blobs)])
  return new Map(found.map((object) => [object.oid, object.content]))
}
