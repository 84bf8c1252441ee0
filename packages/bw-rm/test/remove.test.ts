import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type Engine, labels, listOwned, reap } from '@buildwave/engine'
import { acquireLease, runPaths, stateId } from '@buildwave/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Flow, openFlow, planned } from '../../../test/support/flow.ts'
import { differences, fingerprint } from '../../../test/support/repository.ts'
import { makeRun } from '../../../test/support/run-folder.ts'
import { removeFromEngine } from '../src/remove.ts'

const item = planned('1', ['1.txt'])
const scripts = { '1': 'echo one > 1.txt\n' }

describe('a run with work that nobody has collected', () => {
  const flow = openFlow({ 'start.txt': 'start\n' }, { test: 'true' })
  // The same run id in another state folder of the same user: the same plan gives that.
  const twin = openFlow({ 'start.txt': 'other\n' }, { test: 'true', run: flow.run.run })
  const { run } = flow.run
  const { dir } = runPaths(flow.state, run)
  let engine: Engine

  beforeAll(async () => {
    await flow.build(scripts, [item])
    await twin.build(scripts, [item])
    engine = await connect({ state: stateId(flow.state) })
  })
  afterAll(async () => {
    for (const made of [`${run}-young`, 'other-1']) await reap(engine, { run: made, keep: () => false })
    await flow.close()
    await twin.close()
  })

  const rolesOf = async (of: Flow) => {
    const there = await listOwned(await connect({ state: stateId(of.state) }), { run })
    return there.map(({ role }) => role).sort()
  }
  const whole = ['builder', 'holder', 'layer', 'seal', 'upper', 'work']

  it('is listed as such, and refused, and nothing of it is touched', async () => {
    const listed = await flow.call('bw-ls', [])
    expect(listed.records.find(({ kind }) => kind === 'overview')).toMatchObject({
      run,
      state: 'unfinished',
      uncollected: [{ item: '1', attempt: 1, reason: 'it ended (done) and was not collected' }],
    })
    const before = fingerprint(flow.state)
    const preview = await flow.call('bw-rm', [run])
    expect(preview).toMatchObject({
      status: 1,
      records: [{ kind: 'removal', removed: false, uncollected: [{ item: '1' }] }],
    })
    expect(preview.stderr).toContain(`hint: bw-collect --run ${run} takes it`)
    expect(await flow.call('bw-rm', [run, '--yes'])).toMatchObject({ status: 1, stdout: '' })
    expect(await flow.call('bw-rm', [run, '--force'])).toMatchObject({ status: 0, records: [{ removed: false }] })
    expect(differences(before, fingerprint(flow.state))).toEqual([])
    expect(await rolesOf(flow)).toEqual(whole)
  })

  it('goes by force, but not layers while another run is at work, and nothing of another state folder', async () => {
    const other = makeRun(flow.state, { run: 'other-1', records: [] })
    const lease = acquireLease(other.leases, 'bw-spawn')
    const gone = await flow.call('bw-rm', [run, '--force', '--yes'])
    lease.release()
    expect(gone.status).toBe(0)
    const [removal] = gone.records
    expect(removal).toMatchObject({ removed: true, folder: dir, uncollected: [{ item: '1' }] })
    expect(((removal?.['kept'] ?? []) as { reason: string }[]).map(({ reason }) => reason)).toEqual([
      "run 'other-1' is at work and may need it",
      "run 'other-1' is at work and may need it",
    ])
    expect(existsSync(dir)).toBe(false)
    expect(await rolesOf(flow)).toEqual(['layer', 'seal'])
    expect(await rolesOf(twin)).toEqual(whole)
  })

  it('leaves behind what --engine-leftovers takes later, when its time is over', async () => {
    const made = (change: Record<string, string>) =>
      engine.docker.createVolume({
        Name: `bw-test-${run}-${Math.random().toString(16).slice(2)}`,
        Labels: {
          [labels.owner]: engine.owner,
          [labels.state]: engine.state,
          [labels.run]: `${run}-young`,
          [labels.role]: 'upper',
          [labels.expires]: new Date(Date.now() + 3_600_000).toISOString(),
          ...change,
        },
      })
    await made({})
    // Over by its label, but its run has a folder.
    await made({ [labels.run]: 'other-1', [labels.expires]: '2026-01-01T00:00:00.000Z' })
    expect(await listOwned(engine, { run: 'other-1' })).toHaveLength(1)
    const preview = await flow.call('bw-rm', ['--engine-leftovers'])
    expect(preview.records).toMatchObject([{ kind: 'removal', run, removed: false, folder: null }])
    expect(await rolesOf(flow)).toEqual(['layer', 'seal'])
    const gone = await flow.call('bw-rm', ['--engine-leftovers', '--yes'])
    expect(gone).toMatchObject({ status: 0, records: [{ run, removed: true }] })
    expect(await rolesOf(flow)).toEqual([])
    expect(await listOwned(engine, { run: 'other-1' })).toHaveLength(1)
    const [young] = await listOwned(engine, { run: `${run}-young` })
    if (young === undefined) throw new Error('it was removed')
    // What came up after a plan was made is not of the plan.
    const plan = { run: `${run}-young`, containers: [], volumes: [] }
    expect((await removeFromEngine(engine, flow.state, plan)).kept).toEqual([
      { name: young.name, reason: 'it was made just now' },
    ])
    expect(await rolesOf(twin)).toEqual(whole)
  })
})

it('a run whose work was collected goes without force', async () => {
  const flow = openFlow({ 'start.txt': 'start\n' }, { test: 'true' })
  try {
    const built = await flow.build(scripts, [item])
    expect(await flow.call('bw-collect', [], built)).toMatchObject({ status: 0 })
    writeFileSync(join(flow.state, 'beside'), '')
    const gone = await flow.call('bw-rm', ['--yes'])
    expect(gone).toMatchObject({
      status: 0,
      stderr: '',
      records: [{ removed: true, uncollected: [], undelivered: ['1'] }],
    })
    expect(existsSync(runPaths(flow.state, flow.run.run).dir)).toBe(false)
    expect(existsSync(join(flow.state, 'beside'))).toBe(true)
    expect(await listOwned(await connect({ state: stateId(flow.state) }), { run: flow.run.run })).toEqual([])
  } finally {
    await flow.close()
  }
})
