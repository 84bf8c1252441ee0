import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import {
  attemptState,
  builderUid,
  followBuilder,
  labels,
  makeBuilderFolder,
  prepareStart,
  removeAttempt,
  type StartLayer,
  stopAttempt,
} from '../src/index.ts'
import { build, makeOut, start } from './support/build.ts'
import { ownRun, someLimits, theEngine, withEngine } from './support/engine.ts'
import { newFolder } from './support/folder.ts'
import { makeRepo } from './support/repo.ts'

const mib = 1024 * 1024

withEngine('a builder, seen from inside', () => {
  const run = ownRun()
  const repo = makeRepo()
  let layer: StartLayer
  let commits: { base: string; start: string; other: string }
  let out: string
  // biome-ignore lint/suspicious/noExplicitAny: a program's JSON, each field compared below
  let seen: any

  beforeAll(async () => {
    writeFileSync(join(repo.dir, 'a'), run)
    const base = repo.commit('base')
    writeFileSync(join(repo.dir, 'a'), 'two\n')
    const head = repo.commit('an item that was merged')
    writeFileSync(join(repo.dir, 'secret'), 'of another builder\n')
    const other = repo.commit("another item's work")
    commits = { base, start: head, other }
    layer = await prepareStart(theEngine(), { run, start: head, base, bundle: repo.bundle })
    out = await makeOut()
    // It could write there if the mount let it.
    const input = join(newFolder(), 'with, comma')
    await makeBuilderFolder(input)
    copyFileSync(join(import.meta.dirname, 'support', 'probe.py'), join(input, 'probe.py'))
    await build({
      run,
      item: 'probe',
      attempt: 1,
      layer,
      argv: ['sh', '-c', 'exec python3 /bw/in/probe.py > /bw/out/seen.json 2> /bw/out/errors'],
      env: { GIVEN: 'yes' },
      mounts: [
        { host: input, target: '/bw/in', readOnly: true },
        { host: out, target: '/bw/out', readOnly: false },
      ],
    })
    expect(readFileSync(join(out, 'errors'), 'utf8')).toBe('')
    seen = JSON.parse(readFileSync(join(out, 'seen.json'), 'utf8'))
  })

  it('has no capability and no way to gain one', () => {
    expect(seen.capabilities).toEqual(Array(5).fill('0'.repeat(16)))
    expect(seen.noNewPrivileges).toBe('1')
    expect(seen.seccomp).toBe('2')
    expect(seen.newUserNamespace).toBe(false)
  })

  it('has no interface but lo and no route', () => {
    expect(seen.interfaces).toEqual(['lo'])
    expect(seen.routes).toEqual([])
    expect(seen.ipv6Routes).toEqual([])
  })

  it('can write its own places and nothing else', () => {
    const own = ['/bw/out', '/dev/shm', '/home/builder', '/tmp', '/work']
    expect(seen.writable).toEqual(own)
    expect(seen.reallyWritable.toSorted()).toEqual(own)
  })

  it('can neither signal nor trace nor look into what ends it', () => {
    const processes = Object.values(seen.holder)
    // The namespace's first process, the time limit, the watch over the disk, and what runs beside it.
    expect(processes.length).toBeGreaterThanOrEqual(4)
    for (const refused of processes) expect(Object.entries(refused as object).filter(([, was]) => !was)).toEqual([])
  })

  it('starts at its commit with only what is reachable from there', () => {
    expect(seen.folder).toBe('/work')
    expect(seen.workOwner).toBe(builderUid())
    expect(seen.head).toEqual([commits.start])
    expect(seen.status).toEqual([])
    const reachable = repo.git('rev-list', '--objects', '--no-object-names', commits.start).split('\n').toSorted()
    expect(seen.objects).toEqual(reachable)
    expect(seen.objects).not.toContain(commits.other)
  })

  it('has the bounds that were asked for', () => {
    expect(seen.memory).toBe(String(someLimits.memoryMiB * mib))
    expect([null, String(someLimits.memoryMiB * mib)]).toContain(seen.memoryAndSwap)
    expect(seen.pids).toBe(String(someLimits.pids))
    expect(seen.cpus).toBe(String(someLimits.cpus * 100_000))
    expect(seen.sizes['/tmp']).toBe(someLimits.tmpMiB * mib)
    expect(seen.sizes['/home/builder']).toBe(someLimits.homeMiB * mib)
    expect(seen.sizes['/dev/shm']).toBe(256 * mib)
  })

  it('has what test suites expect: both loopbacks, its own name, programs in /tmp and HOME', () => {
    expect(seen.ipv4Loopback).toBe(true)
    expect(seen.ipv6Loopback).toBe(true)
    expect(seen.hostname).toBe('builder')
    expect(seen.ownAddress).toBe('127.0.0.1')
    expect(seen.tmpRunsPrograms).toBe(true)
    expect(seen.homeRunsPrograms).toBe(true)
  })

  it("has nothing of the host's environment", () => {
    expect(Object.keys(seen.environment).toSorted()).toEqual([
      'GIVEN',
      'HOME',
      'HOSTNAME',
      'LANG',
      'LOGNAME',
      'PATH',
      'PWD',
      'USER',
    ])
    expect(seen.environment.HOME).toBe('/home/builder')
  })

  it('writes to a host folder of any name, as a user who can remove it again', () => {
    expect(statSync(join(out, 'seen.json')).uid).toBe(builderUid())
    expect(statSync(out).uid).toBe(builderUid())
  })

  it('carries the labels by which it is found', async () => {
    const state = await attemptState(theEngine(), { run, item: 'probe', attempt: 1 })
    if (state.state === 'absent') throw new Error('gone')
    for (const id of [state.builder, state.holder]) {
      const { Config } = await theEngine().docker.getContainer(id).inspect()
      expect(Config.Labels).toMatchObject({
        [labels.run]: run,
        [labels.item]: 'probe',
        [labels.attempt]: '1',
        [labels.stage]: 'bw-spawn',
        [labels.owner]: String(process.getuid?.()),
        [labels.expires]: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      })
    }
  })
})

