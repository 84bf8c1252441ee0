import type { TestOutcome, TestRun } from '@buildwave/core'
import { describe, expect, it } from 'vitest'
import { compareTests, noChanges, withoutFlaky } from './compare.ts'

function run(tests: Record<string, TestOutcome> | null, more: Partial<TestRun> = {}): TestRun {
  const isRed = tests !== null && Object.values(tests).includes('failed')
  const shown = { verdict: isRed ? 'red' : 'green', exit: isRed ? 1 : 0 } as const
  return { ...shown, runner: 'pytest', tests, log: 'tests.log', seconds: 1, ...more }
}

const red = { verdict: 'red', exit: 1 } as const

const cases: [title: string, base: TestRun, now: TestRun, expected: Partial<ReturnType<typeof compareTests>>][] = [
  ['nothing changed', run({ a: 'passed' }), run({ a: 'passed' }), {}],
  ['a passing test fails', run({ a: 'passed' }), run({ a: 'failed' }), { verdict: 'worse', newlyFailing: ['a'] }],
  ['a skipped test fails', run({ a: 'skipped' }), run({ a: 'failed' }), { verdict: 'worse', newlyFailing: ['a'] }],
  ['a new test fails', run({}), run({ a: 'failed' }), { verdict: 'worse', newlyFailing: ['a'], added: ['a'] }],
  ['a new test passes', run({}), run({ a: 'passed' }), { added: ['a'] }],
  ['a new test is skipped', run({}), run({ a: 'skipped' }), { added: ['a'] }],
  ['a failing test is mended', run({ a: 'failed' }), run({ a: 'passed' }), { fixed: ['a'] }],
  ['a test that was red at the base stays red', run({ a: 'failed' }), run({ a: 'failed' }), {}],
  ['a passing test is skipped', run({ a: 'passed' }), run({ a: 'skipped' }), { verdict: 'worse', newlySkipped: ['a'] }],
  ['a failing test is skipped', run({ a: 'failed' }), run({ a: 'skipped' }), { verdict: 'worse', newlySkipped: ['a'] }],
  ['a passing test is deleted', run({ a: 'passed' }), run({}), { verdict: 'worse', vanished: ['a'] }],
  ['a failing test is deleted', run({ a: 'failed' }), run({}), { verdict: 'worse', vanished: ['a'] }],
  ['a skipped test is deleted', run({ a: 'skipped' }), run({}), { verdict: 'worse', vanished: ['a'] }],
  ['all results are gone', run({ a: 'passed' }), run(null), { verdict: 'worse', vanished: ['a'] }],
  ['the command fails though no test does', run({ a: 'passed' }), run({ a: 'passed' }, red), { verdict: 'worse' }],
  ['it failed so at the base too', run({ a: 'passed' }, red), run({ a: 'passed' }, red), {}],
  [
    'the failing test is mended but the command still fails',
    run({ a: 'failed' }),
    run({ a: 'passed' }, red),
    { verdict: 'worse', fixed: ['a'] },
  ],
  ['unknown runner, green to red', run(null), run(null, red), { verdict: 'worse' }],
  ['unknown runner, red to red', run(null, red), run(null, red), {}],
  ['unknown runner, red to green', run(null, red), run(null), {}],
  ['unknown at the base, named failures now', run(null), run({ a: 'failed' }), { verdict: 'worse' }],
  ['it hangs', run(null), run(null, { verdict: 'timed-out', exit: null }), { verdict: 'worse' }],
  ['it cannot be run', run(null, red), run(null, { verdict: 'error', exit: 127 }), { verdict: 'worse' }],
  [
    'equal counts of other tests',
    run({ a: 'passed', b: 'failed' }),
    run({ a: 'failed', b: 'passed' }),
    { verdict: 'worse', newlyFailing: ['a'], fixed: ['b'] },
  ],
  [
    'names that are also members of objects',
    run({ a: 'passed' }),
    run(JSON.parse('{"a":"passed","__proto__":"passed"}')),
    { added: ['__proto__'] },
  ],
]

describe('compareTests', () => {
  it.each(cases)('%s', (_title, base, now, expected) => {
    expect(compareTests(base, now)).toEqual({ ...noChanges(), ...expected })
  })

  it('sorts every list by code unit', () => {
    const changes = compareTests(run({}), run({ b: 'failed', B: 'failed', a: 'failed' }))
    expect(changes.newlyFailing).toEqual(['B', 'a', 'b'])
  })
})

describe('withoutFlaky', () => {
  it('takes flaky tests out of the failing ones, and the rest decides', () => {
    const runs = { baseline: run({ a: 'passed', b: 'passed' }), now: run({ a: 'failed', b: 'failed' }) }
    const changes = compareTests(runs.baseline, runs.now)
    expect(withoutFlaky(changes, ['a'], runs)).toMatchObject({ verdict: 'worse', newlyFailing: ['b'], flaky: ['a'] })
    expect(withoutFlaky(changes, ['b', 'a'], runs)).toMatchObject({
      verdict: 'ok',
      newlyFailing: [],
      flaky: ['a', 'b'],
    })
  })

  it('still holds a vanished test against the change', () => {
    const runs = { baseline: run({ a: 'passed', b: 'passed' }), now: run({ a: 'failed' }) }
    expect(withoutFlaky(compareTests(runs.baseline, runs.now), ['a'], runs).verdict).toBe('worse')
  })
})
