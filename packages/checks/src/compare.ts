import type { TestChanges, TestOutcome, TestRun } from '@buildwave/core'

/**
 * What changed between the base's test run and a later one. Sets of names are compared, never counts: twelve passed that
 * become twelve skipped are twelve losses, and a test that was red at the base is blamed on nobody while it stays red.
 *
 * `worse` means: a test fails that did not fail at the base, one turned into a skip, one is gone (a deleted failing test
 * too), or the command fails for a reason that no test names. Where either run has no per-test results their verdicts are
 * compared; results that the base had and the later run has not are all `vanished`. `flaky` is empty here: `splitFlaky`
 * moves names into it. All lists are sorted by code unit.
 */
export function compareTests(baseline: TestRun, now: TestRun): TestChanges {
  if (baseline.tests === null) return withVerdict(noChanges(), isNewlyBroken(baseline, now))
  const before = new Map(Object.entries(baseline.tests))
  const after = new Map(Object.entries(now.tests ?? {}))
  const changes = {
    ...noChanges(),
    newlyFailing: names(after, (name, outcome) => outcome === 'failed' && before.get(name) !== 'failed'),
    fixed: names(after, (name, outcome) => outcome === 'passed' && before.get(name) === 'failed'),
    newlySkipped: names(after, (name, outcome) => outcome === 'skipped' && ranBefore(before.get(name))),
    vanished: names(before, (name) => !after.has(name)),
    added: names(after, (name) => !before.has(name)),
  }
  return withVerdict(changes, isNewlyBroken(baseline, now))
}

/** The changes once the tests in `flaky` are no longer held against anybody; `verdict` is worked out again. */
export function withoutFlaky(
  changes: TestChanges,
  flaky: readonly string[],
  runs: { baseline: TestRun; now: TestRun },
): TestChanges {
  const known = new Set(flaky)
  const split = {
    ...changes,
    newlyFailing: changes.newlyFailing.filter((name) => !known.has(name)),
    flaky: [...new Set([...changes.flaky, ...flaky])].sort(),
  }
  return withVerdict(split, isNewlyBroken(runs.baseline, runs.now))
}

/** Nothing changed: what an item without any effect on the tests shows. */
export function noChanges(): TestChanges {
  return { verdict: 'ok', newlyFailing: [], fixed: [], newlySkipped: [], vanished: [], added: [], flaky: [] }
}

function withVerdict(changes: TestChanges, newlyBroken: boolean): TestChanges {
  const losses = changes.newlyFailing.length + changes.newlySkipped.length + changes.vanished.length
  return { ...changes, verdict: losses > 0 || newlyBroken ? 'worse' : 'ok' }
}

/**
 * True when the command as a whole went wrong in a way that the base's did not and that no failing test explains: a time
 * out, a crash, a coverage threshold, a second command in the chain.
 */
function isNewlyBroken(baseline: TestRun, now: TestRun): boolean {
  if (now.verdict === 'green') return false
  if (now.verdict !== 'red') return now.verdict !== baseline.verdict
  if (baseline.verdict === 'red') return namesAFailure(baseline) && !namesAFailure(now)
  return baseline.tests === null || !namesAFailure(now)
}

function namesAFailure(run: TestRun): boolean {
  return run.tests !== null && Object.values(run.tests).includes('failed')
}

function ranBefore(outcome: TestOutcome | undefined): boolean {
  return outcome === 'passed' || outcome === 'failed'
}

function names(tests: Map<string, TestOutcome>, wanted: (name: string, outcome: TestOutcome) => boolean): string[] {
  return [...tests]
    .filter(([name, outcome]) => wanted(name, outcome))
    .map(([name]) => name)
    .sort()
}
