import { compileScope, type ItemRecord, type PatchRecord, type RegressionRecord, type TestRun } from '@buildwave/core'
import { commitTree, listChanges, treeWithFiles } from '@buildwave/git'
import { workKey } from '@buildwave/store'
import { runTests } from './run-tests.ts'
import { type Suite, suiteKey } from './suite.ts'
import { looksLikeTest } from './test-files.ts'

/** What of a patch the question needs: the collected commit, its tests and what they changed. */
export type Proposed = Pick<PatchRecord, 'item' | 'attempt' | 'commit' | 'start' | 'tests' | 'changes'>

export interface RegressionRequest {
  stage: string
  item: ItemRecord
  patch: Proposed
  /** Which changed files are the item's tests; none: those that look like tests. */
  testGlobs: readonly string[]
  /** Relative to the run's folder. */
  log: string
  signal: AbortSignal
}

/** The key of a regression check. */
export function regressionKey(suite: Suite, { item, patch, testGlobs }: RegressionRequest): string {
  return workKey('regression', suiteKey(suite), item.item, patch.commit, patch.start, testGlobs)
}

/**
 * Runs the tests that a patch adds or changes on its start commit without the rest of the patch: a test that shows a fault
 * must fail there. `proven` when at least one test passes with the patch and does not without it, `unproven` when none does,
 * `no-tests` when the patch changes no test and mends none that was there, `unknown` when the run without the patch could
 * not be made. A test that was there and failed, and now passes, is proof without another run.
 */
export async function checkRegression(suite: Suite, request: RegressionRequest): Promise<RegressionRecord> {
  const { item, patch } = request
  const answer = await findProof(suite, request)
  return {
    kind: 'regression',
    v: 1,
    run: suite.run.run,
    item: item.item,
    attempt: patch.attempt,
    key: regressionKey(suite, request),
    at: new Date().toISOString(),
    ...answer,
  }
}

type Proof = Pick<RegressionRecord, 'verdict' | 'testFiles' | 'failedWithoutFix' | 'log'>

async function findProof(suite: Suite, request: RegressionRequest): Promise<Proof> {
  const { patch } = request
  const none = { testFiles: [], failedWithoutFix: [], log: null }
  if (patch.commit === null || patch.tests === null) return { verdict: 'unknown', ...none }
  const fixed = patch.changes?.fixed ?? []
  const isTest = request.testGlobs.length > 0 ? compileScope(request.testGlobs) : looksLikeTest
  const changes = await listChanges(suite.repo, patch.start, patch.commit)
  const files = new Map(changes.filter(({ path, to }) => to !== null && isTest(path)).map(({ path, to }) => [path, to]))
  const testFiles = [...files.keys()]
  if (fixed.length > 0) return { verdict: 'proven', testFiles, failedWithoutFix: fixed, log: null }
  if (testFiles.length === 0) return { verdict: 'no-tests', ...none }

  const { repo, run } = suite
  const commit = await commitTree(repo, {
    tree: await treeWithFiles(repo, patch.start, files),
    parents: [patch.start],
    message: 'tests without the fix',
    identity: run.identity ?? { name: 'buildwave', email: 'buildwave@localhost' },
    date: '2000-01-01T00:00:00Z',
  })
  const without = await runTests(suite, {
    stage: request.stage,
    name: `${request.item.item}-regression`,
    commit,
    log: request.log,
    signal: request.signal,
  })
  return { testFiles, log: request.log, ...compareProof(patch.tests, without) }
}

/** What a run with the fix and one without it prove; `failedWithoutFix` is empty where the tests have no names. */
export function compareProof(
  withFix: TestRun,
  without: TestRun,
): Pick<RegressionRecord, 'verdict' | 'failedWithoutFix'> {
  if (without.verdict === 'error' || without.verdict === 'timed-out')
    return { verdict: 'unknown', failedWithoutFix: [] }
  if (withFix.tests === null || without.tests === null) {
    const isProven = withFix.verdict === 'green' && without.verdict === 'red'
    return { verdict: isProven ? 'proven' : 'unproven', failedWithoutFix: [] }
  }
  const now = new Map(Object.entries(withFix.tests))
  const before = new Map(Object.entries(without.tests))
  // A file that cannot even be imported without the fix shows none of its tests: not there counts as failed.
  const isGone = (name: string) => !before.has(name) && without.verdict === 'red'
  const failedWithoutFix = [...now.keys()]
    .filter((name) => now.get(name) === 'passed' && (before.get(name) === 'failed' || isGone(name)))
    .sort()
  return { verdict: failedWithoutFix.length > 0 ? 'proven' : 'unproven', failedWithoutFix }
}
