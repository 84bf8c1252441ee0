/**
 * Commits are written by us, byte for byte as `git commit-tree` writes them: a merge makes one an item, and starting git for it
 * would be most of its cost. The object format is git's (gitformat-loose): `commit SIZE NUL content`, deflated, under its hash.
 */
import { createHash, randomBytes } from 'node:crypto'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { Identity, Store } from './repo.ts'

/** What a new commit consists of; `date` is ISO 8601, and author and committer are the same. */
export interface NewCommit {
  /** A tree that is in the store. */
  tree: string
  parents: readonly string[]
  message: string
  identity: Identity
  date: string
}

/** Writes a commit and gives back its oid: the same oid for the same values, on any machine. Never signed. */
export async function commitTree(store: Store, commit: NewCommit): Promise<string> {
  const content = commitContent(commit)
  const raw = Buffer.concat([Buffer.from(`commit ${content.length}\0`), content])
  const oid = createHash(commit.tree.length === 64 ? 'sha256' : 'sha1')
    .update(raw)
    .digest('hex')
  await writeLoose(join(store.gitDir, 'objects', oid.slice(0, 2), oid.slice(2)), raw)
  return oid
}

function commitContent({ tree, parents, message, identity, date }: NewCommit): Buffer {
  const seconds = Math.floor(Date.parse(date) / 1000)
  if (!Number.isFinite(seconds)) throw new Error(`not a date: ${date}`)
  if (message.includes('\0')) throw new Error('a commit message cannot hold NUL')
  const who = `${signable(identity.name)} <${signable(identity.email)}> ${seconds} +0000`
  const header = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${who}`, `committer ${who}`]
  const text = message === '' || message.endsWith('\n') ? message : `${message}\n`
  return Buffer.from(`${header.join('\n')}\n\n${text.toWellFormed()}`)
}

/** As git cleans a name or address: no separators inside, no punctuation or blanks around. */
function signable(text: string): string {
  const crud = /^[\0-\x20.,:;<>"\\']+|[\0-\x20.,:;<>"\\']+$/g
  return text
    .toWellFormed()
    .replace(crud, '')
    .replace(/[<>\n]/g, '')
}

/** Whole or not at all. Not flushed to the disk by itself: git does not do that for the tree it names either. */
async function writeLoose(path: string, raw: Buffer): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  if (isThere) return
  await mkdir(dirname(path), { recursive: true })
  const fresh = join(dirname(path), `tmp_obj_${randomBytes(6).toString('hex')}`)
  try {
    await writeFile(fresh, await promisify(deflate)(raw), { flag: 'wx', mode: 0o444 })
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
}
