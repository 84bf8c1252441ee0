import { type MergeRecord, mergeRecord, type PatchRecord, patchRecord, type TestRun } from '@buildwave/core'
import { listCommits } from '@buildwave/git'
import type { Suite } from './suite.ts'

interface JournalRecord {
  kind: string
  [field: string]: unknown
}

/**
 * What the tests of a start commit are known to show without running them: the baseline, and on top of it what each item
 * that is merged between base and start showed when it was collected. An item that starts there must lose none of those
 * tests. (That the items are green together is for the flaky split and bw-verify to find out.)
 */
export async function referenceAt(
  suite: Pick<Suite, 'repo' | 'run'>,
  { baseline, start, journal }: { baseline: TestRun; start: string; journal: readonly JournalRecord[] },
): Promise<TestRun> {
  if (start === suite.run.base || baseline.tests === null) return baseline
  return withPatches(baseline, patchesOf(await mergedBelow(suite, start, journal), journal))
}

/** The attempts that are merged between the base and a commit of the stack, as the journal tells. */
export async function mergedBelow(
  { repo, run }: Pick<Suite, 'repo' | 'run'>,
  commit: string,
  journal: readonly JournalRecord[],
): Promise<MergeRecord[]> {
  if (commit === run.base) return []
  const commits = new Set(await listCommits(repo, run.base, commit))
  return journal
    .filter(({ kind, commit: merged }) => kind === 'merge' && typeof merged === 'string' && commits.has(merged))
    .map((record) => mergeRecord.parse(record))
}

/** The baseline with the tests that the patches added or mended. */
export function withPatches(baseline: TestRun, patches: readonly PatchRecord[]): TestRun {
  if (baseline.tests === null) return baseline
  const tests = new Map(Object.entries(baseline.tests))
  for (const patch of patches) {
    for (const [name, outcome] of Object.entries(patch.tests?.tests ?? {}))
      if (!tests.has(name) || tests.get(name) === 'failed') tests.set(name, outcome)
  }
  return { ...baseline, tests: Object.fromEntries(tests) }
}

/** The last patch of each merged attempt. */
export function patchesOf(
  merged: readonly Pick<MergeRecord, 'item' | 'attempt'>[],
  journal: readonly JournalRecord[],
): PatchRecord[] {
  return merged.flatMap(({ item, attempt }) => {
    const found = journal.findLast((record) => {
      return record.kind === 'patch' && record['item'] === item && record['attempt'] === attempt
    })
    return found === undefined ? [] : [patchRecord.parse(found)]
  })
}
