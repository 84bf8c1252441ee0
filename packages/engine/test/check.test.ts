import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { baseImage, type CheckRequest, listOwned, prepareStart, runCheck, type StartLayer } from '../src/index.ts'
import { build, makeOut } from './support/build.ts'
import { ownRun, someLimits, theEngine, withEngine } from './support/engine.ts'
import { newFolder } from './support/folder.ts'
import { makeRepo } from './support/repo.ts'

withEngine('a check', () => {
  const run = ownRun()
  const repo = makeRepo()
  const logs = newFolder()
  let layer: StartLayer
  let later: string

  beforeAll(async () => {
    writeFileSync(join(repo.dir, 'of'), run)
    writeFileSync(join(repo.dir, 'a'), 'one\n')
    writeFileSync(join(repo.dir, 'test_a'), 'tests\n')
    const base = repo.commit('base')
    layer = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
    writeFileSync(join(repo.dir, 'a'), 'two\n')
    later = repo.commit('later')
  })

  async function check(command: string, wishes: Partial<CheckRequest> = {}) {
    const logFile = join(logs, 'a log, of this')
    const result = await runCheck(theEngine(), {
      run,
      stage: 'bw-verify',
      name: 'head',
      layer,
      commit: layer.start,
      bundle: null,
      image: baseImage,
      command: ['sh', '-c', command],
      env: {},
      limits: someLimits,
      ttlSeconds: 60,
      wants: [],
      logFile,
      ...wishes,
    })
    return { ...result, log: readFileSync(logFile, 'utf8') }
  }

  it('gives the exit status, the output in its order, and the files that were wanted', async () => {
    const command = 'echo out; echo err >&2; echo more; printf "<x/>" > "/tmp/re port.xml"; exit 4'
    const wants = ['/tmp/none', '/tmp/re port.xml', '/tmp']
    const result = await check(command, { wants, env: { GIVEN: 'yes' } })
    expect(result).toMatchObject({ exit: 4, timedOut: false, oomKilled: false, log: 'out\nerr\nmore\n' })
    expect([...result.files].map(([path, bytes]) => [path, bytes.toString()])).toEqual([['/tmp/re port.xml', '<x/>']])
    expect(statSync(join(logs, 'a log, of this')).mode & 0o777).toBe(0o600)
  })

  it('runs on the commit that it was asked about, less what was to be removed', async () => {
    const result = await check('git log --format=%s; cat a; ls', {
      commit: later,
      bundle: repo.bundle,
      removePaths: ['test_a', 'none/x'],
    })
    expect(result.log).toBe('later\nbase\ntwo\na\nof\n')
    expect((await check('cat a; ls')).log).toBe('one\na\nof\ntest_a\n')
  })

  it('says why when the commit cannot be laid out', async () => {
    const missing = '0123456789012345678901234567890123456789'
    await expect(check('true', { commit: missing })).rejects.toMatchObject({
      code: 'bad-commit',
      message: expect.stringContaining(missing),
    })
    await expect(check('true', { image: 'buildwave/none' })).rejects.toMatchObject({ code: 'no-image' })
  })

  it('is the same place as a builder is', async () => {
    const out = await makeOut()
    const probe = readFileSync(join(import.meta.dirname, 'support', 'probe.py'), 'utf8')
    const inCheck = await check('', { command: ['python3', '-c', probe] })
    const argv = ['sh', '-c', 'exec python3 -c "$1" > /bw/out/seen', 'sh', probe]
    await build({
      run,
      item: 'same',
      attempt: 1,
      layer,
      argv,
      mounts: [{ host: out, target: '/bw/out', readOnly: false }],
    })
    const checkSaw = JSON.parse(inCheck.log)
    const builderSaw = JSON.parse(readFileSync(join(out, 'seen'), 'utf8'))
    expect(builderSaw.writable).toContain('/bw/out')
    for (const list of [builderSaw.writable, builderSaw.reallyWritable]) list.splice(list.indexOf('/bw/out'), 1)
    // Other processes of root are other ones, but each refuses all the same.
    for (const seen of [checkSaw, builderSaw])
      seen.holder = [...new Set(Object.values(seen.holder).map((of) => JSON.stringify(of)))]
    expect(checkSaw).toEqual(builderSaw)
  })

  it('is killed with everything it started when its time is over', async () => {
    const command = "trap '' TERM; kill -STOP 1 2 3; setsid sh -c 'trap \"\" TERM; sleep 600' & echo before; sleep 600"
    const result = await check(command, { ttlSeconds: 2 })
    expect(result).toMatchObject({
      exit: null,
      timedOut: true,
      oomKilled: false,
      log: expect.stringContaining('before'),
    })
    expect(await leftovers()).toEqual([])
  })

  it('kills what the command left before it reads the files', async () => {
    // The same file is read twice with a long one between: a process that still runs would change it meanwhile.
    const counter = 'while :; do n=$((n + 1)); echo $n > /tmp/counter; done'
    const command = `head -c 20000000 /dev/zero > /tmp/long; (setsid sh -c '${counter}' &); until [ -s /tmp/counter ]; do :; done`
    const { exit, files } = await check(command, { wants: ['/tmp/counter', '/tmp/long', '/tmp/./counter'] })
    expect(exit).toBe(0)
    expect(files.get('/tmp/long')).toHaveLength(20_000_000)
    expect(files.get('/tmp/./counter')).toEqual(files.get('/tmp/counter'))
    expect(await leftovers()).toEqual([])
  })

  it('tells a kill for memory, and holds against a fork bomb', async () => {
    expect(await check('python3 -c "x = bytearray(400 << 20)"; exit 0')).toMatchObject({ exit: 0, oomKilled: true })
    const bomb = `
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(600)
        made += 1
except OSError as error:
    print(error.strerror, made < ${someLimits.pids})`
    const { log } = await check('', { command: ['python3', '-c', bomb] })
    expect(log).toBe('Resource temporarily unavailable True\n')
  })

  it('is ended when it has written more in /work than it may', async () => {
    const many = 'n=0; while :; do n=$((n + 1)); head -c 4000000 /dev/zero > file$n; done'
    expect(await check(many)).toMatchObject({ exit: null, diskFull: true, timedOut: false })
    expect(await leftovers()).toEqual([])
  })

  it('keeps the first and the last of a log that is too long', async () => {
    const result = await check('echo first; yes | head -c 3000000; echo last', { logMiB: 1 })
    expect(result.log.startsWith('first\ny\n')).toBe(true)
    expect(result.log.endsWith('y\nlast\n')).toBe(true)
    expect(result.log).toMatch(/\n\[\d+ bytes left out here\]\n/)
    expect(result.log.length).toBeLessThan(1024 * 1024 + 100)
  })

  it('ends at once when it is aborted, and leaves nothing', async () => {
    const stop = new AbortController()
    const reason = new Error('interrupted')
    const running = check('touch /tmp/started; sleep 600', { signal: stop.signal })
    // Aborted while the container is being made: whatever exists by then must go.
    setImmediate(() => stop.abort(reason))
    await expect(running).rejects.toBe(reason)

    const late = new AbortController()
    const bundle = async (commit: string, not: readonly string[]) => {
      late.abort(reason)
      return repo.bundle(commit, not)
    }
    await expect(check('sleep 600', { signal: late.signal, commit: later, bundle })).rejects.toBe(reason)
    await expect(check('true', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(await leftovers()).toEqual([])
  })

  it('costs one container and leaves none', async () => {
    const { docker } = theEngine()
    const since = Math.floor(Date.now() / 1000)
    await check('true')
    const filters = JSON.stringify({ type: ['container'], event: ['start'], label: [`dev.buildwave.run=${run}`] })
    const until = Math.floor(Date.now() / 1000) + 1
    const events = (await docker.getEvents({ since, until, filters })) as unknown as AsyncIterable<Buffer>
    let started = ''
    for await (const chunk of events) started += chunk.toString()
    const checks = started.split('\n').filter((line) => line.includes('"dev.buildwave.role":"check"'))
    expect(checks.length).toBeGreaterThanOrEqual(1)
    expect(started.split('\n').filter((line) => line !== '').length).toBe(checks.length)
    expect(await leftovers()).toEqual([])
  })

  async function leftovers(): Promise<string[]> {
    const things = await listOwned(theEngine(), { run })
    return things.filter(({ name }) => name.startsWith('bw-check-')).map(({ name }) => name)
  }
})
