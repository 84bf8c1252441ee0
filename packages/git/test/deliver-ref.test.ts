import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  commitTree,
  deliverRef,
  importCommit,
  initStore,
  inspectSource,
  type Source,
  type Store,
  treeWithFiles,
  writeBlob,
} from '../src/index.ts'
import { makeHostile } from './hostile.ts'
import { commitFiles, difference, fingerprint, git, scratchFolder, userRepo } from './scratch.ts'

const ref = 'refs/heads/builders/x'
const identity = { name: 'B', email: 'b@example.org' }

/** A store with one commit of ours on top of the source's head. */
async function storeWithWork(repo: string): Promise<{ source: Source; store: Store; base: string; oid: string }> {
  const source = await inspectSource(repo)
  const base = source.head ?? ''
  const store = await initStore(join(scratchFolder(), 'repo.git'), source.objectFormat)
  await importCommit(store, source, base)
  const blob = await writeBlob(store, Buffer.from('work\n'))
  const tree = await treeWithFiles(store, base, new Map([['work.txt', { mode: '100755', oid: blob }]]))
  const oid = await commitTree(store, {
    tree,
    parents: [base],
    message: 'Work',
    identity,
    date: '2026-01-01T00:00:00Z',
  })
  return { source, store, base, oid }
}

const onlyAdded = (paths: string[]) =>
  paths
    .map((path) => path.replace(/pack-[0-9a-f]+\./, 'pack-*.'))
    .filter((path) => path !== '/.git/refs/heads' && path !== '/.git/objects/pack')

const delivered = [
  '/.git/objects/pack/pack-*.idx',
  '/.git/objects/pack/pack-*.pack',
  '/.git/refs/heads/builders',
  '/.git/refs/heads/builders/x',
]

test('a repository with every hostile setting gains a pack and one ref, and nothing runs', async () => {
  const repo = userRepo()
  commitFiles(repo, { 'b.txt': 'b\n' }, 'second')
  git(repo, 'pack-refs', '--all')
  git(repo, 'gc', '--quiet')
  const { source, store, base, oid } = await storeWithWork(repo)
  const canary = makeHostile(repo, scratchFolder())
  writeFileSync(join(repo, 'b.txt'), 'dirty\n')
  writeFileSync(join(repo, 'untracked'), 'x\n')
  chmodSync(join(repo, '.git', 'config'), 0o444)
  const before = fingerprint(repo)
  expect(await deliverRef(source, store, { ref, oid, base })).toBe(true)
  expect(onlyAdded(difference(before, fingerprint(repo)))).toEqual(delivered)
  expect(existsSync(canary)).toBe(false)
  rmSync(join(repo, '.git', 'hooks'), { recursive: true })
  git(repo, 'config', 'core.hooksPath', '/dev/null')
  git(repo, 'config', 'core.fsmonitor', 'false')
  expect(git(repo, 'rev-parse', ref)).toBe(oid)
  expect(git(repo, 'ls-tree', '--format=%(objectmode) %(path)', oid, 'work.txt')).toBe('100755 work.txt')
  expect(git(repo, 'fsck', '--strict')).toBe('')
})

test('a user in the middle of a rebase, with the branch of the base moved on, is not disturbed', async () => {
  const repo = userRepo()
  const { source, store, base, oid } = await storeWithWork(repo)
  commitFiles(repo, { 'a.txt': 'later\n' }, 'later')
  git(repo, 'checkout', '--quiet', '-b', 'other', base)
  commitFiles(repo, { 'a.txt': 'other\n' }, 'other')
  expect(() => git(repo, 'rebase', 'main')).toThrow()
  const before = fingerprint(repo)
  await deliverRef(source, store, { ref, oid, base })
  expect(onlyAdded(difference(before, fingerprint(repo)))).toEqual(delivered)
})

