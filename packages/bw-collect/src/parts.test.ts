import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Change, inspectSource, listChanges } from '@buildwave/git'
import { describe, expect, it } from 'vitest'
import { itemRecord, runRecord } from '../../../test/support/records.ts'
import { git, makeRepository } from '../../../test/support/repository.ts'
import { leadsOut } from './links.ts'
import { oversizeFiles } from './oversize.ts'
import { onlyAdds } from './rewritten.ts'
import { outOfScope } from './scope.ts'

describe('outOfScope', () => {
  const items = [
    itemRecord('one', { owns: ['src/**', '!src/b/**'] }),
    itemRecord('two', { owns: ['src/b/**', '*.md'] }),
    itemRecord('three', { owns: ['src/b/x.py'] }),
    itemRecord('any', { owns: [], ownsFrom: 'unknown' }),
  ]
  const run = runRecord({ shared: ['CHANGES.md'] })
  const paths = ['src/a.py', 'src/b/x.py', 'README.md', 'CHANGES.md', 'else.py', '.hidden']

  it('names what is neither owned nor shared, with the first item of the plan that owns it', () => {
    expect(outOfScope(paths, { item: items[0] ?? itemRecord('x'), items, run })).toEqual([
      { path: 'src/b/x.py', ownedBy: 'two' },
      { path: 'README.md', ownedBy: 'two' },
      { path: 'else.py', ownedBy: null },
      { path: '.hidden', ownedBy: null },
    ])
  })

  it('asks nothing of an item whose files nobody knows', () => {
    expect(outOfScope(paths, { item: items[3] ?? itemRecord('x'), items, run })).toEqual([])
  })
})

describe('leadsOut', () => {
  it.each([
    ['a', '/etc/passwd', true],
    ['a', '../x', true],
    ['d/e/a', '../../x', false],
    ['d/e/a', '../../../x', true],
    ['d/a', 'b/../../../x', true],
    ['d/a', '..', false],
    ['a', '..', true],
    ['a', '..b', false],
    ['a', '', false],
  ])('%s -> %j: %s', (path, target, answer) => {
    expect(leadsOut(path, target)).toBe(answer)
  })
})

describe('onlyAdds', () => {
  it.each([
    ['a\nb\n', 'a\nb\nc\n', true],
    ['a\nb\n', 'x\na\ny\nb\n', true],
    ['a\nb\n', 'a\nB\n', false],
    ['a\nb\n', 'b\na\n', false],
    ['', 'a\n', true],
    ['a', '', false],
  ])('%j to %j: %s', (before, after, answer) => {
    expect(onlyAdds(before, after)).toBe(answer)
  })
})

describe('oversizeFiles', () => {
  it('names files above the limit, and only new content', async () => {
    const folder = makeRepository({ old: 'x'.repeat(50), small: 'x', large: 'x' })
    makeRepository({ small: 'xx', large: 'x'.repeat(11), edge: 'x'.repeat(10) }, folder)
    const source = await inspectSource(folder)
    const changes: Change[] = await listChanges(source, git(folder, 'rev-parse', 'HEAD~1'), 'HEAD')
    expect(await oversizeFiles(source, changes, 10)).toEqual(['large'])
    rmSync(dirname(folder), { recursive: true, force: true })
  })
})
