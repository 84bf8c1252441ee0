import { chmodSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  commitTreeOid,
  importCommit,
  initStore,
  inspectSource,
  listTracked,
  mergeTree,
  readFileAt,
  type Store,
} from '../src/index.ts'
import { commitFiles, git, scratchFolder, userRepo } from './scratch.ts'

/** A user's repository and a store that knows these commits of it. */
async function storeWith(repo: string, ...commits: string[]): Promise<Store> {
  const store = await initStore(join(scratchFolder(), 'repo.git'))
  const source = await inspectSource(repo)
  for (const commit of commits) await importCommit(store, source, commit)
  return store
}

/** A commit of these files on top of `start`. */
function branchOff(repo: string, start: string, files: Record<string, string>, title = 'change'): string {
  git(repo, 'checkout', '--quiet', '--force', '--detach', start)
  return commitFiles(repo, files, title)
}

const text = (bytes: Buffer | null) => bytes?.toString() ?? null

test('two changes of one file at different places become one', async () => {
  const lines = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', ''].join('\r\n')
  const repo = userRepo({ 'a.txt': lines })
  git(repo, 'config', 'core.autocrlf', 'false')
  const base = commitFiles(repo, { 'a.txt': lines }, 'CRLF')
  const ours = branchOff(repo, base, { 'a.txt': lines.replace('one', 'ONE') })
  const theirs = branchOff(repo, base, { 'a.txt': lines.replace('seven', 'SEVEN') })
  const store = await storeWith(repo, base, ours, theirs)
  const merged = await mergeTree(store, { base, ours, theirs })
  expect(merged.conflicts).toEqual([])
  expect(text(await readFileAt(store, merged.tree, 'a.txt'))).toBe(
    lines.replace('one', 'ONE').replace('seven', 'SEVEN'),
  )
})

test('a conflict names its path and the blob of each side', async () => {
  const repo = userRepo({ 'a b.txt': 'one\n', gone: 'x\n' })
  const base = git(repo, 'rev-parse', 'HEAD')
  rmSync(join(repo, 'gone'))
  const ours = commitFiles(repo, { 'a b.txt': 'ours\n', 'new.txt': 'ours\n' }, 'ours')
  const theirs = branchOff(repo, base, { 'a b.txt': 'theirs\n', gone: 'changed\n', 'new.txt': 'theirs\n' })
  const store = await storeWith(repo, base, ours, theirs)
  const { conflicts, tree } = await mergeTree(store, { base, ours, theirs })
  const blob = (commit: string, path: string) => ({ mode: '100644', oid: git(repo, 'rev-parse', `${commit}:${path}`) })
  expect(conflicts).toMatchObject([
    { path: 'a b.txt', base: blob(base, 'a b.txt'), ours: blob(ours, 'a b.txt'), theirs: blob(theirs, 'a b.txt') },
    { path: 'gone', base: blob(base, 'gone'), ours: null, theirs: blob(theirs, 'gone') },
    { path: 'new.txt', base: null, ours: blob(ours, 'new.txt'), theirs: blob(theirs, 'new.txt') },
  ])
  expect(text(await readFileAt(store, tree, 'a b.txt'))).toMatch(/^<<<<<<< .*=======.*>>>>>>> /s)
})

test('the base that is named counts, not the one history suggests', async () => {
  const repo = userRepo()
  const base = git(repo, 'rev-parse', 'HEAD')
  const dropped = branchOff(repo, base, { 'x.txt': 'of the dropped item\n' })
  const later = branchOff(repo, dropped, { 'y.txt': 'of a later item\n' })
  const store = await storeWith(repo, base, dropped, later)
  const merged = await mergeTree(store, { base: dropped, ours: base, theirs: later })
  expect(merged.conflicts).toEqual([])
  expect(await listTracked(store, merged.tree)).toEqual(['a.txt', 'y.txt'])
})

test('modes and links survive, a file never follows another one that moved', async () => {
  const repo = userRepo({ 'run.sh': 'x\n', 'old/one': 'one\n', 'old/two': 'two\n' })
  const base = git(repo, 'rev-parse', 'HEAD')
  chmodSync(join(repo, 'run.sh'), 0o755)
  symlinkSync('../../etc/passwd', join(repo, 'link'))
  const ours = branchOff(repo, commitFiles(repo, {}, 'modes'), { 'old/three': 'three\n' })
  git(repo, 'checkout', '--quiet', '--detach', base)
  git(repo, 'mv', 'old', 'new')
  const theirs = commitFiles(repo, {}, 'moved')
  const store = await storeWith(repo, base, ours, theirs)
  const merged = await mergeTree(store, { base, ours, theirs })
  expect(merged.conflicts).toEqual([])
  expect(git(store.gitDir, 'ls-tree', '-r', '--format=%(objectmode) %(path)', merged.tree).split('\n')).toEqual(
    ['100644 a.txt', '120000 link', '100644 new/one', '100644 new/two', '100644 old/three', '100755 run.sh'].filter(
      (line) => !line.endsWith('a.txt'),
    ),
  )
})

test('attributes and merge drivers of the tree do not take part', async () => {
  const repo = userRepo({ '.gitattributes': '*.txt merge=union\n', 'a.txt': 'one\n' })
  const base = git(repo, 'rev-parse', 'HEAD')
  const ours = branchOff(repo, base, { 'a.txt': 'ours\n' })
  const theirs = branchOff(repo, base, { 'a.txt': 'theirs\n' })
  const store = await storeWith(repo, base, ours, theirs)
  expect((await mergeTree(store, { base, ours, theirs })).conflicts.map(({ path }) => path)).toEqual(['a.txt'])
})

test('a side that is missing is an unusable object', async () => {
  const repo = userRepo()
  const base = git(repo, 'rev-parse', 'HEAD')
  const store = await storeWith(repo, base)
  expect(await commitTreeOid(store, base)).toBe(git(repo, 'rev-parse', 'HEAD^{tree}'))
  await expect(mergeTree(store, { base, ours: base, theirs: '1'.repeat(40) })).rejects.toMatchObject({ status: 4 })
})
