import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import {
  archiveTree,
  bundle,
  changedFiles,
  commitParents,
  commitTree,
  commitTreeOid,
  diffText,
  importCommit,
  initStore,
  inspectSource,
  listCommits,
  listTracked,
  logOneline,
  readBlob,
  readRef,
  type Store,
  shallowBoundary,
  treeWithFiles,
  updateRef,
  writeBlob,
} from '../src/index.ts'
import { makeHostile } from './hostile.ts'
import { commitFiles, difference, fingerprint, git, scratchFolder, userRepo } from './scratch.ts'

const identity = { name: 'Ünal <x>', email: 'u@example.org' }
const date = '2026-03-04T05:06:07Z'

function newStore(format?: 'sha1' | 'sha256'): Promise<Store> {
  return initStore(join(scratchFolder(), 'state, with ü: and space', 'repo.git'), format)
}

test('many processes may open the same new store at once', async () => {
  const dir = join(scratchFolder(), 'repo.git')
  await Promise.all(Array.from({ length: 8 }, () => initStore(dir)))
  expect(git(dir, 'rev-parse', '--is-bare-repository')).toBe('true')
  expect(readdirSync(join(dir, '..'))).toEqual(['repo.git'])
})

test('a commit comes over with its history and nothing else, from a repository that stays as it was', async () => {
  const repo = userRepo()
  const base = git(repo, 'rev-parse', 'HEAD')
  git(repo, 'checkout', '--quiet', '-b', 'secret')
  const secret = commitFiles(repo, { 'secret.txt': 's\n' }, 'not for builders')
  const second = commitFiles(repo, {}, 'second')
  const canary = makeHostile(repo, scratchFolder())
  const source = await inspectSource(repo)
  const before = fingerprint(repo)
  const store = await newStore()
  await importCommit(store, source, base)
  await importCommit(store, source, base)
  expect(git(store.gitDir, 'cat-file', '--batch-all-objects', '--batch-check').split('\n')).toHaveLength(3)
  expect(() => git(store.gitDir, 'cat-file', '-e', secret)).toThrow()
  await importCommit(store, source, second)
  expect(await listCommits(store, base, second)).toEqual([secret, second])
  expect(difference(before, fingerprint(repo))).toEqual([])
  expect(existsSync(canary)).toBe(false)
})

test('a shallow clone is taken as far as it goes, without asking its remote', async () => {
  const repo = userRepo()
  commitFiles(repo, { 'b.txt': 'b\n' }, 'second')
  const shallow = join(scratchFolder(), 'shallow')
  git('/', 'clone', '--quiet', '--depth=1', `file://${repo}`, shallow)
  git(shallow, 'remote', 'set-url', 'origin', 'https://unreachable.invalid/x')
  const source = await inspectSource(shallow)
  const head = source.head ?? ''
  const store = await newStore()
  await importCommit(store, source, head)
  expect(await shallowBoundary(store)).toEqual([head])
  expect(await listTracked(store, head)).toEqual(['a.txt', 'b.txt'])
  expect(git(store.gitDir, 'fsck', '--connectivity-only', head)).toBe('')
})

test('a partial clone is refused and never fetched', async () => {
  const repo = userRepo()
  git(repo, 'config', 'uploadpack.allowFilter', 'true')
  const partial = join(scratchFolder(), 'partial')
  git('/', 'clone', '--quiet', '--filter=blob:none', '--no-checkout', `file://${repo}`, partial)
  git(partial, 'config', 'protocol.file.allow', 'always')
  const source = await inspectSource(partial)
  const before = fingerprint(partial)
  await expect(importCommit(await newStore(), source, source.head ?? '')).rejects.toMatchObject({
    code: 'history-unusable',
    status: 4,
  })
  expect(difference(before, fingerprint(partial))).toEqual([])
})

