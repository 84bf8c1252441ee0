import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UserError } from '@buildwave/core'
import { callGit, type GitStream, type Owner } from './call.ts'
import { isRefName, readRef, refConflicts, writeRef } from './refs.ts'
import type { Repo, Source, Store } from './repo.ts'
import { packHistory } from './transfer.ts'

export interface Delivery {
  /** Full name, `refs/heads/…`. */
  ref: string
  oid: string
  /** A commit that the source had when the run began: what it still has whole is not sent again. */
  base: string
}

/**
 * Gives the user's repository the history of `oid` and one new ref, and writes nothing else there: no hook runs, no
 * reflog, FETCH_HEAD, config, index or gc. What root writes belongs to the owner of the repository. Gives back false
 * when the ref was there with this oid. Throws UserError `ref-exists` when it holds another, `ref-conflict` when other
 * refs are in its way, `ref-name`, and `source-read-only`.
 */
export async function deliverRef(source: Source, store: Store, delivery: Delivery): Promise<boolean> {
  const { ref, oid } = delivery
  if (await isThere(source, delivery)) return false
  const owner = await ownerOf(source)
  try {
    await sendObjects(source, store, { ...delivery, owner })
    await writeRef(source, ref, { next: oid, old: null, owner })
  } catch (error) {
    // Somebody may have made the ref, or one in its way, since we looked.
    if (await isThere(source, delivery)) return false
    throw deliveryError(error, source)
  }
  return true
}

/** Throws whatever stands in the way of `ref`; true when it is there as it should be. */
async function isThere(source: Source, { ref, oid }: Delivery): Promise<boolean> {
  if (!(await isRefName(ref))) throw new UserError('ref-name', `'${ref}' is not a name for a ref`)
  const now = await readRef(source, ref)
  if (now === oid) return true
  const branch = ref.replace(/^refs\/heads\//, '')
  if (now !== null) {
    throw new UserError('ref-exists', `'${branch}' is there and holds ${now}`, {
      hint: `look at it, then rename it (git branch -m ${branch} NAME) or deliver under another --run`,
    })
  }
  const [other] = await refConflicts(source, ref)
  if (other !== undefined) {
    throw new UserError('ref-conflict', `'${branch}' cannot be made beside '${other}'`, {
      hint: `rename that one: git branch -m ${other.replace(/^refs\/heads\//, '')} NAME`,
    })
  }
  return false
}

async function sendObjects(
  source: Source,
  store: Store,
  delivery: Delivery & { owner: Owner | undefined },
): Promise<void> {
  const { oid, base, owner } = delivery
  if (await isComplete(source, oid)) return
  const not = base !== oid && (await isComplete(source, base)) ? [base] : []
  await withSpooledPack(store, packHistory(store, [oid], not), (pack) =>
    callGit(source, ['index-pack', '--stdin', '--fix-thin'], { stdin: pack, transfer: true, owner }),
  )
  if (!(await isComplete(source, oid))) {
    throw new UserError('delivery-incomplete', `'${source.top}' did not take all objects of ${oid}`, { status: 4 })
  }
}

/** The pack is whole before the first byte goes out: git leaves a half-written one behind in the receiver. */
async function withSpooledPack(
  store: Store,
  pack: GitStream,
  send: (pack: Readable) => Promise<unknown>,
): Promise<void> {
  const folder = await mkdtemp(join(store.gitDir, 'outgoing-'))
  try {
    const path = join(folder, 'pack')
    await Promise.all([pipeline(pack.stdout, createWriteStream(path)), pack.ended])
    await send(createReadStream(path))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Whether a repository has everything that a commit reaches, judged as `git fetch` does: down to what its refs hold. */
async function isComplete(repo: Repo, oid: string): Promise<boolean> {
  const args = ['rev-list', '--objects', '--quiet', oid, '--not', '--all', '--']
  return (await callGit(repo, args, { answers: [0, 1, 128] })).status === 0
}

/** The owner to write as, when we are root and the repository is somebody else's: their git must be able to go on. */
async function ownerOf(source: Source): Promise<Owner | undefined> {
  const { uid, gid } = await stat(source.gitDir)
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined
}

function deliveryError(error: unknown, source: Source): unknown {
  if (
    !(error instanceof UserError) ||
    !/ermission denied|ead-only file system|insufficient permission/.test(error.message)
  ) {
    return error
  }
  return new UserError('source-read-only', `cannot write to '${source.gitDir}'`, {
    hint: 'deliver as the user who owns the repository',
    cause: error,
  })
}
