import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { holdsText, inspectSource, type NewContent, newContent } from '../src/index.ts'
import { commitFiles, git, userRepo } from './scratch.ts'

async function contentOf(folder: string, from: string, to: string): Promise<NewContent[]> {
  const repo = await inspectSource(folder)
  return Array.fromAsync(newContent(repo, git(folder, 'rev-parse', from), git(folder, 'rev-parse', to)))
}

const shown = ({ kind, path, content }: NewContent) => `${kind} ${path}: ${content.toString().trim()}`

test('a range gives its commits, new paths, blobs and link targets, and what is removed again', async () => {
  const folder = userRepo({ 'a.txt': 'one\n', 'gone.txt': 'old\n' })
  symlinkSync('/nowhere', join(folder, 'link'))
  const first = commitFiles(folder, { 'dir/b.txt': 'passing\n' }, 'Add it')
  git(folder, 'rm', '-q', 'dir/b.txt', 'gone.txt')
  const second = commitFiles(folder, { 'a.txt': 'two\n' }, 'Take it out')
  const content = await contentOf(folder, 'HEAD~2', 'HEAD')
  expect(content.filter(({ kind }) => kind !== 'commit').map(shown)).toEqual([
    'path dir/b.txt: dir/b.txt',
    'path link: link',
    'blob dir/b.txt: passing',
    'symlink link: /nowhere',
    'path a.txt: a.txt',
    'blob a.txt: two',
  ])
  const commits = content.filter(({ kind }) => kind === 'commit')
  expect(commits.map(({ commit }) => commit)).toEqual([first, second])
  expect(commits[0]?.content.toString()).toMatch(/^author Ada <ada@example\.org>[\s\S]*\n\nAdd it\n$/m)
})

test('a blob that stands at many paths is given once', async () => {
  const folder = userRepo()
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}.txt`, n < 20 ? 'same\n' : `${n}\n`]))
  commitFiles(folder, files, 'many')
  const content = await contentOf(folder, 'HEAD~1', 'HEAD')
  expect(content.filter(({ kind }) => kind === 'path')).toHaveLength(40)
  expect(content.filter(({ kind }) => kind === 'blob')).toHaveLength(21)
})

test('a first commit brings in its whole tree', async () => {
  const folder = userRepo()
  git(folder, 'checkout', '-q', '--orphan', 'other')
  commitFiles(folder, { 'new.txt': 'new\n' }, 'root')
  const content = await contentOf(folder, 'main', 'other')
  expect(content.filter(({ kind }) => kind === 'path').map(({ path }) => path)).toEqual(['a.txt', 'new.txt'])
})

test('a text is found in text and binary files of a tree, as it is written', async () => {
  const folder = userRepo({ 'a.txt': 'some $text .* here\n' })
  writeFileSync(join(folder, 'b.bin'), Buffer.concat([Buffer.alloc(10), Buffer.from('needle'), Buffer.alloc(10)]))
  const head = commitFiles(folder, {}, 'binary')
  const repo = await inspectSource(folder)
  for (const [text, isThere] of [
    ['$text .*', true],
    ['$text ..', false],
    ['needle', true],
    ['-e', false],
  ] as const) {
    expect(await holdsText(repo, head, Buffer.from(text)), text).toBe(isThere)
  }
})