test('a bundle clones to the same commit, whole or on top of what the receiver has', async () => {
  const repo = userRepo()
  const base = git(repo, 'rev-parse', 'HEAD')
  const second = commitFiles(repo, { 'b.txt': 'b\n' }, 'second')
  const store = await newStore()
  await importCommit(store, await inspectSource(repo), second)
  const folder = scratchFolder()
  const receive = async (name: string, stream: ReturnType<typeof bundle>) => {
    writeFileSync(join(folder, name), await buffer(stream.stdout))
    await stream.ended
  }
  await receive('base', bundle(store, [base]))
  await receive('rest', bundle(store, [second], { not: [base] }))
  git(folder, 'clone', '--quiet', 'base', 'clone')
  const clone = join(folder, 'clone')
  expect(git(clone, 'rev-parse', 'HEAD')).toBe(base)
  expect(() => git(clone, 'cat-file', '-e', second)).toThrow()
  git(clone, 'fetch', '--quiet', '../rest', `refs/bw/${second}`)
  expect(git(clone, 'rev-parse', 'FETCH_HEAD')).toBe(second)
})

test('SHA-256 repositories are carried in their own format', async () => {
  const repo = join(scratchFolder(), 'repo')
  mkdirSync(repo)
  git(repo, 'init', '--quiet', '--object-format=sha256')
  const base = commitFiles(repo, { 'a.txt': 'a\n' }, 'base')
  const source = await inspectSource(repo)
  expect(source.objectFormat).toBe('sha256')
  const store = await newStore('sha256')
  await importCommit(store, source, base)
  const stream = bundle(store, [base])
  const folder = scratchFolder()
  writeFileSync(join(folder, 'b'), await buffer(stream.stdout))
  git(folder, 'clone', '--quiet', 'b', 'clone')
  expect(git(join(folder, 'clone'), 'rev-parse', 'HEAD')).toBe(base)
})

test('a commit made twice is the same commit, unsigned and with the title as it is', async () => {
  const store = await newStore()
  const tree = await treeWithFiles(store, await emptyTree(store), new Map())
  const make = () => commitTree(store, { tree, parents: [], message: '[build] #1: ünï\n', identity, date })
  const [one, two] = [await make(), await make()]
  expect(one).toBe(two)
  expect(git(store.gitDir, 'cat-file', 'commit', one)).toBe(
    `tree ${tree}\nauthor Ünal x <u@example.org> 1772600767 +0000\ncommitter Ünal x <u@example.org> 1772600767 +0000\n\n[build] #1: ünï`,
  )
  const child = await commitTree(store, { tree, parents: [one], message: 'child', identity, date })
  expect(await commitParents(store, child)).toEqual([one])
  expect(await commitTreeOid(store, child)).toBe(tree)
  expect((await logOneline(store, one, child)).join()).toMatch(/^[0-9a-f]+ child$/)
})

test('blobs keep every byte', async () => {
  const store = await newStore()
  const bytes = Buffer.from([0, 13, 10, 255, 10, 13, 0x24, 0x49, 0x64, 0x24])
  expect(await readBlob(store, await writeBlob(store, bytes))).toEqual(bytes)
  await expect(readBlob(store, '1'.repeat(40))).rejects.toMatchObject({ code: 'object-unusable', status: 4 })
})

test('every kind of change is listed with its mode', async () => {
  const repo = userRepo({
    'run.sh': 'x\n',
    link: 'file for now\n',
    'dir/f': 'x\n',
    gone: 'x\n',
    crlf: 'a\r\nb\r\n',
    empty: 'x',
  })
  const from = git(repo, 'rev-parse', 'HEAD')
  execFileSync('rm', ['-r', 'link', 'dir', 'gone'], { cwd: repo })
  chmodSync(join(repo, 'run.sh'), 0o755)
  symlinkSync('../../etc/passwd', join(repo, 'link'))
  const to = commitFiles(repo, { dir: 'a file now\n', crlf: 'a\r\nc\r\n', empty: '', 'moved to': 'x\n' }, 'changes')
  const store = await newStore()
  await importCommit(store, await inspectSource(repo), to)
  expect(await changedFiles(store, from, to)).toEqual([
    { path: 'crlf', status: 'modified', mode: '100644' },
    { path: 'dir', status: 'added', mode: '100644' },
    { path: 'dir/f', status: 'deleted', mode: '100644' },
    { path: 'empty', status: 'modified', mode: '100644' },
    { path: 'gone', status: 'deleted', mode: '100644' },
    { path: 'link', status: 'type-changed', mode: '120000' },
    { path: 'moved to', status: 'added', mode: '100644' },
    { path: 'run.sh', status: 'modified', mode: '100755' },
  ])
  expect(await diffText(store, from, to)).toContain('-b\r\n+c\r\n')
})

