import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FailureRecord, PatchRecord, RegressionRecord } from '@buildwave/core'
import { connect, listOwned } from '@buildwave/engine'
import { stateId } from '@buildwave/store'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Answer, type Flow, only, openFlow, planned } from '../../../test/support/flow.ts'
import { git } from '../../../test/support/repository.ts'

// Every step starts containers; on a busy machine one can take long without anything being wrong.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

const files = {
  'calc/__init__.py': '',
  'calc/stats.py': 'def mean(xs):\n    return sum(xs) / (len(xs) + 1)\n',
  'calc/names.py': '',
  'calc/spans.py': 'def span(xs):\n    return max(xs)\n',
  'tests/test_stats.py': 'from calc.stats import mean\n\ndef test_zero():\n    assert mean([0]) == 0\n',
  'tests/test_known.py': 'from calc.spans import span\n\ndef test_known_fault():\n    assert span([2, 5]) == 3\n',
}

const mends = 'printf "def mean(xs):\\n    return sum(xs) / len(xs)\\n" > calc/stats.py\n'
const adds = (body: string) => `printf "\\ndef test_more():\\n    assert ${body}\\n" >> tests/test_stats.py\n`

const builders: Record<string, string> = {
  'fix-shown': `${mends}${adds('mean([2, 4]) == 3')}git rm -q --cached tests/test_known.py; true\n`,
  'fix-not-shown': adds('mean([0, 0]) == 0'),
  'fix-untested': 'echo "# mended" >> calc/stats.py\n',
  'fix-known': 'printf "def span(xs):\\n    return max(xs) - min(xs)\\n" > calc/spans.py\n',
  'odd-files': `mkdir -p own; printf 'a\\r\\nb' > own/crlf; printf '\\0\\377' > own/binary; : > own/empty
printf '#!/bin/sh\\n' > own/run; chmod +x own/run; ln -s ../../../etc/passwd own/out-link; ln -s run own/in-link
printf x > 'own/with space'; printf x > "own/$(printf 'new\\nline')"\n`,
  idle: 'echo "nothing to do"\n',
  strays: 'echo >> calc/stats.py; echo >> calc/names.py; echo x > calc/new.py\n',
  nests:
    'mkdir inner && cd inner && git init -q && echo x > f && git add f && git -c user.name=a -c user.email=a@b commit -qm x\n',
}

const owns: Record<string, string[]> = {
  'odd-files': ['own/**'],
  strays: ['calc/stats.py'],
  nests: ['inner/**'],
}

const items = Object.keys(builders).map((item) =>
  planned(item, owns[item] ?? ['calc/s*.py', 'tests/**'], { type: item.startsWith('fix') ? 'bugfix' : 'feature' }),
)

let flow: Flow
let built: string
let answer: Answer
const patchOf = (item: string) => only<PatchRecord & { escapingLinks: unknown }>(answer, 'patch', item)
const regressionOf = (item: string) => only<RegressionRecord>(answer, 'regression', item)
const store = () => join(flow.state, 'runs', flow.run.run, 'repo.git')
const keptItems = async () => {
  const things = await listOwned(await connect({ state: stateId(flow.state) }), { run: flow.run.run })
  return [...new Set(things.flatMap(({ item }) => item ?? []))]
}

beforeAll(async () => {
  flow = openFlow(files, { shared: ['calc/names.py'] })
  built = await flow.build(builders, [...items, planned('owner', ['calc/new.py'], { done: true })])
  answer = await flow.call('bw-collect', [], built)
})

afterAll(() => flow.close())

