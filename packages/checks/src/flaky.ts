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

  const shaky = await passingAtTimes(suite, question.request, failing)
  const steady = failing.filter((name) => !shaky.has(name))
  const knownAtBase = steady.filter((name) => isNameless || Object.hasOwn(baseline.tests ?? {}, name))
  const failingAtBase = await failingAtTimes(
    suite,
    { ...question.request, commit: question.reference.commit },
    knownAtBase,
  )
  const flaky = [...shaky, ...failingAtBase]
  const split = withoutFlaky(changes, flaky, { baseline, now })
  return isNameless && flaky.length > 0 ? { ...split, verdict: 'ok' } : split
}

/** Those of the tests that passed in some try, and in a try of the whole suite. */
async function passingAtTimes(suite: Suite, request: TestRequest, failing: readonly string[]): Promise<Set<string>> {
  const alone = await sought(failing, (rest) => tryAgain(suite, request, { names: rest, outcome: 'passed' }))
  if (suite.runner.only(failing) === suite.runner) return alone
  return sought([...alone], () => tryAgain(suite, request, { names: null, outcome: 'passed' }))
}

async function failingAtTimes(suite: Suite, request: TestRequest, names: readonly string[]): Promise<Set<string>> {
  return sought(names, (rest) => tryAgain(suite, request, { names: rest, outcome: 'failed' }))
}

/** Tries up to three times; `attempt` is given the names not found yet and says which show themselves now. */
async function sought(
  names: readonly string[],
  attempt: (rest: readonly string[]) => Promise<Set<string>>,
): Promise<Set<string>> {
  const found = new Set<string>()
  for (let count = 0; count < tries; count++) {
    const rest = names.filter((name) => !found.has(name))
    if (rest.length === 0) break
    const shown = await attempt(rest)
    for (const name of rest) if (shown.has(name)) found.add(name)
  }
  return found
}

interface Try {
  /** The tests to run, null for all. */
  names: readonly string[] | null
  outcome: 'passed' | 'failed'
}

/** The names with the outcome in one more run; the command's text when it has no per-test results. */
async function tryAgain(suite: Suite, request: TestRequest, { names, outcome }: Try): Promise<Set<string>> {
  const log = `${request.log}.again`
  const runner = names === null ? suite.runner : suite.runner.only(names)
  const again = await runTests(suite, { ...request, name: `${request.name}-again`, log, runner })
  await rm(join(suite.paths.dir, log), { force: true })
  if (again.tests === null) {
    const ended = again.verdict === 'green' ? 'passed' : 'failed'
    return new Set(ended === outcome ? [suite.run.test] : [])
  }
  return new Set(Object.keys(again.tests).filter((name) => again.tests?.[name] === outcome))
}