test('files are put into a tree and taken out of it, also where a folder was', async () => {
  const repo = userRepo({ 'keep/a': '1\n', 'dir/f': '2\n', old: '3\n' })
  const store = await newStore()
  const source = await inspectSource(repo)
  const head = source.head ?? ''
  await importCommit(store, source, head)
  const oid = await writeBlob(store, Buffer.from('new\n'))
  const files = new Map([
    ['dir', { mode: '100755', oid }],
    ['caf\udce9\n', { mode: '120000', oid }],
    ['old', null],
  ])
  const tree = await treeWithFiles(store, head, files)
  expect(git(store.gitDir, 'ls-tree', '-r', tree).split('\n')).toEqual([
    `120000 blob ${oid}\t"caf\\351\\n"`,
    `100755 blob ${oid}\tdir`,
    expect.stringContaining('keep/a'),
  ])
  for (const path of ['.git/config', '../x', 'a/.GIT/x']) {
    await expect(treeWithFiles(store, head, new Map([[path, { mode: '100644', oid }]]))).rejects.toMatchObject({
      code: 'path-refused',
    })
  }
})

test('a ref moves only from where it is expected', async () => {
  const repo = userRepo()
  const store = await newStore()
  const base = git(repo, 'rev-parse', 'HEAD')
  const second = commitFiles(repo, {}, 'second')
  await importCommit(store, await inspectSource(repo), second)
  const ref = 'refs/heads/builders/x'
  await updateRef(store, ref, base, null)
  await expect(updateRef(store, ref, second, null)).rejects.toMatchObject({ code: 'ref-moved' })
  await expect(updateRef(store, ref, base, second)).rejects.toMatchObject({ code: 'ref-moved' })
  expect(await readRef(store, ref)).toBe(base)
  await updateRef(store, ref, second, base)
  expect(await readRef(store, ref)).toBe(second)
  expect(existsSync(join(store.gitDir, 'logs'))).toBe(false)
  await updateRef(store, ref, null, second)
  expect(await readRef(store, ref)).toBeNull()
})

test('an archive holds every file byte for byte, whatever its attributes say', async () => {
  const repo = userRepo({ 'a.txt': '$Id$ $Format:%H$\n', 'hidden.txt': 'x\n', 'unix.txt': 'a\nb\n' })
  writeFileSync(join(repo, '.gitattributes'), '')
  chmodSync(join(repo, 'unix.txt'), 0o755)
  symlinkSync('a.txt', join(repo, 'link'))
  const head = commitFiles(
    repo,
    { '.gitattributes': 'hidden.txt export-ignore\n* export-subst ident text eol=crlf\n' },
    'second',
  )
  git(repo, 'config', 'core.autocrlf', 'false')
  const store = await newStore()
  await importCommit(store, await inspectSource(repo), head)
  const folder = scratchFolder()
  const stream = archiveTree(store, head)
  const tar = await buffer(stream.stdout)
  await stream.ended
  execFileSync('tar', ['-xpf', '-', '-C', folder], { input: tar })
  const found = execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P %M->%l\n'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(found.trim().split('\n').sort()).toEqual([
    '.gitattributes -rw-r--r--->',
    'a.txt -rw-r--r--->',
    'hidden.txt -rw-r--r--->',
    'link lrwxrwxrwx->a.txt',
    'unix.txt -rwxr-xr-x->',
  ])
  for (const path of ['a.txt', 'unix.txt']) {
    expect(execFileSync('cat', [path], { cwd: folder })).toEqual(
      execFileSync('git', ['-C', store.gitDir, 'cat-file', 'blob', `${head}:${path}`]),
    )
  }
})

test('a stream of an object that is not there fails for its reader too', async () => {
  const stream = archiveTree(await newStore(), '1'.repeat(40))
  await expect(buffer(stream.stdout)).rejects.toThrow()
  await expect(stream.ended).rejects.toMatchObject({ code: 'git-failed', status: 4 })
})

async function emptyTree(store: Store): Promise<string> {
  return execFileSync('git', ['-C', store.gitDir, 'mktree'], { input: '', encoding: 'utf8' }).trim()
}
