import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  checkPatch,
  commitTreeOid,
  importCommit,
  initStore,
  inspectSource,
  patchDigest,
  type Store,
  takePack,
} from '../src/index.ts'
import { commitFiles, git, scratchFolder, userRepo } from './scratch.ts'

/** A pack of these objects as an untrusted builder would send it. */
function packOf(repo: string, revs: string, ...options: string[]): Buffer {
  return execFileSync('git', ['-C', repo, 'pack-objects', '--stdout', '--quiet', ...options], { input: revs })
}

async function storeAtBase(repo: string): Promise<Store> {
  const store = await initStore(join(scratchFolder(), 'repo.git'))
  await importCommit(store, await inspectSource(repo), git(repo, 'rev-parse', 'HEAD'))
  return store
}

const objectsOf = (store: Store) =>
  git(store.gitDir, 'cat-file', '--batch-all-objects', '--batch-check').split('\n').length

test("a builder's commit is taken over, also as a thin pack", async () => {
  const repo = userRepo({ 'a.txt': 'line\n'.repeat(500) })
  const store = await storeAtBase(repo)
  const base = git(repo, 'rev-parse', 'HEAD')
  const commit = commitFiles(repo, { 'a.txt': `${'line\n'.repeat(500)}more\n` }, 'change')
  await takePack(store, Readable.from([packOf(repo, `${commit}\n^${base}\n`, '--revs', '--thin')]))
  expect(await commitTreeOid(store, commit)).toBe(git(repo, 'rev-parse', 'HEAD^{tree}'))
})

test('nothing is left of a pack that is broken, too big, or refers to what is not there', async () => {
  const repo = userRepo()
  const store = await storeAtBase(repo)
  const base = git(repo, 'rev-parse', 'HEAD')
  const commit = commitFiles(repo, { 'b.txt': 'b\n' }, 'change')
  const whole = packOf(repo, `${commit}\n^${base}\n`, '--revs')
  const flipped = Buffer.from(whole)
  flipped[30] = (flipped[30] ?? 0) ^ 0xff
  const dangling = packOf(repo, `${commit}\n`)
  const attempts: [Buffer, { maxBytes?: number }][] = [
    [flipped, {}],
    [whole.subarray(0, whole.length - 5), {}],
    [Buffer.alloc(0), {}],
    [Buffer.from('this is not a pack'), {}],
    [dangling, {}],
    [whole, { maxBytes: 40 }],
  ]
  for (const [bytes, options] of attempts) {
    await expect(takePack(store, Readable.from([bytes]), options)).rejects.toMatchObject({
      code: 'pack-unusable',
      status: 4,
    })
  }
  expect(objectsOf(store)).toBe(3)
  expect(readdirSync(join(store.gitDir, 'objects')).filter((name) => name.startsWith('incoming'))).toEqual([])
})

test('a stream that breaks off in an error is refused', async () => {
  const store = await storeAtBase(userRepo())
  const broken = new Readable({
    read() {
      this.destroy(new Error('the container is gone'))
    },
  })
  await expect(takePack(store, broken)).rejects.toMatchObject({ code: 'pack-unusable' })
})

test('a tree that would write into .git is refused', async () => {
  const repo = userRepo()
  const store = await storeAtBase(repo)
  const blob = git(repo, 'rev-parse', 'HEAD:a.txt')
  const mktree = (input: string) => execFileSync('git', ['-C', repo, 'mktree'], { input, encoding: 'utf8' }).trim()
  const tree = mktree(`040000 tree ${mktree(`100755 blob ${blob}\tpost-checkout\n`)}\t.git\n`)
  const commit = git(repo, 'commit-tree', '-p', 'HEAD', '-m', 'evil', tree)
  await expect(takePack(store, Readable.from([packOf(repo, `${commit}\n^HEAD\n`, '--revs')]))).rejects.toMatchObject({
    code: 'pack-unusable',
  })
})

test('a digest stands for the commit, its files and their bytes', async () => {
  const repo = userRepo()
  const store = await storeAtBase(repo)
  commitFiles(repo, { 'b.txt': 'b\n', 'c d': 'c\n' }, 'change')
  const commit = git(repo, 'rev-parse', 'HEAD')
  await importCommit(store, await inspectSource(repo), commit)
  const digest = await patchDigest(store, commit)
  expect(digest).toMatch(/^[0-9a-f]{64}$/)
  expect(await checkPatch(store, commit, digest)).toEqual([git(repo, 'rev-parse', 'HEAD^')])
  await expect(checkPatch(store, commit, '0'.repeat(64))).rejects.toMatchObject({ code: 'patch-changed', status: 4 })
})

test('a blob whose bytes were exchanged under the same oid is found out', async () => {
  const repo = userRepo()
  const store = await storeAtBase(repo)
  const commit = commitFiles(repo, { 'b.txt': 'b\n' }, 'change')
  await importCommit(store, await inspectSource(repo), commit)
  unpack(store)
  const digest = await patchDigest(store, commit)
  const blob = git(repo, 'rev-parse', 'HEAD:b.txt')
  overwrite(store, blob, deflateSync(Buffer.from('blob 2\0B\n')))
  await expect(checkPatch(store, commit, digest)).rejects.toMatchObject({ status: 4 })
})

test('a missing or broken object is named, with status 4', async () => {
  const repo = userRepo()
  const store = await storeAtBase(repo)
  const commit = commitFiles(repo, { 'b.txt': 'b\n', 'sub/c.txt': 'c\n' }, 'change')
  await importCommit(store, await inspectSource(repo), commit)
  unpack(store)
  for (const name of ['HEAD:b.txt', 'HEAD:sub', 'HEAD']) {
    overwrite(store, git(repo, 'rev-parse', name), Buffer.from('rubbish'))
    await expect(patchDigest(store, commit)).rejects.toMatchObject({ code: 'object-unusable', status: 4 })
  }
  await expect(patchDigest(store, '1'.repeat(40))).rejects.toMatchObject({ code: 'object-unusable', status: 4 })
})

/** Turns the store's packs into loose objects. */
function unpack(store: Store): void {
  const folder = join(store.gitDir, 'objects', 'pack')
  const aside = scratchFolder()
  for (const name of readdirSync(folder)) renameSync(join(folder, name), join(aside, name))
  for (const name of readdirSync(aside).filter((entry) => entry.endsWith('.pack'))) {
    execFileSync('git', [`--git-dir=${store.gitDir}`, 'unpack-objects', '-q'], {
      input: readFileSync(join(aside, name)),
    })
  }
}

function overwrite(store: Store, oid: string, bytes: Buffer): void {
  const path = join(store.gitDir, 'objects', oid.slice(0, 2), oid.slice(2))
  chmodSync(path, 0o644)
  writeFileSync(path, bytes)
}
