import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { acquireLease, runPaths } from '@buildwave/store'
import { expect, it } from 'vitest'
import { itemRecord, runRecord } from '../../../test/support/records.ts'
import { differences, fingerprint, temporaryFolder } from '../../../test/support/repository.ts'
import { builderRecord, buildRecord, callTool, makeRun, noEngine } from '../../../test/support/run-folder.ts'
import { overviews } from '../src/list.ts'
import { itemTable, leftoverLines, runTable } from '../src/table.ts'

const records = [runRecord({ repo: '/src' }), itemRecord('1'), builderRecord('1'), buildRecord('1')]
const call = (state: string, ...args: string[]) => callTool('bw-ls', args, { state, env: noEngine })

it('writes one record a run, changes nothing, and without an engine says what is not known', async () => {
  const state = temporaryFolder()
  makeRun(state, { run: 'a-1', records })
  makeRun(state, { run: 'b-2', records: [] })
  const before = fingerprint(state)
  const { status, stderr, records: found } = await call(state)
  expect(status).toBe(0)
  expect(stderr).toMatch(/^bw-ls: warning: no container engine answers .*not known\n$/)
  expect(found).toMatchObject([
    { kind: 'overview', run: 'a-1', state: 'unfinished', merged: 0, items: 1, repo: '/src', uncollected: null },
    { kind: 'overview', run: 'b-2', state: 'empty', repo: null },
  ])
  expect(differences(before, fingerprint(state))).toEqual([])
})

it('makes no state folder by looking into one', async () => {
  const state = join(temporaryFolder(), 'none')
  expect(await callTool('bw-ls', [], { state, env: { ...noEngine, HOME: '/nonexistent' } })).toMatchObject({
    status: 0,
    stdout: '',
  })
  expect(existsSync(state)).toBe(false)
})

it('writes the items of a run', async () => {
  const state = temporaryFolder()
  makeRun(state, { run: 'a-1', records })
  const { records: items } = await call(state, 'a-1')
  expect(items).toMatchObject([{ kind: 'standing', run: 'a-1', item: '1', attempt: 1, state: 'built' }])
  expect(await call(state, 'typo')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining("no run 'typo'"),
  })
})

it('a run that cannot be read hides no other, and one with a live lease is running', () => {
  const state = temporaryFolder()
  mkdirSync(makeRun(state, { run: 'a-1', records: [] }).repo)
  rmSync(runPaths(state, 'a-1').journal)
  mkdirSync(runPaths(state, 'a-1').journal)
  makeRun(state, { run: 'b-2', records })
  const lease = acquireLease(runPaths(state, 'b-2').leases, 'bw-spawn')
  const found = overviews(state, null)
  lease.release()
  expect(found.map(({ run, state: how, stages }) => [run, how, stages])).toEqual([
    ['a-1', 'unreadable', []],
    ['b-2', 'running', ['bw-spawn']],
  ])
})

it('shows what a builder wrote with its control characters escaped', () => {
  const reason = 'bw-collect could not take it: \u001b]0;title\u0007\n'
  const [overview] = overviews(stateWithRun(), null)
  if (overview === undefined) throw new Error('no overview')
  const run = { ...overview, uncollected: [{ item: '1', attempt: 1, reason }] }
  const lines = runTable([run], Date.now())
  expect(lines).toHaveLength(3)
  expect(lines[2]).toBe('  1, attempt 1: bw-collect could not take it: \\x1b]0;title\\x07\\n')
  const item = {
    kind: 'standing',
    v: 1,
    run: 'a-1',
    item: '1',
    attempt: 1,
    state: 'built',
    title: 'T',
    message: reason,
    uncollected: null,
  } as const
  expect(itemTable([item]).join('\n')).not.toContain('\u001b')
})

it('tells what is of no run folder from what is of another state folder', () => {
  const held = { kind: 'leftover', v: 1, containers: 1, volumes: 2, running: 0, expired: true } as const
  const lines = leftoverLines([
    { ...held, run: 'gone-1', folder: 'this' },
    { ...held, run: 'x-1', folder: 'another' },
    { ...held, run: null, folder: 'another' },
  ])
  expect(lines).toEqual([
    'on the engine, without a run folder:',
    '  gone-1: 1 containers (0 builders at work), 2 volumes, expired',
    'on the engine, of other state folders of yours or of none: 2 containers, 4 volumes',
  ])
})

function stateWithRun(): string {
  const state = temporaryFolder()
  makeRun(state, { run: 'a-1', records })
  return state
}
