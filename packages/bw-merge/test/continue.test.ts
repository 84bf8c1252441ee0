import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { item, openScene, passed, runId, type Scene } from './scene.ts'

/** Item `two` is in conflict with `one` in `x y.txt`; `folder` is where it is laid out. */
async function conflicting(): Promise<{ scene: Scene; records: object[]; folder: string; file: string }> {
  const scene = await openScene({ 'x y.txt': 'x\n', 'same.txt': 's\n' })
  const one = await scene.patch('one', await scene.commit({ 'x y.txt': 'one\n' }))
  const two = await scene.patch('two', await scene.commit({ 'x y.txt': 'two\n', 'new.txt': 'n\n' }))
  const records = [item('one'), item('two'), ...passed(one), ...passed(two)]
  await scene.merge(records)
  const { status, stderr } = await scene.replay('--continue', 'two')
  const folder = join(scene.state, 'runs', runId, 'items', 'two', '1', 'conflict')
  expect(status).toBe(3)
  expect(stderr).toBe(`bw-merge: edit the files in '${folder}/files', then give --continue two again\n`)
  return { scene, records, folder, file: join(folder, 'files', 'x y.txt') }
}

test('a conflict is laid out with the three sides, resolved by editing, and is a commit like the others', async () => {
  const { scene, records, folder, file } = await conflicting()
  const sides = ['base', 'ours', 'theirs'].map((side) => readFileSync(join(folder, side, 'x y.txt'), 'utf8'))
  expect(sides).toEqual(['x\n', 'one\n', 'two\n'])
  expect(readFileSync(file, 'utf8')).toMatch(/^<<<<<<< .*one\n.*two\n>>>>>>> /s)
  writeFileSync(file, 'one and two\n')
  chmodSync(file, 0o755)
  const { status, answers, integration } = await scene.replay('--continue', 'two')
  expect([status, answers['two']]).toEqual([0, 'applied: resolved'])
  const head = integration?.head ?? ''
  expect(await scene.read(head, 'x y.txt')).toBe('one and two\n')
  expect(await scene.read(head, 'new.txt')).toBe('n\n')
  expect(scene.git('log', '-1', '--format=%s %an %aI', head)).toBe('Title of two Ada 2026-03-04T05:06:07+00:00')
  const again = await scene.merge(records)
  expect([again.status, again.integration?.head]).toEqual([0, head])
})

test('what was resolved stays resolved when another item is dropped', async () => {
  const { scene, file } = await conflicting()
  const three = await scene.patch('three', await scene.commit({ 'three.txt': '3\n' }))
  writeFileSync(file, 'one and two\n')
  await scene.replay('--continue', 'two')
  await scene.merge([item('one'), item('two'), item('three'), ...passed(three)])
  const { integration, status } = await scene.replay('--drop', 'three')
  expect(status).toBe(0)
  expect(integration?.items.map((entry) => entry.item)).toEqual(['one', 'two'])
  expect(await scene.read(integration?.head ?? '', 'x y.txt')).toBe('one and two\n')
})

test('a file that is removed is removed, a link stays a link', async () => {
  const { scene, file } = await conflicting()
  rmSync(file)
  symlinkSync('same.txt', file)
  const { integration } = await scene.replay('--continue', 'two')
  expect(scene.git('ls-tree', '--format=%(objectmode)', integration?.head ?? '', 'x y.txt')).toBe('120000')
})

describe('refused, and the stack stays as it was:', () => {
  const refusals: [string, (files: string) => void, number, string][] = [
    ['markers that are left', () => undefined, 3, "'x y.txt' still has conflict markers"],
    [
      'a file that was not in conflict',
      (files) => writeFileSync(join(files, 'same.txt'), 'mine\n'),
      5,
      "'same.txt' was not in conflict",
    ],
    [
      'a folder in place of the file',
      (files) => {
        rmSync(join(files, 'x y.txt'))
        mkdirSync(join(files, 'x y.txt'))
      },
      1,
      'is not a file',
    ],
    [
      'a secret',
      (files) =>
        writeFileSync(
          join(files, 'x y.txt'),
          `key = ${['sk-ant', 'oat01', randomBytes(70).toString('base64url')].join('-')}\n`,
        ),
      5,
      'holds a secret',
    ],
  ]
  test.each(refusals)('%s', async (_title, edit, status, message) => {
    const { scene, folder } = await conflicting()
    const before = scene.git('for-each-ref')
    edit(join(folder, 'files'))
    const result = await scene.replay('--continue', 'two')
    expect([result.status, scene.git('for-each-ref')]).toEqual([status, before])
    expect(result.stderr.split('\n')[0]).toContain(message)
  })

  test('an item that is not in conflict', async () => {
    const { scene } = await conflicting()
    const { status, stderr } = await scene.replay('--continue', 'one')
    expect([status, stderr.split('\n')[0]]).toEqual([1, "bw-merge: 'one' is not in conflict"])
  })
})

test('a resolution for a head that is no longer there is laid out anew, and what was edited is kept', async () => {
  const { scene, records, file } = await conflicting()
  writeFileSync(file, 'one and two\n')
  const three = await scene.patch('three', await scene.commit({ 'three.txt': '3\n' }))
  await scene.merge([...records, item('three'), ...passed(three)])
  const { status } = await scene.replay('--continue', 'two')
  expect(status).toBe(3)
  expect(readFileSync(file, 'utf8')).toContain('<<<<<<<')
  expect(readFileSync(file.replace('/conflict/', '/conflict.old/'), 'utf8')).toBe('one and two\n')
})
