import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { item, openScene, passed, runId } from './scene.ts'

test('before anything is built the globs are compared', async () => {
  const scene = await openScene({}, { shared: ['shared.txt'] })
  const items = [
    item('one', { owns: ['src/**', 'shared.txt'] }),
    item('two', { owns: ['src/a.ts', 'shared.txt'] }),
    item('three', { owns: ['docs/', 'shared.txt'] }),
    item('four', { owns: [], ownsFrom: 'unknown' }),
    item('ready', { done: true }),
  ]
  const { status, stdout } = await scene.preview(items)
  expect(status).toBe(0)
  expect(stdout.split('\n')).toEqual([
    '           1 2 3 4',
    ' 1  one    - ~ · ?',
    ' 2  two    ~ - · ?',
    ' 3  three  · · - ?',
    ' 4  four   ? ? ? -',
    '',
    '~ one, two: both own src/a.ts',
    '? one, four: not known which files',
    '? two, four: not known which files',
    '? three, four: not known which files',
    '',
  ])
})

test('what is built is merged in pairs, and nothing is written down', async () => {
  const scene = await openScene({ 'x.txt': 'x\n', 'all.txt': 'a\n' }, { shared: ['all.txt'] })
  const one = await scene.patch('one', await scene.commit({ 'x.txt': 'one\n', 'all.txt': 'a\none\n' }))
  const two = await scene.patch('two', await scene.commit({ 'x.txt': 'two\n' }))
  const three = await scene.patch('three', await scene.commit({ 'all.txt': 'a\nthree\n' }))
  const records = [item('one'), item('two'), item('three'), ...[one, two, three].flatMap(passed)]
  const { status, stdout } = await scene.preview(records)
  expect(status).toBe(3)
  expect(stdout.split('\n\n')[1]).toBe('x one, two: conflict in x.txt\n')
  expect(scene.git('for-each-ref')).toBe('')
  expect(existsSync(join(scene.state, 'runs', runId, 'journal.ndjson'))).toBe(false)
  const { records: pairs } = await scene.preview(records, ['--json'])
  expect(pairs.map(({ items, meeting }) => [items, meeting])).toEqual([
    [['one', 'two'], 'conflict'],
    [['one', 'three'], 'clean'],
    [['two', 'three'], 'clean'],
  ])
})
