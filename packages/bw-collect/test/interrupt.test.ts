import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PatchRecord } from '@buildwave/core'
import { connect, type Engine, listOwned } from '@buildwave/engine'
import { stateId } from '@buildwave/store'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Flow, only, openFlow, planned } from '../../../test/support/flow.ts'
import { git } from '../../../test/support/repository.ts'

// Every step starts containers; on a busy machine one can take long without anything being wrong.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

/** The base is tested at once; a commit with the file `slow` hangs until its time is over. */
const test = 'test ! -e slow || sleep 600; python3 -m pytest -q'
const files = { 'tests/test_it.py': 'def test_fine():\n    pass\n' }

let flow: Flow
let engine: Engine
let built: string

beforeAll(async () => {
  flow = openFlow(files, { test })
  engine = await connect({ state: stateId(flow.state) })
  built = await flow.build({ slow: ': > slow\n' }, [planned('slow', ['slow'])])
  await flow.call('bw-baseline', [], built)
})

afterAll(() => flow.close())

const roles = async () => (await listOwned(engine, { run: flow.run.run })).map(({ role }) => role)

/** Sends the signal once the tests of the item are running. */
const whenTested = (signal: NodeJS.Signals) => async (child: ChildProcess) => {
  while (child.exitCode === null && !(await roles()).includes('check')) await sleep(100)
  child.kill(signal)
}

describe('an interrupted bw-collect', () => {
  it('gives its check up at once on SIGTERM, leaves no container of it, and keeps the work', async () => {
    const answer = await flow.callWith(whenTested('SIGTERM'), { tool: 'bw-collect', input: built })
    expect(answer.status).toBe(143)
    expect(answer.records.at(-1)).toMatchObject({ kind: 'end', complete: false })
    expect(answer.records.filter(({ kind }) => kind === 'patch')).toEqual([])
    expect(await roles()).not.toContain('check')
    expect(await roles()).toContain('builder')
  })

  it('carries on after kill -9 with the commit that it had, and a check that never ends is a verdict', async () => {
    const killed = await flow.callWith(whenTested('SIGKILL'), { tool: 'bw-collect', input: built })
    expect(killed.status).toBe('SIGKILL')
    expect(await roles()).toContain('check')
    const store = join(flow.state, 'runs', flow.run.run, 'repo.git')
    const kept = git(store, 'rev-parse', 'refs/bw/slow/1')

    const quick = { ...flow.run, limits: { ...flow.run.limits, testMinutes: 0.1 } }
    const renewed = built.replace(/^.*\n/, `${JSON.stringify(quick)}\n`)
    const answer = await flow.call('bw-collect', [], renewed)
    const patch = only<PatchRecord>(answer, 'patch', 'slow')
    expect(patch).toMatchObject({ commit: kept, tests: { verdict: 'timed-out' }, blockedBy: ['tests-timed-out'] })
    expect(answer.status).toBe(5)
    expect(await roles()).not.toContain('check')
  })
})