test('the same delivery again changes nothing and is told apart', async () => {
  const repo = userRepo()
  const { source, store, base, oid } = await storeWithWork(repo)
  await deliverRef(source, store, { ref, oid, base })
  const before = fingerprint(repo)
  expect(await deliverRef(source, store, { ref, oid, base })).toBe(false)
  expect(difference(before, fingerprint(repo))).toEqual([])
})

test('a ref that holds something else, or that stands in the way, is left alone', async () => {
  const repo = userRepo()
  const { source, store, base, oid } = await storeWithWork(repo)
  git(repo, 'branch', 'builders/x')
  const before = fingerprint(repo)
  await expect(deliverRef(source, store, { ref, oid, base })).rejects.toMatchObject({ code: 'ref-exists', status: 1 })
  expect(difference(before, fingerprint(repo))).toEqual([])
  git(repo, 'branch', '-D', '--quiet', 'builders/x')
  git(repo, 'branch', 'builders')
  git(repo, 'pack-refs', '--all')
  await expect(deliverRef(source, store, { ref, oid, base })).rejects.toMatchObject({ code: 'ref-conflict' })
  git(repo, 'branch', '-D', '--quiet', 'builders')
  git(repo, 'branch', 'builders/x/below')
  await expect(deliverRef(source, store, { ref, oid, base })).rejects.toMatchObject({ code: 'ref-conflict' })
  await expect(deliverRef(source, store, { ref: 'refs/heads/a..b', oid, base })).rejects.toMatchObject({
    code: 'ref-name',
  })
})

test('a base that the user has thrown away since comes along with the branch', async () => {
  const repo = userRepo()
  commitFiles(repo, { 'b.txt': 'b\n' }, 'second')
  const { source, store, base, oid } = await storeWithWork(repo)
  git(repo, 'reset', '--quiet', '--hard', 'HEAD^')
  git(repo, 'reflog', 'expire', '--expire=now', '--all')
  git(repo, 'gc', '--quiet', '--prune=now')
  expect(() => git(repo, 'cat-file', '-e', base)).toThrow()
  await deliverRef(source, store, { ref, oid, base })
  expect(git(repo, 'fsck', '--connectivity-only', oid)).toBe('')
})

test('a shallow clone receives the branch and stays shallow', async () => {
  const repo = userRepo()
  commitFiles(repo, { 'b.txt': 'b\n' }, 'second')
  const shallow = join(scratchFolder(), 'shallow')
  git('/', 'clone', '--quiet', '--depth=1', `file://${repo}`, shallow)
  const { source, store, base, oid } = await storeWithWork(shallow)
  const before = fingerprint(shallow)
  await deliverRef(source, store, { ref, oid, base })
  expect(onlyAdded(difference(before, fingerprint(shallow)))).toEqual(delivered)
  expect(git(shallow, 'log', '--format=%s', ref)).toBe('Work\nsecond')
})

test('an object that is broken in the store moves no ref', async () => {
  const repo = userRepo()
  const { source, store, base, oid } = await storeWithWork(repo)
  const blob = git(store.gitDir, 'rev-parse', `${oid}:work.txt`)
  rmSync(join(store.gitDir, 'objects', blob.slice(0, 2), blob.slice(2)))
  const before = fingerprint(repo)
  await expect(deliverRef(source, store, { ref, oid, base })).rejects.toMatchObject({ status: 4 })
  expect(difference(before, fingerprint(repo))).toEqual([])
})

test.skipIf(process.getuid?.() !== 0)(
  'what root delivers belongs to the owner of the repository (needs root)',
  async () => {
    const repo = userRepo()
    execFileSync('chown', ['-R', '12345:12345', join(repo, '..')])
    const { source, store, base, oid } = await storeWithWork(repo)
    await deliverRef(source, store, { ref, oid, base })
    expect(execFileSync('find', [repo, '-not', '-uid', '12345'], { encoding: 'utf8' })).toBe('')
  },
)
