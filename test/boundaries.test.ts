import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  coreIsPure,
  declarationsAreUsed,
  doorsAreKept,
  importsAreDeclared,
  noCycle,
  noToolIsImported,
  onlyGitStartsGit,
  pathsStayInside,
  stdioHasTheProcess,
  tableIsKept,
} from './support/boundary-rules.ts'
import { section, tableRows } from './support/markdown.ts'
import { root } from './support/pipeline.ts'
import { readWorkspace, sourceFile, type Workspace } from './support/workspace.ts'

const workspace = readWorkspace(root)
const layout = readFileSync(join(root, 'packages', 'README.md'), 'utf8')
const list = (cell = '') => cell.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
const mayImport = new Map(tableRows(section(layout, 'Layout')).map(([name = '', , names]) => [name, list(names)]))
const doors = new Map(tableRows(section(layout, 'Doors')).map(([module = '', names]) => [module, list(names)]))

/** A workspace of one package with one file, to show that a rule can fail. */
function small(name: string, text: string, { path = 'src/main.ts', dependencies = [] as string[] } = {}): Workspace {
  return {
    packages: [{ name, dependencies, devDependencies: [], files: [sourceFile(path, text)] }],
    rootDevDependencies: ['vitest'],
  }
}

describe('packages', () => {
  it('declare every import in their own manifest', () => {
    expect(importsAreDeclared(workspace)).toEqual([])
    expect(importsAreDeclared(small('a', `import x from 'left-pad'\n`))).toEqual(['a/src/main.ts: undeclared left-pad'])
    expect(importsAreDeclared(small('a', `import {\n  x,\n} from '@buildwave/core'\n`))).toHaveLength(1)
    expect(importsAreDeclared(small('a', `const x = await import('zod')\n`))).toHaveLength(1)
    expect(importsAreDeclared(small('a', `import { it } from 'vitest'\n`))).toHaveLength(1)
    expect(importsAreDeclared(small('a', `import { it } from 'vitest'\n`, { path: 'src/a.test.ts' }))).toEqual([])
  })

  it('use everything that they declare', () => {
    expect(declarationsAreUsed(workspace)).toEqual([])
    expect(declarationsAreUsed(small('a', '', { dependencies: ['zod'] }))).toEqual(['a: unused zod'])
    const onlyInTests = { dependencies: ['zod'], path: 'test/a.test.ts' }
    expect(declarationsAreUsed(small('a', `import * as z from 'zod'\n`, onlyInTests))).toEqual(['a: unused zod'])
  })

  it('import no tool', () => {
    expect(noToolIsImported(workspace)).toEqual([])
    expect(noToolIsImported(small('bw-b', `import { a } from '@buildwave/bw-a'\n`))).toHaveLength(1)
  })

  it('leave their folder by no path, test/support aside', () => {
    expect(pathsStayInside(workspace)).toEqual([])
    expect(pathsStayInside(small('a', `import { x } from '../../b/src/x.ts'\n`))).toHaveLength(1)
    expect(pathsStayInside(small('a', `import { x } from '../../../test/support/x.ts'\n`))).toHaveLength(1)
    const test = { path: 'test/a.test.ts' }
    expect(pathsStayInside(small('a', `import { x } from '../../../test/support/x.ts'\n`, test))).toEqual([])
    expect(pathsStayInside(small('a', `import { x } from '../../b/src/x.ts'\n`, test))).toHaveLength(1)
  })

  it('import each other without a cycle', () => {
    expect(noCycle(workspace)).toEqual([])
    const a = small('a', `import { b } from '@buildwave/b'\n`).packages
    const b = small('b', `import { a } from '@buildwave/a'\n`).packages
    expect(noCycle({ packages: [...a, ...b], rootDevDependencies: [] })).toEqual(['a -> b -> a'])
  })

  it('import what the table of packages/README.md allows, and all stand in it', () => {
    expect(tableIsKept(mayImport)(workspace)).toEqual([])
    const alone = small('core', `import { x } from '@buildwave/git'\n`)
    expect(tableIsKept(new Map([['core', []]]))(alone)).toEqual(['core/src/main.ts: may not import git'])
    expect(tableIsKept(new Map())(small('core', ''))).toEqual(['core: not in the table'])
    expect(tableIsKept(new Map([['gone', []]]))({ packages: [], rootDevDependencies: [] })).toHaveLength(1)
  })
})

describe('doors', () => {
  it('are imported only where packages/README.md says', () => {
    expect([...doors.keys()]).toEqual(expect.arrayContaining(['execa', 'dockerode', 'node:child_process']))
    expect(doorsAreKept(doors)(workspace)).toEqual([])
    for (const module of doors.keys()) {
      expect(doorsAreKept(doors)(small('stage', `import { x } from '${module}'\n`))).toHaveLength(1)
    }
    expect(doorsAreKept(doors)(small('stage', `import type { x } from 'dockerode'\n`))).toEqual([])
  })

  it('leave core without the machine and without a clock', () => {
    expect(coreIsPure(workspace)).toEqual([])
    expect(coreIsPure(small('core', `import { join } from 'node:path'\n`))).toHaveLength(1)
    expect(coreIsPure(small('core', 'const at = new Date()\n'))).toHaveLength(1)
    expect(coreIsPure(small('core', 'const at = Date.now()\n'))).toHaveLength(1)
    expect(coreIsPure(small('core', 'const at = new Date(record.at)\n'))).toEqual([])
  })

  it('leave arguments and streams of the process to stdio', () => {
    expect(stdioHasTheProcess(workspace)).toEqual([])
    expect(stdioHasTheProcess(small('git', `process.stdout.write('')\n`))).toHaveLength(1)
    expect(stdioHasTheProcess(small('git', `console.log('')\n`))).toHaveLength(1)
    expect(stdioHasTheProcess(small('git', 'process.pid + process.platform\n'))).toEqual([])
  })

  it('leave starting git to the package git', () => {
    expect(onlyGitStartsGit(workspace)).toEqual([])
    expect(onlyGitStartsGit(small('bw-merge', `await run('git', ['gc'])\n`))).toHaveLength(1)
  })
})
