import type { BaselineRecord } from '@buildwave/core'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { type Flow, only, openFlow, planned } from '../../../test/support/flow.ts'

// Every step starts containers; on a busy machine one can take long without anything being wrong.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

const files = { 'tests/test_it.py': 'def test_fine():\n    pass\n\ndef test_red():\n    assert False\n' }
const items = [planned('one', ['a.py'])]
const opened: Flow[] = []

function open(...args: Parameters<typeof openFlow>): Flow {
  const flow = openFlow(...args)
  opened.push(flow)
  return flow
}

afterAll(async () => {
  for (const flow of opened) await flow.close()
})

describe('bw-baseline', () => {
  it('passes the plan on, adds what the tests show at the base, and says what is red already', async () => {
    const flow = open(files)
    const answer = await flow.call('bw-baseline', [], flow.plan(items))
    expect(answer.records.map(({ kind }) => kind)).toEqual(['run', 'item', 'end', 'baseline', 'end'])
    expect(only<BaselineRecord>(answer, 'baseline')).toMatchObject({
      base: flow.run.base,
      result: {
        verdict: 'red',
        tests: { 'tests/test_it.py::test_fine': 'passed', 'tests/test_it.py::test_red': 'failed' },
        log: 'baseline.log',
      },
    })
    expect(answer.stderr).toBe('bw-baseline: warning: 1 test fails at the base already; no item is blamed for it\n')
    expect(answer.status).toBe(0)

    const again = await flow.call('bw-baseline', [], flow.plan(items))
    expect(only(again, 'baseline')).toEqual(only(answer, 'baseline'))
    const other = await flow.call('bw-baseline', ['--run', flow.run.run])
    expect(only(other, 'baseline')).toEqual(only(answer, 'baseline'))
    const anew = await flow.call('bw-baseline', ['--run', flow.run.run, '--again'])
    expect(anew.records.filter(({ kind }) => kind === 'baseline')).toHaveLength(2)
  })

  it('refuses a command that cannot be run with exit 1, the end of its output and the next step', async () => {
    const flow = open(files, { test: 'no-such-program' })
    const { status, stderr, records } = await flow.call('bw-baseline', [], flow.plan(items))
    expect(stderr).toMatch(
      /^bw-baseline: the test command 'no-such-program' cannot be run at the base \(exit 127\)\n {2}.*not found\nhint: .*--test/,
    )
    expect(records.at(-1)).toMatchObject({ kind: 'end', complete: false })
    expect(status).toBe(1)
  })

  it('runs nothing for a plan that broke off', async () => {
    const flow = open(files)
    const whole = flow.plan(items).trimEnd().split('\n')
    const { status, records } = await flow.call('bw-baseline', [], `${whole.slice(0, -1).join('\n')}\n`)
    expect(records.map(({ kind }) => kind)).toEqual(['run', 'item', 'end'])
    expect(status).toBe(1)
  })

  it('names an image that is not there', async () => {
    const flow = open(files, { image: 'no-such-image' })
    const { status, stderr } = await flow.call('bw-baseline', [], flow.plan(items))
    expect(stderr).toMatch(/^bw-baseline: .*no-such-image.*\nhint: /)
    expect(status).toBe(1)
  })
})
