import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inspectSource, listChanges, objectReader } from '../src/index.ts'
import { diffTrees } from '../src/tree-diff.ts'
import { commitFiles, git, userRepo } from './scratch.ts'

test('trees read through one process differ in the same files as git says', async () => {
  const repo = userRepo({
    'a/b/c.txt': '1',
    'a.txt': '1',
    'a/d': '1',
    'a-b/x': '1',
    same: '1',
    'becomes/folder': '1',
    gone: '1',
  })
  const from = git(repo, 'rev-parse', 'HEAD')
  for (const name of ['becomes', 'gone']) rmSync(join(repo, name), { recursive: true })
  writeFileSync(join(repo, 'becomes'), 'a file')
  mkdirSync(join(repo, 'gone'))
  chmodSync(join(repo, 'a.txt'), 0o755)
  symlinkSync('x', join(repo, 'link'))
  execFileSync('sh', ['-c', 'printf raw > "$(printf \'caf\\351\')"'], { cwd: repo })
  const to = commitFiles(repo, { 'a/b/c.txt': '2', 'gone/now/deep': '1', 'ünï\n"x"': '1' }, 'changes')
  const source = await inspectSource(repo)
  const reader = objectReader(source)
  const tree = (commit: string) => git(repo, 'rev-parse', `${commit}^{tree}`)
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)
  for (const [old, now] of [
    [from, to],
    [to, from],
  ] as const) {
    const expected = (await listChanges(source, old, now)).sort(byPath)
    expect((await diffTrees(reader, tree(old), tree(now))).sort(byPath)).toEqual(expected)
  }
  expect(await diffTrees(reader, tree(to), tree(to))).toEqual([])
  expect((await diffTrees(reader, null, tree(from))).length).toBe(7)
  reader.close()
})

test('a reader takes large, empty and many objects, and goes on after one that is missing', async () => {
  const contents = ['', 'x\n'.repeat(2_000_000), '\n\n', ...Array.from({ length: 500 }, (_, n) => `${n}`)]
  const repo = userRepo(Object.fromEntries(contents.map((content, n) => [`f${n}`, content])))
  const reader = objectReader(await inspectSource(repo))
  const oids = contents.map((_, n) => `HEAD:f${n}`).join('\n')
  const blobs = execFileSync('git', ['-C', repo, 'cat-file', '--batch-check=%(objectname)'], {
    input: oids,
    encoding: 'utf8',
  })
  const list = blobs.trim().split('\n')
  expect((await reader.read(list)).map(({ content }) => content.toString())).toEqual(contents)
  await expect(reader.read(['1'.repeat(40)])).rejects.toMatchObject({ code: 'object-unusable', status: 4 })
  expect((await reader.read(list.slice(2, 3)))[0]?.content.toString()).toBe('\n\n')
  reader.close()
})
