import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  attemptState,
  baseImage,
  type Engine,
  labels,
  listOwned,
  prepareStart,
  reap,
  removeAttempt,
  type StartLayer,
} from '../src/index.ts'
import { start } from './support/build.ts'
import { ownRun, theEngine, withEngine } from './support/engine.ts'
import { makeRepo } from './support/repo.ts'

withEngine('clean-up', () => {
  const run = ownRun()
  const sibling = ownRun()
  const repo = makeRepo()
  let layer: StartLayer
  const strangers: Awaited<ReturnType<Engine['docker']['createContainer']>>[] = []

  beforeAll(async () => {
    writeFileSync(join(repo.dir, 'a'), run)
    const base = repo.commit('base')
    layer = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
  })

  afterAll(async () => {
    for (const container of strangers) await container.remove()
  })

  const begin = (of: string, item: string) => start({ run: of, item, attempt: 1, layer, argv: ['sleep', '600'] })
  const stateOf = async (of: string, item: string) =>
    (await attemptState(theEngine(), { run: of, item, attempt: 1 })).state

  it('lists what is there with what its labels say', async () => {
    await begin(run, 'listed')
    const things = await listOwned(theEngine(), { run })
    const ofAttempt = things.filter(({ item }) => item === 'listed')
    expect(ofAttempt.map(({ type, role, state }) => [type, role, state])).toEqual(
      expect.arrayContaining([
        ['container', 'builder', 'running'],
        ['container', 'holder', 'running'],
        ['volume', 'upper', null],
        ['volume', 'work', null],
      ]),
    )
    for (const thing of ofAttempt) expect(thing).toMatchObject({ run, item: 'listed', attempt: 1, stage: 'bw-spawn' })
    expect(
      things
        .filter(({ item }) => item === null)
        .map(({ role }) => role)
        .toSorted(),
    ).toEqual(['layer', 'seal'])
    await removeAttempt(theEngine(), { run, item: 'listed', attempt: 1 })
  })

  it('goes by labels: sibling runs, other users and strangers with our names are untouched', async () => {
    const { docker } = theEngine()
    await begin(run, 'doomed')
    await begin(sibling, 'doomed')
    const foreign = { [labels.run]: run, [labels.owner]: 'someone-else', [labels.role]: 'builder' }
    for (const [at, Labels] of [foreign, {}].entries()) {
      const name = `bw-doomed-1-${run}-${at}`
      strangers.push(await docker.createContainer({ name, Image: baseImage, Cmd: ['true'], Labels }))
    }

    const removed = await reap(theEngine(), { run, keep: () => false })
    expect(
      removed
        .filter(({ item }) => item === 'doomed')
        .map(({ role }) => role)
        .toSorted(),
    ).toEqual(['builder', 'holder', 'upper', 'work'])
    expect(await stateOf(run, 'doomed')).toBe('absent')
    expect(await stateOf(sibling, 'doomed')).toBe('running')
    for (const container of strangers) expect((await container.inspect()).State.Status).toBe('created')
    // The layer is the reaped run's, but the sibling's builder stands on it.
    expect(removed.filter(({ role }) => role === 'layer')).toEqual([])

    await removeAttempt(theEngine(), { run: sibling, item: 'doomed', attempt: 1 })
    expect((await reap(theEngine(), { run, keep: () => false })).map(({ role }) => role)).toEqual(['seal', 'layer'])
    expect(await listOwned(theEngine(), { run })).toEqual([])
  })

  it('keeps an attempt whole when any part of it is kept', async () => {
    layer = await prepareStart(theEngine(), { run, start: layer.start, base: layer.base, bundle: repo.bundle })
    await begin(run, 'kept')
    await begin(run, 'left')
    await reap(theEngine(), { run, keep: ({ role, item }) => role === 'work' && item === 'kept' })
    expect(await stateOf(run, 'kept')).toBe('running')
    expect(await stateOf(run, 'left')).toBe('absent')
  })
})
