import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RunRecord, TestRun } from '@buildwave/core'
import { connect, type Engine, reap } from '@buildwave/engine'
import { commitTree, treeWithFiles, writeBlob } from '@buildwave/git'
import { runPaths } from '@buildwave/store'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runRecord } from '../../../test/support/records.ts'
import { git, makeRepository, temporaryFolder } from '../../../test/support/repository.ts'
import { compareTests } from '../src/compare.ts'
import { ensureBaseline, openRunRepo, openSuite, runTests, type Suite, splitFlaky } from '../src/index.ts'

// Every step starts containers; on a busy machine one can take long without anything being wrong.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

const files = {
  'check.sh': 'set -e\npython3 -m pytest -q\n',
  'report.xml': '<testsuite><testcase name="committed"/></testsuite>',
  'tests/test_plain.py':
    'import pytest\n\nclass TestBox:\n    @pytest.mark.parametrize("n", [1, 2])\n    def test_size(self, n):\n        assert n\n\ndef test_red():\n    assert False\n\n@pytest.mark.skip\ndef test_left():\n    pass\n',
}

let engine: Engine
let repo: string
const opened: Suite[] = []

beforeAll(async () => {
  engine = await connect()
  repo = makeRepository(files)
})

afterAll(async () => {
  for (const { run, paths } of opened) {
    await reap(engine, { run: run.run, keep: () => false })
    rmSync(join(paths.dir, '..', '..'), { recursive: true, force: true })
  }
  rmSync(dirname(repo), { recursive: true, force: true })
})

async function open(change: Partial<RunRecord>): Promise<Suite> {
  const base = git(repo, 'rev-parse', 'HEAD')
  const run = runRecord({ run: `checks-${process.pid}-${opened.length}`, repo, base, ...change })
  const paths = runPaths(temporaryFolder('bw-state-'), run.run)
  mkdirSync(paths.dir, { recursive: true })
  const suite = await openSuite({ run, paths, engine, repo: await openRunRepo(run, paths) })
  opened.push(suite)
  return suite
}

/** A commit on the base with these files changed; null takes one away. */
async function commit({ repo: store, run }: Suite, changed: Record<string, string | null>): Promise<string> {
  const entries = Object.entries(changed).map(async ([path, content]) => {
    const file = content === null ? null : { mode: '100644', oid: await writeBlob(store, Buffer.from(content)) }
    return [path, file] as const
  })
  const tree = await treeWithFiles(store, run.base, new Map(await Promise.all(entries)))
  const identity = { name: 'A', email: 'a@example.com' }
  return commitTree(store, { tree, parents: [run.base], message: 'x', identity, date: '2026-01-01T00:00:00Z' })
}

const test = (suite: Suite, oid: string) => runTests(suite, { stage: 'test', name: 'x', commit: oid, log: 'x.log' })

describe('runTests', () => {
  it('names every test that pytest ran behind a script, and keeps the output', async () => {
    const suite = await open({ test: 'sh check.sh' })
    expect(await test(suite, suite.run.base)).toMatchObject({
      verdict: 'red',
      exit: 1,
      runner: 'pytest',
      tests: {
        'tests/test_plain.py::TestBox::test_size[1]': 'passed',
        'tests/test_plain.py::TestBox::test_size[2]': 'passed',
        'tests/test_plain.py::test_red': 'failed',
        'tests/test_plain.py::test_left': 'skipped',
      },
      log: 'x.log',
    })
    expect(readFileSync(join(suite.paths.dir, 'x.log'), 'utf8')).toContain('1 failed, 2 passed, 1 skipped')
  })

  it('runs the other files when one cannot be imported', async () => {
    const suite = await open({ test: 'python3 -m pytest -q' })
    const { tests } = await test(suite, await commit(suite, { 'tests/test_broken.py': 'import nothing_like_it\n' }))
    expect(Object.entries(tests ?? {}).filter(([name]) => name.includes('test_broken'))).toEqual([
      [expect.any(String), 'failed'],
    ])
    expect(tests?.['tests/test_plain.py::TestBox::test_size[1]']).toBe('passed')
  })

  it('does not take a committed report for the result', async () => {
    const suite = await open({ test: 'true', junit: 'report.xml' })
    expect(await test(suite, suite.run.base)).toMatchObject({ verdict: 'green', runner: 'junit', tests: null })
    const writes = await open({ test: 'cp report.txt report.xml', junit: 'report.xml' })
    const oid = await commit(writes, {
      'report.txt': '<testsuite><testcase name="a"><failure/></testcase></testsuite>',
    })
    expect(await test(writes, oid)).toMatchObject({ verdict: 'red', exit: 0, tests: { a: 'failed' } })
  })

  it('ends a command and all that it started at the time limit', async () => {
    const limits = { ...runRecord().limits, testMinutes: 0.05 }
    const suite = await open({ test: 'sleep 600 & sleep 600', limits })
    expect(await test(suite, suite.run.base)).toMatchObject({ verdict: 'timed-out', exit: null, tests: null })
  })

  it('knows only the status where nothing tells more', async () => {
    const suite = await open({ test: 'exit 3' })
    expect(await test(suite, suite.run.base)).toMatchObject({ verdict: 'red', exit: 3, runner: 'exit', tests: null })
  })

  it('has no network and nothing of the host in reach', async () => {
    const suite = await open({
      test: 'test "$(ls /sys/class/net)" = lo && ! env | grep BW_ && ! test -e /var/run/docker.sock',
    })
    expect((await test(suite, suite.run.base)).verdict).toBe('green')
  })
})

