import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitTree, initStore, refWriter, updateRef } from '../src/index.ts'
import { git, scratchFolder } from './scratch.ts'

const date = '2026-03-04T05:06:07.891Z'

test.each([
  ['Ada', 'ada@example.org', 'A title'],
  [' .Dr. Ünal <x>, ', '<u@example.org>', '[build] fix: x\n'],
  ['"Quoted"', "o'b@example.org;", 'two\nlines\n\n'],
  ['a\nb', 'a@b', ''],
  ['日本', 'a@b', '\u{1f600} #1'],
])('a commit of %j is what git itself would write', async (name, email, message) => {
  const store = await initStore(join(scratchFolder(), 'repo.git'))
  const tree = execFileSync('git', ['-C', store.gitDir, 'mktree'], { input: '', encoding: 'utf8' }).trim()
  const parent = await commitTree(store, {
    tree,
    parents: [],
    message: 'p',
    identity: { name: 'A', email: 'a@b' },
    date,
  })
  const ours = await commitTree(store, { tree, parents: [parent], message, identity: { name, email }, date })
  const who = { NAME: name, EMAIL: email, DATE: '@1772600767 +0000' }
  const env = Object.entries(who).flatMap(([key, value]) =>
    ['AUTHOR', 'COMMITTER'].map((role) => [`GIT_${role}_${key}`, value]),
  )
  const theirs = execFileSync('git', ['-C', store.gitDir, 'commit-tree', tree, '-p', parent, '-F', '-'], {
    input: message === '' || message.endsWith('\n') ? message : `${message}\n`,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...Object.fromEntries(env) },
  })
  expect(ours).toBe(theirs.trim())
  expect(git(store.gitDir, 'fsck', '--strict', '--no-dangling')).toBe('')
})

test('one process moves refs many times, each from where it is expected', async () => {
  const store = await initStore(join(scratchFolder(), 'repo.git'))
  const tree = execFileSync('git', ['-C', store.gitDir, 'mktree'], { input: '', encoding: 'utf8' }).trim()
  const make = (message: string) =>
    commitTree(store, { tree, parents: [], message, identity: { name: 'A', email: 'a@b' }, date })
  const [one, two] = [await make('one'), await make('two')]
  const refs = refWriter(store)
  await refs.update('refs/heads/x', one, null)
  await refs.update('refs/heads/x', two, one)
  await expect(refs.update('refs/heads/x', one, one)).rejects.toMatchObject({ code: 'ref-moved' })
  await expect(refs.update('refs/heads/x', one, null)).rejects.toMatchObject({ code: 'ref-moved' })
  await updateRef(store, 'refs/heads/x', one, two)
  await refs.update('refs/heads/x', two, one)
  expect(git(store.gitDir, 'rev-parse', 'refs/heads/x')).toBe(two)
  refs.close()
})
