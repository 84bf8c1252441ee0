import {
  compareTests,
  decidesTests,
  referenceAt,
  runTests,
  type Suite,
  splitFlaky,
  type TestRequest,
} from '@buildwave/checks'
import type { PatchRecord, TestChanges, TestRun } from '@buildwave/core'
import { type Change, commitTree, treeWithFiles } from '@buildwave/git'
import { rewrittenTests } from './rewritten.ts'

export interface Judgement {
  tests: TestRun
  changes: TestChanges
  /** What the tests say once the files that could decide them, outside of the item's scope, are as they were; null: none. */
  restored: WithOldFiles | null
  /** The same for tests that are the item's own to change and that it did not only add to: for a person to look at. */
  rewritten: WithOldFiles | null
}

export interface WithOldFiles {
  files: string[]
  changes: TestChanges
}

export interface JudgeRequest {
  baseline: TestRun
  patch: Pick<PatchRecord, 'start' | 'outOfScope'> & { commit: string }
  changes: readonly Change[]
  journal: readonly { kind: string; [field: string]: unknown }[]
  request: TestRequest
}

interface Reference {
  commit: string
  result: TestRun
}

/**
 * Runs the tests on a collected commit and compares them with what its start showed.
 *
 * A builder could also make tests pass by changing what decides about them: another item's tests, a `conftest.py`, a module
 * in front of pytest's own. Where it touched such a file outside of its scope, the tests are run once more with those files
 * put back, and both answers count. Of tests that it may change, those that ask for something else now are run as they were
 * too, but whether that is right is for a person to say.
 */
export async function judge(suite: Suite, question: JudgeRequest): Promise<Judgement> {
  const { baseline, patch, journal, request } = question
  const result = await referenceAt(suite, { baseline, start: patch.start, journal })
  const reference = { commit: patch.start, result }
  const tests = await runTests(suite, request)
  const compared = compareTests(result, tests)
  const changes = await splitFlaky(suite, { reference, now: tests, changes: compared, request, slots: 1 })
  const outside = new Set(patch.outOfScope.map(({ path }) => path))
  const deciding = [...outside].filter((path) => decidesTests(path, suite.run.test))
  const restored = await judgeWithOld(suite, question, { reference, files: deciding, name: 'restored' })
  const changed = (await rewrittenTests(suite.repo, question.changes)).filter((path) => !outside.has(path))
  const rewritten = await judgeWithOld(suite, question, { reference, files: changed, name: 'rewritten' })
  return { tests, changes, restored, rewritten }
}

/** Why tests block a patch, as stable codes. */
export function testBlocks({ tests, changes, restored }: Judgement): string[] {
  const worse = changes.verdict === 'worse'
  const codes = { 'timed-out': 'tests-timed-out', error: 'tests-unrunnable', red: 'tests-worse', green: 'tests-worse' }
  return [...(worse ? [codes[tests.verdict]] : []), ...(restored?.changes.verdict === 'worse' ? ['tests-edited'] : [])]
}

async function judgeWithOld(
  suite: Suite,
  question: JudgeRequest,
  { reference, files, name }: { reference: Reference; files: string[]; name: string },
): Promise<WithOldFiles | null> {
  if (files.length === 0) return null
  const { request } = question
  const commit = await putBack(suite, question, files)
  const again = { ...request, commit, name: `${request.name}-${name}`, log: `${request.log}.${name}` }
  const now = await runTests(suite, again)
  const compared = withoutAdded(reference.result, now)
  return { files, changes: await splitFlaky(suite, { reference, now, changes: compared, request: again, slots: 1 }) }
}

/** Only tests of the reference count here: new ones may need the very files that were put back. */
function withoutAdded(reference: TestRun, now: TestRun): TestChanges {
  if (reference.tests === null || now.tests === null) return compareTests(reference, now)
  const known = Object.entries(now.tests).filter(([name]) => Object.hasOwn(reference.tests ?? {}, name))
  const hasFailure = known.some(([, outcome]) => outcome === 'failed')
  const isExplained = now.verdict === 'red' && !hasFailure && Object.values(now.tests).includes('failed')
  const tests = Object.fromEntries(known)
  return compareTests(reference, { ...now, tests, verdict: isExplained ? 'green' : now.verdict })
}

async function putBack({ repo }: Suite, { patch, changes }: JudgeRequest, files: readonly string[]): Promise<string> {
  const old = new Map(changes.map(({ path, from }) => [path, from]))
  const tree = await treeWithFiles(repo, patch.commit, new Map(files.map((path) => [path, old.get(path) ?? null])))
  return commitTree(repo, {
    tree,
    parents: [patch.start],
    message: 'some files put back',
    identity: { name: 'buildwave', email: 'buildwave@localhost' },
    date: '2000-01-01T00:00:00Z',
  })
}
