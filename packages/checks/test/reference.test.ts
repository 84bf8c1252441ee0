import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestOutcome, TestRun } from '@buildwave/core'
import { commitTree, importCommit, initStore, inspectSource, type Repo } from '@buildwave/git'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runRecord } from '../../../test/support/records.ts'
import { git, makeRepository } from '../../../test/support/repository.ts'
import { compareTests } from '../src/compare.ts'
import { referenceAt } from '../src/reference.ts'

const ran = (tests: Record<string, TestOutcome> | null): TestRun => ({
  verdict: 'green',
  exit: 0,
  runner: 'pytest',
  tests,
  log: 'x.log',
  seconds: 1,
})

let source: string
let repo: Repo
let base: string
let heads: string[]

beforeAll(async () => {
  source = makeRepository({ a: 'a' })
  repo = await initStore(join(dirname(source), 'repo.git'))
  const found = await inspectSource(source)
  base = git(source, 'rev-parse', 'HEAD')
  await importCommit(repo, found, base)
  heads = []
  const tree = git(source, 'rev-parse', 'HEAD^{tree}')
  const identity = { name: 'A', email: 'a@example.com' }
  for (const message of ['one', 'two', 'three'])
    heads.push(
      await commitTree(repo, {
        tree,
        parents: [heads.at(-1) ?? base],
        message,
        identity,
        date: '2026-01-01T00:00:00Z',
      }),
    )
})

afterAll(() => rmSync(dirname(source), { recursive: true, force: true }))

/** The journal of three merged items, each of which added a test, and the second mended one of the base's. */
function journal() {
  const shown: Record<string, TestOutcome>[] = [
    { base: 'passed', red: 'failed', one: 'passed' },
    { base: 'passed', red: 'passed', two: 'passed' },
    { base: 'passed', red: 'failed', three: 'passed' },
  ]
  return ['one', 'two', 'three'].flatMap((item, n) => {
    const about = { v: 1, run: 'r', item, attempt: 1, key: '0'.repeat(16), at: '2026-01-01T00:00:00Z' }
    const patch = { start: base, commit: heads[n], tree: base, digest: null, files: [], outOfScope: [], changes: null }
    const merge = { outcome: 'applied', reason: null, message: '', head: heads[n], commit: heads[n], conflicts: [] }
    return [
      { kind: 'patch', ...about, ...patch, tests: ran(shown[n] ?? {}), verdict: 'ok', blockedBy: [] },
      { kind: 'merge', ...about, ...merge },
    ]
  })
}

const baseline = ran({ base: 'passed', red: 'failed' })
const reference = (start: string, given = baseline) =>
  referenceAt({ repo, run: runRecord({ run: 'r', base }) }, { baseline: given, start, journal: journal() })

describe('referenceAt', () => {
  it('is the baseline for an item that starts from the base', async () => {
    expect(await reference(base)).toEqual(baseline)
  })

  it('adds what the items merged below a later start showed, and no others', async () => {
    const { tests } = await reference(heads[1] ?? '')
    expect(tests).toEqual({ base: 'passed', red: 'passed', one: 'passed', two: 'passed' })
  })

  it("so holds the loss of an earlier item's test against the later one", async () => {
    const later = ran({ base: 'passed', red: 'failed', two: 'passed' })
    expect(compareTests(await reference(heads[1] ?? ''), later)).toMatchObject({
      verdict: 'worse',
      newlyFailing: ['red'],
      vanished: ['one'],
    })
  })

  it('stays unknown where the base knows no tests', async () => {
    expect((await reference(heads[2] ?? '', ran(null))).tests).toBeNull()
  })
})
