import type { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind } from '@buildwave/core'
import { attemptState, connect } from '@buildwave/engine'
import { ofKind, readHistory } from '@buildwave/runs'
import { runPaths, stateId } from '@buildwave/store'
import { afterAll, expect, it } from 'vitest'
import { openFlow, planned } from '../../../test/support/flow.ts'

const flow = openFlow({ 'start.txt': 'start\n' }, { test: 'true' })
const { run } = flow.run
afterAll(() => flow.close())

const both = [planned('1', ['1.txt']), planned('2', ['2.txt'])]

/** Resolves when the journal has so many records of a kind. */
async function journalHas(kind: Kind, count: number): Promise<void> {
  const paths = runPaths(flow.state, run)
  while (ofKind(readHistory(paths), kind).length < count) await sleep(200)
}

/** A test that fails must not leave the process at work. */
function orKill(work: () => Promise<void>): (child: ChildProcess) => Promise<void> {
  return async (child) => {
    try {
      await work()
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }
}

async function stateOf(item: string): Promise<string> {
  const engine = await connect({ state: stateId(flow.state) })
  return (await attemptState(engine, { run, item, attempt: 1 })).state
}

it('stops the builders that are named and no other, and bw-watch hears that somebody asked for it', async () => {
  const scripts = join(flow.state, 'scripts')
  mkdirSync(scripts)
  writeFileSync(join(scripts, 'default.sh'), 'echo \'{"kind":"begun"}\'; sleep 600\n')
  const call = { tool: 'bw-spawn', args: ['--agent', 'script', '--script', scripts], input: flow.plan(both) }
  const spawned = await flow.callWith(
    orKill(async () => {
      await journalHas('builder', 2)
      const log = flow.call('bw-logs', [run, '1', '--follow'])

      const refused = await flow.call('bw-stop', [run, '1', '3'])
      expect(refused).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining("no item '3'") })
      expect([await stateOf('1'), await stateOf('2')]).toEqual(['running', 'running'])
      expect(await flow.call('bw-stop', [run])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('nothing is chosen'),
      })
      expect(await flow.call('bw-stop', ['1', '--all'])).toMatchObject({ status: 1, stdout: '' })

      const one = await flow.call('bw-stop', [run, '1'])
      expect(one).toMatchObject({ status: 0, stderr: '', records: [{ kind: 'stop', run, item: '1', attempt: 1 }] })
      expect([await stateOf('1'), await stateOf('2')]).toEqual(['ended', 'running'])
      expect(await log).toMatchObject({ status: 0, stdout: '{"kind":"begun"}\n', stderr: '' })

      const all = await flow.call('bw-stop', ['--all'])
      expect(all).toMatchObject({ status: 0, records: [{ kind: 'stop', item: '2' }] })
      expect(await stateOf('2')).toBe('ended')
    }),
    call,
  )
  const built = await flow.call('bw-watch', [], spawned.stdout)
  const outcomes = built.records.filter(({ kind }) => kind === 'build').map(({ item, outcome }) => [item, outcome])
  expect(outcomes.sort()).toEqual([
    ['1', 'stopped'],
    ['2', 'stopped'],
  ])

  const none = await flow.call('bw-stop', ['--all'])
  expect(none).toMatchObject({ status: 0, stdout: '', stderr: `bw-stop: no builder is at work on '${run}'\n` })
})
