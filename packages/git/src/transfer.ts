import { access, appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UserError } from '@buildwave/core'
import { callGit, type GitStream, gitLine, streamGit } from './call.ts'
import type { Repo, Source, Store } from './repo.ts'

/** The most that one attempt may hand over: 1 GiB of pack. */
export const maxPackBytes = 2 ** 30

/**
 * Copies the history of `oid`, and nothing else, from the user's repository into the store, without a transport and so
 * without network. Of a shallow source the store becomes as shallow. Doing it again is free. Throws UserError
 * `history-unusable` when objects are missing there (a partial clone, say).
 */
export async function importCommit(store: Store, source: Source, oid: string): Promise<void> {
  if (await isImported(store, oid)) return
  if (source.shallow) await copyBoundary(store, source, oid)
  const pack = packHistory(source, [oid], [])
  try {
    await callGit(store, ['index-pack', '--stdin'], { stdin: pack.stdout, transfer: true })
    await pack.ended
  } catch (error) {
    pack.kill()
    const cause = await pack.ended.then(
      () => error,
      (reason: unknown) => reason,
    )
    throw new UserError('history-unusable', `cannot read all of commit '${oid}' in '${source.top}'`, {
      status: 4,
      hint: 'git fsck there says what is missing; a partial clone needs git fetch --refetch',
      cause,
    })
  }
}

/**
 * A bundle with the histories of `oids` (first one also as HEAD, each as `refs/bw/<oid>`), less what is reachable from `not`,
 * for git in a container. A shallow history stays shallow: the receiver needs `shallowBoundary` as its `shallow` file.
 */
export function bundle(store: Store, oids: readonly string[], options: { not?: readonly string[] } = {}): GitStream {
  const not = options.not ?? []
  const pack = packHistory(store, oids, not)
  const stdout = new PassThrough()
  stdout.write(bundleHeader(oids, not))
  const ended = pipeline(pack.stdout, stdout).then(() => pack.ended)
  ended.catch(() => undefined)
  stdout.on('error', () => undefined)
  return { stdout, ended, kill: pack.kill }
}

/** The commits at which a shallow store's history stops; empty for a whole one. */
export async function shallowBoundary(repo: Repo): Promise<string[]> {
  const path = await gitLine(repo, ['rev-parse', '--git-path', 'shallow'])
  const text = await readFile(path, 'latin1').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

/**
 * Takes a pack from somebody not trusted. It is checked in a place of its own (format, every object by fsck, every link to
 * an object that is in the pack or in the store) and joins the store whole or not at all. Nothing refers to it then:
 * that is for the caller, with `updateRef`. Throws UserError `pack-unusable` (status 4), also above `maxBytes`.
 */
export async function takePack(store: Store, stream: Readable, options: { maxBytes?: number } = {}): Promise<void> {
  const objects = join(store.gitDir, 'objects')
  const quarantine = await mkdtemp(join(objects, 'incoming-'))
  try {
    await mkdir(join(quarantine, 'pack'))
    const limit = `--max-input-size=${options.maxBytes ?? maxPackBytes}`
    await callGit(store, ['index-pack', '--stdin', '--fix-thin', '--strict', limit], {
      stdin: stream,
      transfer: true,
      env: { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(objects) },
    })
    await movePack(join(quarantine, 'pack'), join(objects, 'pack'))
  } catch (error) {
    stream.destroy()
    if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
    throw new UserError('pack-unusable', `objects cannot be taken over: ${error.message}`, { status: 4, cause: error })
  } finally {
    await rm(quarantine, { recursive: true, force: true })
  }
}

/** `pack-objects` over the histories of `oids` without those of `not`. */
export function packHistory(repo: Repo, oids: readonly string[], not: readonly string[]): GitStream {
  const revs = [...oids, ...not.map((oid) => `^${oid}`)].map((line) => `${line}\n`).join('')
  const args = [
    'pack-objects',
    '--stdout',
    '--revs',
    '--delta-base-offset',
    '--quiet',
    ...(not.length > 0 ? ['--thin'] : []),
  ]
  return streamGit(repo, args, { stdin: revs })
}

/** Packs arrive whole, so a store that has the commit has its history. */
async function isImported(store: Store, oid: string): Promise<boolean> {
  return (await callGit(store, ['cat-file', '-e', `${oid}^{commit}`], { answers: [0, 1, 128] })).status === 0
}

/** Only the stops that this history reaches: of other branches nothing is told. */
async function copyBoundary(store: Store, source: Source, oid: string): Promise<void> {
  const stops = new Set(await shallowBoundary(source))
  const reached = (await callGit(source, ['rev-list', oid, '--'])).stdout.toString('latin1').split('\n')
  const known = new Set(await shallowBoundary(store))
  const added = reached.filter((line) => stops.has(line) && !known.has(line))
  if (added.length > 0) await appendFile(join(store.gitDir, 'shallow'), added.map((line) => `${line}\n`).join(''))
}

/** Version 3 is what names another hash than SHA-1. */
function bundleHeader(oids: readonly string[], not: readonly string[]): string {
  const [first = ''] = oids
  const sha256 = first.length === 64
  const lines = [
    sha256 ? '# v3 git bundle' : '# v2 git bundle',
    ...(sha256 ? ['@object-format=sha256'] : []),
    ...not.map((oid) => `-${oid} `),
    `${first} HEAD`,
    ...oids.map((oid) => `${oid} refs/bw/${oid}`),
  ]
  return `${lines.join('\n')}\n\n`
}

/** The index last: a pack without one is not seen. */
async function movePack(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  const names = await readdir(from)
  const order = (name: string) => (name.endsWith('.idx') ? 1 : 0)
  for (const name of names.sort((a, b) => order(a) - order(b))) {
    const target = join(to, name)
    const known = await access(target).then(
      () => true,
      () => false,
    )
    if (!known) await rename(join(from, name), target)
  }
}

/** A path as an entry of a `:`-separated list that git reads: quoted, since a state folder may have a colon. */
function quotedPath(path: string): string {
  return `"${path.replace(/["\\]/g, (character) => `\\${character}`)}"`
}