describe('ensureBaseline', () => {
  const door = () => {
    const records: { kind: string; [field: string]: unknown }[] = []
    return {
      records,
      name: 'test',
      interrupt: { now: new AbortController().signal },
      findByKey: (kind: string, key: string) =>
        records.findLast((known) => known.kind === kind && known['key'] === key),
      emit: async (record: { kind: string }) => void records.push(record),
      passOn: async () => undefined,
    }
  }

  it('is run once, and red is usable', async () => {
    const suite = await open({ test: 'python3 -m pytest -q' })
    const stage = door()
    const first = await ensureBaseline(suite, stage)
    expect(first.result.verdict).toBe('red')
    rmSync(join(suite.paths.dir, 'baseline.log'))
    expect(await ensureBaseline(suite, stage)).toEqual(first)
    expect(existsSync(join(suite.paths.dir, 'baseline.log'))).toBe(false)
    expect(stage.records).toHaveLength(1)
  })

  it.each([
    ['a program that is not there', 'no-such-program --all', /cannot be run at the base \(exit 127\)\n.*not found/],
    ['a runner that is used wrongly', 'python3 -m pytest --no-such-flag', /\(exit 4\)\n[\s\S]*no-such-flag/],
    ['no test at all', 'python3 -m pytest -q docs', /\(exit 4\)/],
    ['nothing collected', 'python3 -m pytest -q -k none_of_these', /\(exit 5\)/],
  ])('refuses %s, with the end of the output and a hint', async (_title, command, message) => {
    const suite = await open({ test: command })
    const stage = door()
    await expect(ensureBaseline(suite, stage)).rejects.toMatchObject({
      code: 'unusable-baseline',
      message: expect.stringMatching(message),
      hint: expect.stringContaining('--test'),
    })
    expect(stage.records).toEqual([])
  })
})

describe('splitFlaky', () => {
  /** A run in which a test that in truth passes had failed by chance: containers share nothing, so chance is said here. */
  const unlucky = (result: TestRun) => ({
    ...result,
    tests: { ...result.tests, 'tests/test_flaky.py::test_flaky': 'failed' as const },
  })

  it('takes what passes now and then out, and leaves what is broken', async () => {
    const suite = await open({ test: 'python3 -m pytest -q' })
    const baseline = await test(suite, suite.run.base)
    const oid = await commit(suite, {
      'tests/test_flaky.py': 'def test_flaky():\n    pass\n',
      'tests/test_plain.py': files['tests/test_plain.py'].replace('assert n', 'assert n == 1'),
    })
    const now = unlucky(await test(suite, oid))
    const request = { stage: 'test', name: 'x', commit: oid, log: 'x.log' }
    const reference = { commit: suite.run.base, result: baseline }
    const changes = await splitFlaky(suite, { reference, now, changes: compareTests(baseline, now), request, slots: 1 })
    expect(changes).toMatchObject({
      verdict: 'worse',
      newlyFailing: ['tests/test_plain.py::TestBox::test_size[2]'],
      flaky: ['tests/test_flaky.py::test_flaky'],
    })
  })

  it('blames on nobody what fails at the base too', async () => {
    const suite = await open({ test: 'python3 -m pytest -q' })
    const ran = await test(suite, suite.run.base)
    const baseline = { ...ran, tests: { ...ran.tests, 'tests/test_plain.py::test_red': 'passed' as const } }
    const request = { stage: 'test', name: 'x', commit: suite.run.base, log: 'x.log' }
    const reference = { commit: suite.run.base, result: baseline }
    const changes = await splitFlaky(suite, {
      reference,
      now: ran,
      changes: compareTests(baseline, ran),
      request,
      slots: 1,
    })
    expect(changes).toMatchObject({ verdict: 'ok', newlyFailing: [], flaky: ['tests/test_plain.py::test_red'] })
  })

  it('blames a test that only fails in company on whoever broke it', async () => {
    const suite = await open({ test: 'python3 -m pytest -q' })
    const clean = await commit(suite, {
      'state.py': 'seen = []\n',
      'tests/test_z.py': 'import state\n\ndef test_z():\n    assert state.seen == []\n',
    })
    const baseline = await test(suite, clean)
    const dirty = await commit(suite, {
      'state.py': 'seen = []\n',
      'tests/test_a.py': 'import state\n\ndef test_a():\n    state.seen.append(1)\n',
      'tests/test_z.py': 'import state\n\ndef test_z():\n    assert state.seen == []\n',
    })
    const now = await test(suite, dirty)
    const request = { stage: 'test', name: 'x', commit: dirty, log: 'x.log' }
    const reference = { commit: clean, result: baseline }
    const changes = await splitFlaky(suite, { reference, now, changes: compareTests(baseline, now), request, slots: 1 })
    expect(changes).toMatchObject({ verdict: 'worse', newlyFailing: ['tests/test_z.py::test_z'], flaky: [] })
  })

  it('tries a command of unknown kind as a whole', async () => {
    const suite = await open({ test: 'test -e broken && exit 1; exit 0' })
    const baseline = await test(suite, suite.run.base)
    const reference = { commit: suite.run.base, result: baseline }
    const split = async (oid: string, now: TestRun) => {
      const request = { stage: 'test', name: 'x', commit: oid, log: 'x.log' }
      return splitFlaky(suite, { reference, now, changes: compareTests(baseline, now), request, slots: 3 })
    }
    const red = { ...baseline, verdict: 'red' as const, exit: 1 }
    expect(await split(suite.run.base, red)).toMatchObject({ verdict: 'ok', flaky: [suite.run.test] })
    const broken = await commit(suite, { broken: '' })
    expect(await split(broken, await test(suite, broken))).toMatchObject({ verdict: 'worse', flaky: [] })
  })
})
