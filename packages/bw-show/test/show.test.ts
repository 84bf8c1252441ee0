import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { itemRecord, runRecord } from '../../../test/support/records.ts'
import { git, makeRepository, temporaryFolder } from '../../../test/support/repository.ts'
import {
  builderRecord,
  buildRecord,
  callTool,
  madeUpToken,
  makeRun,
  patchRecord,
} from '../../../test/support/run-folder.ts'
import { colourDiff, safeDiff } from '../src/diff.ts'

const token = madeUpToken()
const files = [{ path: 'a\u001b[31m.txt', status: 'added', mode: '100644' }] as const
const tests = {
  verdict: 'red',
  exit: 1,
  runner: 'pytest',
  tests: { a: 'passed', b: 'failed' },
  log: '',
  seconds: 1,
} as const
const changes = {
  verdict: 'worse',
  newlyFailing: ['b'],
  fixed: [],
  newlySkipped: [],
  vanished: [],
  added: [],
  flaky: [],
} as const

/** A run whose item 1 has a commit with a secret and a control character. */
function makeState() {
  const state = temporaryFolder()
  const repo = makeRepository({ 'start.txt': 'start\n' })
  const start = git(repo, 'rev-parse', 'HEAD')
  const left = makeRepository({ 'start.txt': 'start\n', 'a.txt': `key = ${token}\n\u001b]0;title\u0007\n` })
  git(repo, 'fetch', '-q', left, 'main')
  const commit = git(repo, 'rev-parse', 'FETCH_HEAD')
  const patch = patchRecord('1', {
    start,
    commit,
    files: [...files],
    outOfScope: [{ path: files[0].path, ownedBy: '2' }],
    tests: { ...tests, tests: { ...tests.tests } },
    changes: { ...changes, newlyFailing: ['b'], fixed: [], newlySkipped: [], vanished: [], added: [], flaky: [] },
    verdict: 'blocked',
    blockedBy: ['tests-worse'],
  })
  const build = buildRecord('1', { message: `used ${token}\u0007` })
  const records = [runRecord(), itemRecord('1'), itemRecord('2'), builderRecord('1'), build, patch, builderRecord('2')]
  const paths = makeRun(state, { run: 'a-1', records })
  git('/', 'clone', '-q', '--bare', repo, paths.repo)
  git(paths.repo, 'fetch', '-q', left, 'main:refs/bw/1/1')
  return { paths, call: (...args: string[]) => callTool('bw-show', args, { state }) }
}

it('in a pipe passes on what the journal says of the attempt, and nothing of others', async () => {
  const { call } = makeState()
  const { status, records } = await call('a-1', '1')
  expect(status).toBe(0)
  expect(records.map(({ kind, item }) => [kind, item])).toEqual([
    ['item', '1'],
    ['builder', '1'],
    ['build', '1'],
    ['patch', '1'],
  ])
})

it('as text shows verdicts, files and tests, then the patch, masked and escaped', async () => {
  const { call } = makeState()
  const { status, stdout } = await call('1', '--text')
  expect(status).toBe(0)
  expect(stdout).toContain('blocked: tests-worse')
  expect(stdout).toContain("added        a\\x1b[31m.txt (out of scope, 2's)")
  expect(stdout).toContain('tests        red: 1 passed, 1 failed')
  expect(stdout).toContain('newly failing:\n    b\n')
  expect(stdout).toContain('+key = sk-ant-oat01-…(108)\n+\\x1b]0;title\\x07\n')
  expect(stdout).not.toContain(token.slice(20, 40))
  expect(stdout).not.toContain('\u001b')
})

it('--patch is the masked patch alone', async () => {
  const { call } = makeState()
  const { status, stdout } = await call('1', '--patch')
  expect(status).toBe(0)
  expect(stdout).toMatch(/^diff --git a\/a\.txt b\/a\.txt\n/)
  expect(stdout).not.toContain(token.slice(20, 40))
})

it('says what is not there, and ends with 4 when the objects are not', async () => {
  const { call, paths } = makeState()
  expect(await call('2', '--patch')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('has not been collected'),
  })
  expect(await call('1', '--json', '--text')).toMatchObject({ status: 1, stdout: '' })
  for (const name of readdirSync(join(paths.repo, 'objects')))
    rmSync(join(paths.repo, 'objects', name), { recursive: true })
  expect(await call('1', '--patch')).toMatchObject({ status: 4, stdout: '' })
})

it('colours lines by their place, so that an added line cannot pass for a header', () => {
  const diff = safeDiff('diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+diff --git a/y b/y\n same\n')
  const kinds = colourDiff(diff)
    .split('\n')
    .map((line) => /^\u001b\[(\d+)m/.exec(line)?.[1] ?? '')
  expect(kinds).toEqual(['1', '1', '1', '36', '31', '32', '32', '', ''])
  expect(colourDiff(diff).replaceAll(/\u001b\[\d+m/g, '')).toBe(diff)
})
