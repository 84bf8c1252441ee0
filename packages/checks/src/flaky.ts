import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestChanges, TestRun } from '@buildwave/core'
import { withoutFlaky } from './compare.ts'
import { runTests, type TestRequest } from './run-tests.ts'
import type { Suite } from './suite.ts'

/** How often a failing test is tried again: a real suite's flaky test failed twice in a row. */
const tries = 3

export interface FlakyQuestion {
  /** What `now` is compared with, and the commit it stands for. */
  reference: { commit: string; result: TestRun }
  now: TestRun
  changes: TestChanges
  /** How `now` was made; its log keeps the first run, the tries have one of their own that is removed. */
  request: TestRequest
  /** How many tries run at once; with 1 the first that answers saves the others. */
  slots: number
}

/**
 * The changes with flaky tests taken out of the newly failing ones. Those are tried up to three more times on the commit,
 * then on the one it is compared with: what passes now and then, or fails there too, is flaky and blamed on nobody.
 *
 * Only the failing tests are run where the runner can choose. A test that passes by itself must also pass once with all the
 * others: one that fails whenever the suite is whole was broken by another test, and that is no accident.
 * Where no test has a name the whole command is tried, and stands in `flaky` by its text.
 */
export async function splitFlaky(suite: Suite, question: FlakyQuestion): Promise<TestChanges> {
  const { now, changes } = question
  const baseline = question.reference.result
  const isNameless = baseline.tests === null && now.verdict === 'red' && changes.verdict === 'worse'
  const failing = isNameless ? [suite.run.test] : changes.newlyFailing
  if (failing.length === 0) return changes

  const { slots, request, reference } = question
  const again = (wanted: Wanted) => sought(suite, request, { slots, ...wanted })
  const alone = await again({ names: failing, outcome: 'passed', isWhole: false })
  const shaky =
    suite.runner.only(failing) === suite.runner
      ? alone
      : await again({ names: [...alone], outcome: 'passed', isWhole: true })
  const steady = failing.filter((name) => !shaky.has(name))
  const names = steady.filter((name) => isNameless || Object.hasOwn(baseline.tests ?? {}, name))
  const atReference = { ...request, commit: reference.commit }
  const failingThere = await sought(suite, atReference, { slots, names, outcome: 'failed', isWhole: false })
  const flaky = [...shaky, ...failingThere]
  const split = withoutFlaky(changes, flaky, { baseline, now })
  return isNameless && flaky.length > 0 ? { ...split, verdict: 'ok' } : split
}

interface Wanted {
  names: readonly string[]
  outcome: 'passed' | 'failed'
  /** True runs the whole suite, false only the tests in question. */
  isWhole: boolean
}

/** Those of the tests that show the outcome in one of up to three more runs. */
async function sought(
  suite: Suite,
  request: TestRequest,
  { slots, names, outcome, isWhole }: Wanted & { slots: number },
): Promise<Set<string>> {
  const found = new Set<string>()
  for (let done = 0; done < tries; done += slots) {
    const rest = names.filter((name) => !found.has(name))
    if (rest.length === 0) break
    const runner = isWhole ? suite.runner : suite.runner.only(rest)
    const numbers = Array.from({ length: Math.min(slots, tries - done) }, (_, n) => done + n)
    const shown = await Promise.all(
      numbers.map((number) => tryAgain(suite, { ...request, runner }, { number, outcome })),
    )
    for (const name of rest) if (shown.some((some) => some.has(name))) found.add(name)
  }
  return found
}

/** The names with the outcome in one more run; the command's text when it has no per-test results. */
async function tryAgain(
  suite: Suite,
  request: TestRequest,
  { number, outcome }: { number: number; outcome: 'passed' | 'failed' },
): Promise<Set<string>> {
  const log = `${request.log}.again-${number}`
  const again = await runTests(suite, { ...request, name: `${request.name}-again`, log })
  await rm(join(suite.paths.dir, log), { force: true })
  if (again.tests === null) {
    const ended = again.verdict === 'green' ? 'passed' : 'failed'
    return new Set(ended === outcome ? [suite.run.test] : [])
  }
  return new Set(Object.keys(again.tests).filter((name) => again.tests?.[name] === outcome))
}
