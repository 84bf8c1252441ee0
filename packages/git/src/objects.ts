import { UserError } from '@buildwave/core'
import { callGit, gitLine } from './call.ts'
import { encodeFileName } from './file-name.ts'
import type { Repo, Store } from './repo.ts'

export interface GitObject {
  oid: string
  type: 'blob' | 'tree' | 'commit' | 'tag'
  content: Buffer
}

/** Stores the bytes as they are (no filter, no line-end conversion) and gives back the blob's oid. */
export async function writeBlob(store: Store, content: Buffer): Promise<string> {
  return gitLine(store, ['hash-object', '-w', '--no-filters', '--stdin'], { stdin: content })
}

/** The bytes of a blob. Throws UserError `object-unusable` (status 4) when it is missing, broken or not a blob. */
export async function readBlob(repo: Repo, oid: string): Promise<Buffer> {
  const [found] = await readObjects(repo, [oid])
  if (found?.type !== 'blob') throw unusableObject(oid, 'is not a blob')
  return found.content
}

/** The parents of a commit, first parent first. */
export async function commitParents(repo: Repo, commit: string): Promise<string[]> {
  return headerValues(await readCommit(repo, commit), 'parent')
}

/** The tree of a commit. */
export async function commitTreeOid(repo: Repo, commit: string): Promise<string> {
  const [tree] = headerValues(await readCommit(repo, commit), 'tree')
  if (tree === undefined) throw unusableObject(commit, 'has no tree')
  return tree
}

/**
 * The objects of these oids, in this order. Throws UserError `object-unusable` (status 4) that names the first one that
 * is missing or broken.
 */
export async function readObjects(repo: Repo, oids: readonly string[]): Promise<GitObject[]> {
  const found = await readNamed(
    repo,
    oids.map((oid) => Buffer.from(oid)),
  )
  return found.map((object, n) => {
    if (object === null) throw unusableObject(oids[n] ?? '', 'is missing')
    return object
  })
}

/** The objects that these names (`oid`, `oid:path`) stand for, null for each that there is not. */
export async function readNamed(repo: Repo, names: readonly Buffer[]): Promise<(GitObject | null)[]> {
  if (names.length === 0) return []
  const stdin = Buffer.concat(names.flatMap((name) => [name, Buffer.of(0)]))
  let bytes: Buffer
  try {
    bytes = (await callGit(repo, ['cat-file', '--batch', '-z'], { stdin })).stdout
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
    throw new UserError('object-unusable', `an object cannot be used: ${error.message}`, { status: 4, cause: error })
  }
  let at = 0
  return names.map((name) => {
    const entry = parseEntry(bytes, at, name)
    at = entry.next
    return entry.object
  })
}

/** One answer of `cat-file --batch`: `oid type size LF content LF`, or `name missing LF`. */
function parseEntry(bytes: Buffer, at: number, name: Buffer): { object: GitObject | null; next: number } {
  const missing = Buffer.concat([name, Buffer.from(' missing\n')])
  if (bytes.subarray(at, at + missing.length).equals(missing)) return { object: null, next: at + missing.length }
  const end = bytes.indexOf(0x0a, at)
  const header = /^([0-9a-f]{40,64}) (blob|tree|commit|tag) (\d+)$/.exec(bytes.subarray(at, end).toString('latin1'))
  if (header === null) throw unusableObject(name.toString('utf8'), 'cannot be read')
  const [, oid = '', type, size] = header
  const from = end + 1
  const next = from + Number(size) + 1
  if (next > bytes.length) throw unusableObject(oid, 'is cut short')
  return { object: { oid, type: type as GitObject['type'], content: bytes.subarray(from, next - 1) }, next }
}

async function readCommit(repo: Repo, oid: string): Promise<Buffer> {
  const [found] = await readObjects(repo, [oid])
  if (found?.type !== 'commit') throw unusableObject(oid, 'is not a commit')
  return found.content
}

/** The values of a header field of a raw commit. */
export function headerValues(commit: Buffer, field: string): string[] {
  const end = commit.indexOf('\n\n')
  const lines = commit
    .subarray(0, end === -1 ? commit.length : end)
    .toString('utf8')
    .split('\n')
  return lines.filter((line) => line.startsWith(`${field} `)).map((line) => line.slice(field.length + 1))
}

export function unusableObject(oid: string, why: string): UserError {
  return new UserError('object-unusable', `object '${oid}' ${why}`, {
    status: 4,
    hint: 'the store of this run is damaged; run the item again with --again',
  })
}

/** `path` as git reads it on stdin of a `-z` command. */
export function nameField(path: string): Buffer {
  return Buffer.concat([encodeFileName(path), Buffer.of(0)])
}