withEngine('an attempt', () => {
  const run = ownRun()
  const repo = makeRepo()
  const id = (item: string) => ({ run, item, attempt: 1 })
  let layer: StartLayer

  beforeAll(async () => {
    writeFileSync(join(repo.dir, 'a'), run)
    const base = repo.commit('base')
    layer = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
  })

  it('tells how the main process ended', async () => {
    const end = await build({ ...id('exit'), layer, argv: ['sh', '-c', 'exit 9'] })
    expect(end).toMatchObject({ exit: 9, oomKilled: false, timedOut: false })
    expect(Date.parse(end.finishedAt)).toBeGreaterThanOrEqual(Date.parse(end.startedAt))
  })

  it('is ended by its time limit, whatever it does about signals', async () => {
    const defiant = "trap '' TERM INT HUP; kill -STOP -1; kill -KILL 1 2 3; while :; do sleep 1; done"
    const end = await build({ ...id('ttl'), layer, argv: ['sh', '-c', defiant], ttlSeconds: 2 })
    expect(end).toMatchObject({ exit: 137, timedOut: true, oomKilled: false })
  })

  it('is ended with everything it left running', async () => {
    const { builder, holder } = await start({
      ...id('orphans'),
      layer,
      argv: ['sh', '-c', 'setsid sleep 600 & exit 0'],
    })
    expect(await followBuilder(theEngine(), builder)).toMatchObject({ exit: 0, timedOut: false })
    expect((await theEngine().docker.getContainer(holder).inspect()).State.Running).toBe(false)
  })

  it('tells a kill for memory even when the main process lived on', async () => {
    const hog = 'python3 -c "x = bytearray(400 << 20)"; exit 0'
    const end = await build({ ...id('memory'), layer, argv: ['sh', '-c', hog] })
    expect(end).toMatchObject({ exit: 0, oomKilled: true, timedOut: false })
  })

  it('is ended when it has written more in /work than it may, in one file or many', async () => {
    const many = 'n=0; while :; do n=$((n + 1)); head -c 4000000 /dev/zero > file$n; done'
    const end = await build({ ...id('disk'), layer, argv: ['sh', '-c', many] })
    expect(end).toMatchObject({ exit: 137, diskFull: true, timedOut: false, oomKilled: false })
    const one = 'head -c 100000000 /dev/zero > file; stat -c %s file > /bw/out/size'
    const out = await makeOut()
    await build({
      ...id('one'),
      layer,
      argv: ['sh', '-c', one],
      mounts: [{ host: out, target: '/bw/out', readOnly: false }],
    })
    expect(readFileSync(join(out, 'size'), 'utf8')).toBe(`${someLimits.workMiB * mib}\n`)
  })

  it('can be followed by several at once, and again when it has ended', async () => {
    const { builder } = await start({ ...id('followed'), layer, argv: ['sh', '-c', 'exit 3'] })
    const ends = await Promise.all([followBuilder(theEngine(), builder), followBuilder(theEngine(), builder)])
    expect([...ends, await followBuilder(theEngine(), builder)].map(({ exit }) => exit)).toEqual([3, 3, 3])
  })

  it('goes on when its follower gives up, is adopted by its labels, and is stopped', async () => {
    const asked = id('adopted')
    const { builder, holder, work } = await start({ ...asked, layer, argv: ['sleep', '600'] })
    const reason = new Error('enough')
    await expect(followBuilder(theEngine(), builder, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(await attemptState(theEngine(), asked)).toMatchObject({ state: 'running', builder, holder, work })

    await stopAttempt(theEngine(), asked)
    expect(await attemptState(theEngine(), asked)).toMatchObject({ state: 'ended' })
    expect(await followBuilder(theEngine(), builder)).toMatchObject({ exit: 137, timedOut: false, oomKilled: false })
  })

  it('starts once', async () => {
    const asked = { ...id('once'), layer, argv: ['true'] }
    await start(asked)
    await expect(start(asked)).rejects.toMatchObject({ code: 'attempt-exists' })
  })

  it('leaves nothing when it cannot start', async () => {
    const asked = id('failing')
    await expect(start({ ...asked, layer, argv: ['/no/such/program'] })).rejects.toThrow(/no such file/)
    expect(await attemptState(theEngine(), asked)).toEqual({ state: 'absent' })
    await expect(start({ ...asked, layer, image: 'buildwave/none', argv: ['true'] })).rejects.toMatchObject({
      code: 'no-image',
    })
    const missing = { host: '/no/such/folder', target: '/bw/out', readOnly: false }
    await expect(start({ ...asked, layer, argv: ['true'], mounts: [missing] })).rejects.toThrow(/does not exist/)
    const { Volumes } = await theEngine().docker.listVolumes({ filters: { label: [`${labels.item}=failing`] } })
    expect(Volumes).toEqual([])
  })

  it('is gone after its removal, and following it says so', async () => {
    const { builder } = await start({ ...id('removed'), layer, argv: ['sleep', '600'] })
    await removeAttempt(theEngine(), id('removed'))
    await removeAttempt(theEngine(), id('removed'))
    expect(await attemptState(theEngine(), id('removed'))).toEqual({ state: 'absent' })
    await expect(followBuilder(theEngine(), builder)).rejects.toMatchObject({ code: 'attempt-gone' })
  })
})