describe('bw-collect', () => {
  it('makes a commit of what is in the folder, whatever the builder told its own git', () => {
    const { commit, files: changed, start } = patchOf('fix-shown')
    expect(changed.map(({ path, status }) => `${status} ${path}`)).toEqual([
      'modified calc/stats.py',
      'modified tests/test_stats.py',
    ])
    expect(git(store(), 'log', '-1', '--format=%P|%s|%an <%ae>|%cn', String(commit))).toBe(
      `${start}|Do fix-shown|A <a@example.com>|A`,
    )
    expect(git(store(), 'rev-parse', 'refs/bw/fix-shown/1')).toBe(commit)
  })

  it('keeps bytes, modes, links and odd names, and names a link that leads out', () => {
    const patch = patchOf('odd-files')
    const modes = Object.fromEntries(patch.files.map(({ path, mode }) => [path, mode]))
    expect(modes).toEqual({
      'own/binary': '100644',
      'own/crlf': '100644',
      'own/empty': '100644',
      'own/in-link': '120000',
      'own/new\nline': '100644',
      'own/out-link': '120000',
      'own/run': '100755',
      'own/with space': '100644',
    })
    const read = (path: string) =>
      execFileSync('git', ['--git-dir', store(), 'cat-file', 'blob', `${patch.commit}:${path}`])
    expect(read('own/crlf').toString()).toBe('a\r\nb')
    expect([...read('own/binary')]).toEqual([0, 255])
    expect(patch.escapingLinks).toEqual([{ path: 'own/out-link', target: '../../../etc/passwd' }])
    expect(patch.verdict).toBe('ok')
  })

  it('reports files outside of the scope with their owner; shared ones are free', () => {
    expect(patchOf('strays').outOfScope).toEqual([{ path: 'calc/new.py', ownedBy: 'owner' }])
    expect(patchOf('strays').verdict).toBe('ok')
  })

  it('refuses a nested repository by name and keeps its containers', async () => {
    expect(only<FailureRecord>(answer, 'failure', 'nests')).toMatchObject({ code: 'nested-repository' })
    expect(only<FailureRecord>(answer, 'failure', 'nests').message).toContain('inner')
    expect(await keptItems()).toEqual(['nests'])
  })

  it('proves a fix by tests that fail without it', () => {
    expect(regressionOf('fix-shown')).toMatchObject({
      verdict: 'proven',
      testFiles: ['tests/test_stats.py'],
      failedWithoutFix: ['tests/test_stats.py::test_more'],
    })
    expect(patchOf('fix-shown').verdict).toBe('ok')
  })

  it('takes a test that failed at the base and passes now for proof', () => {
    expect(regressionOf('fix-known')).toMatchObject({
      verdict: 'proven',
      failedWithoutFix: ['tests/test_known.py::test_known_fault'],
      log: null,
    })
    expect(patchOf('fix-known').verdict).toBe('ok')
  })

  it('blocks a fix whose test passes without it', () => {
    expect(regressionOf('fix-not-shown')).toMatchObject({ verdict: 'unproven', failedWithoutFix: [] })
    expect(patchOf('fix-not-shown').blockedBy).toEqual(['regression-unproven'])
  })

  it('blocks a fix that brings no test', () => {
    expect(regressionOf('fix-untested').verdict).toBe('no-tests')
    expect(patchOf('fix-untested').blockedBy).toEqual(['regression-untested'])
  })

  it('writes the regression before the patch that rests on it', () => {
    const kinds = answer.records.filter(({ item }) => item === 'fix-shown').map(({ kind }) => kind)
    expect(kinds.slice(-2)).toEqual(['regression', 'patch'])
  })

  it('does nothing again on the same records, and says the same', async () => {
    const before = readFileSync(join(store(), '..', 'journal.ndjson'), 'utf8')
    const again = await flow.call('bw-collect', [], built)
    const about = ({ records }: Answer) =>
      records.filter(({ kind }) => kind === 'patch' || kind === 'regression').map((record) => JSON.stringify(record))
    expect(about(again).sort()).toEqual(about(answer).sort())
    expect(again.status).toBe(5)
    const added = readFileSync(join(store(), '..', 'journal.ndjson'), 'utf8')
      .slice(before.length)
      .trimEnd()
      .split('\n')
    expect(added.map((line) => JSON.parse(line).kind)).toEqual(['failure', 'end'])
  })

  it('judges again from the kept commits once the containers are gone', async () => {
    const some = built
      .split('\n')
      .filter((line) => !line.includes('"kind":"build"') || /"item":"(strays|idle)"/.test(line))
      .join('\n')
    const again = await flow.call('bw-collect', ['--again', '--scope', 'block'], some)
    const patch = only<PatchRecord>(again, 'patch', 'strays')
    expect(patch.commit).toBe(patchOf('strays').commit)
    expect(patch.blockedBy).toEqual(['out-of-scope'])
    expect(only<PatchRecord>(again, 'patch', 'idle')).toMatchObject({ commit: null, blockedBy: ['no-changes'] })
  })

  it('answers for an attempt that is gone before it was collected with exit 4', async () => {
    const renamed = built.replaceAll('"attempt":1', '"attempt":9')
    const lost = renamed
      .split('\n')
      .filter((line) => !line.includes('"kind":"build"') || line.includes('"item":"strays"'))
      .join('\n')
    const again = await flow.call('bw-collect', [], lost)
    expect(only<FailureRecord>(again, 'failure', 'strays').code).toBe('attempt-gone')
    expect(again.status).toBe(4)
  })
})

describe('bw-regress', () => {
  it('asks any patch, by the globs given', async () => {
    const asked = await flow.call('bw-regress', ['--run', flow.run.run, '--tests', 'tests/*', 'fix-not-shown'])
    const last = asked.records.findLast(({ kind, item }) => kind === 'regression' && item === 'fix-not-shown')
    expect(last).toMatchObject({ verdict: 'unproven', testFiles: ['tests/test_stats.py'] })
    expect(asked.status).toBe(5)
  })

  it('passes on the answer that bw-collect had', async () => {
    const asked = await flow.call('bw-regress', ['--run', flow.run.run, 'fix-shown'])
    expect(asked.records.filter(({ kind, item }) => kind === 'regression' && item === 'fix-shown')).toHaveLength(1)
    expect(asked.status).toBe(0)
  })

  it('names an item that has no patch', async () => {
    const asked = await flow.call('bw-regress', ['--run', flow.run.run, 'nobody'])
    expect(asked.stderr).toMatch(/^bw-regress: no patch of item 'nobody'/)
    expect(asked.status).toBe(1)
  })
})
