import { rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { compareTests, runTests, type Suite, withPatches } from '@buildwave/checks'
import type { TestChanges, TestRun } from '@buildwave/core'
import { findCulprits } from './culprits.ts'
import { commitOf, type Layer, withNeeds } from './stack-sets.ts'

export interface BlameQuestion {
  stage: string
  layers: readonly Layer[]
  /** Globs of the files in which both sides' added lines are kept. */
  shared: readonly string[]
  baseline: TestRun
  /** What the whole stack made worse, flaky tests left out. */
  changes: TestChanges
  /** How many sets are tested at once. */
  slots: number
  signal: AbortSignal
}

/**
 * The smallest set of items that is red together in the way the whole stack is: each set is put together on the base, with
 * what its items were built on, and the tests in question are run on it. A set that cannot be put together without others
 * says nothing and counts as green, so the others are found instead.
 */
export async function blame(suite: Suite, question: BlameQuestion): Promise<string[]> {
  const { layers, slots } = question
  const answers = new Map<string, Promise<boolean>>()
  const numbers = await findCulprits({
    items: layers.length,
    slots,
    areRed(items) {
      const set = withNeeds(layers, items)
      const key = set.join(' ')
      const known = answers.get(key) ?? isRed(suite, question, set)
      answers.set(key, known)
      return known
    },
  })
  return numbers.map((number) => layers[number]?.item ?? '')
}

async function isRed(suite: Suite, question: BlameQuestion, set: readonly number[]): Promise<boolean> {
  const { layers, changes, baseline, signal } = question
  if (set.length === layers.length) return true
  const commit = await commitOf({ repo: suite.repo, run: suite.run, shared: question.shared }, layers, set)
  if (commit === null) return false
  const named = [...changes.newlyFailing, ...changes.newlySkipped, ...changes.vanished]
  const isOnlyFailing = named.length > 0 && named.length === changes.newlyFailing.length
  const log = relative(suite.paths.dir, join(suite.paths.verify, `set-${set.join('-')}.log`))
  const now = await runTests(suite, {
    stage: question.stage,
    name: `set-${set.join('-')}`.slice(0, 40),
    commit,
    log,
    runner: isOnlyFailing ? suite.runner.only(named) : suite.runner,
    signal,
  })
  await rm(join(suite.paths.dir, log), { force: true })
  const patches = set.flatMap((number) => layers[number]?.patch ?? [])
  return showsLoss({ expected: withPatches(baseline, patches), now, named, changes })
}

interface Loss {
  /** What the set's items showed one by one. */
  expected: TestRun
  now: TestRun
  named: readonly string[]
  changes: TestChanges
}

/** True when one of the named tests is lost here too; without names, when the run as a whole is worse. */
function showsLoss({ expected, now, named, changes }: Loss): boolean {
  if (named.length === 0 || now.tests === null) return compareTests(expected, now).verdict === 'worse'
  const known = new Set(Object.keys(expected.tests ?? {}))
  const after = new Map(Object.entries(now.tests))
  const isLost = (name: string) => known.has(name) && (after.get(name) ?? 'skipped') === 'skipped'
  return (
    changes.newlyFailing.some((name) => after.get(name) === 'failed') ||
    [...changes.newlySkipped, ...changes.vanished].some(isLost)
  )
}
