import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { beforeAll, expect, it } from 'vitest'
import { labels, listOwned, prepareStart, type StartLayer } from '../src/index.ts'
import { removeVolume } from '../src/volume.ts'
import { build, makeOut } from './support/build.ts'
import { ownRun, theEngine, withEngine } from './support/engine.ts'
import { makeRepo, repoAt, type TestRepo } from './support/repo.ts'

withEngine('the layer of a start commit', () => {
  const run = ownRun()
  let out: string

  beforeAll(async () => {
    out = await makeOut()
  })

  /** What a shell command prints in a builder on that layer. */
  async function show(layer: StartLayer, item: string, command: string): Promise<string> {
    const argv = ['sh', '-c', `(${command}) > /bw/out/${item} 2>&1`]
    await build({ run, item, attempt: 1, layer, argv, mounts: [{ host: out, target: '/bw/out', readOnly: false }] })
    return readFileSync(join(out, item), 'utf8')
  }

  /** A repository of its own content, so that no other test has its layers. */
  function repoWith(name: string, ...initArgs: readonly string[]): { repo: TestRepo; base: string } {
    const repo = makeRepo(...initArgs)
    writeFileSync(join(repo.dir, 'a'), `${name} ${run}\n`)
    return { repo, base: repo.commit('base') }
  }

  function counted(repo: TestRepo): { bundle: TestRepo['bundle']; asked: string[] } {
    const asked: string[] = []
    return {
      asked,
      bundle: (commit, not) => {
        asked.push(`${commit} without ${not.join()}`)
        return repo.bundle(commit, not)
      },
    }
  }

  async function volumes(role: string): Promise<string[]> {
    return (await listOwned(theEngine(), { run })).filter((thing) => thing.role === role).map(({ name }) => name)
  }

  it('is made once, by whoever asks first', async () => {
    const { repo, base } = repoWith('once')
    const { bundle, asked } = counted(repo)
    const layers = await Promise.all([1, 2, 3].map(() => prepareStart(theEngine(), { run, start: base, base, bundle })))
    layers.push(await prepareStart(theEngine(), { run, start: base, base, bundle }))
    expect(new Set(layers.map((layer) => JSON.stringify(layer))).size).toBe(1)
    expect(asked).toEqual([`${base} without `])
    expect(await volumes('layer')).toHaveLength(1)
  })

  it('is one layer for all when processes make it at the same time', async () => {
    const { repo, base } = repoWith('together')
    const before = await volumes('layer')
    // Another engine object stands for another process: nothing is shared but the engine itself.
    const layers = await Promise.all(
      [1, 2].map(() => prepareStart({ ...theEngine() }, { run, start: base, base, bundle: repo.bundle })),
    )
    expect(layers[0]).toEqual(layers[1])
    expect(await volumes('layer')).toHaveLength(before.length + 1)
  })

  it('is never a half-filled one', async () => {
    const { repo, base } = repoWith('half')
    const before = await listOwned(theEngine(), { run })
    const whole = await buffer(await repo.bundle(base, []))
    const cut = async () => Readable.from([whole.subarray(0, whole.length - 30)])
    await expect(prepareStart(theEngine(), { run, start: base, base, bundle: cut })).rejects.toThrow(/filler ended/)

    const broken = new PassThrough()
    const breaks = async () => {
      broken.write(whole.subarray(0, 40))
      setImmediate(() => broken.destroy(new Error('the source broke')))
      return broken
    }
    await expect(prepareStart(theEngine(), { run, start: base, base, bundle: breaks })).rejects.toThrow(
      'the source broke',
    )
    expect(await listOwned(theEngine(), { run })).toEqual(before)

    const layer = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
    expect(await show(layer, 'half', 'cat a')).toBe(`half ${run}\n`)
  })

  it('is made again when its volume was removed by hand', async () => {
    const { repo, base } = repoWith('removed')
    const first = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
    await removeVolume(theEngine(), first.volumes[0]?.name ?? '')
    await expect(show(first, 'gone', 'true')).rejects.toMatchObject({ code: 'layer-gone' })
    const again = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
    expect(await show(again, 'again', 'cat a')).toBe(`removed ${run}\n`)
  })

  it('holds for another start commit only what differs from the base', async () => {
    const { repo, base } = repoWith('thin')
    for (const name of ['b', 'c', 'd']) writeFileSync(join(repo.dir, name), name)
    const wide = repo.commit('more files')
    writeFileSync(join(repo.dir, 'b'), 'changed')
    repo.git('rm', '--quiet', 'c')
    const start = repo.commit('one item')
    const { bundle, asked } = counted(repo)
    await prepareStart(theEngine(), { run, start: wide, base: wide, bundle })
    const layer = await prepareStart(theEngine(), { run, start, base: wide, bundle })
    expect(asked).toEqual([`${wide} without `, `${start} without ${wide}`])
    const shown = await show(
      layer,
      'thin',
      'git status --porcelain; git log --format=%s; ls; cat b; ls /start.git/upper',
    )
    expect(shown.split('\n')).toEqual(['one item', 'more files', 'base', 'a', 'b', 'd', 'changedb', 'c', ''])
    expect(base).not.toBe(wide)
  })

  it('has the bytes of the blobs, whatever the attributes ask for', async () => {
    const repo = makeRepo()
    writeFileSync(join(repo.dir, '.gitattributes'), '* text=auto eol=crlf ident\n*.u working-tree-encoding=UTF-16\n')
    repo.git('add', '.gitattributes')
    const blobs = { unix: 'a\nb\n', dos: 'a\r\nb\r\n', 'id.txt': '$Id$\n', 'x.u': 'plain\n' }
    for (const [name, text] of Object.entries(blobs)) {
      const oid = repo.gitWith(text, 'hash-object', '-w', '--stdin', '--no-filters')
      repo.git('update-index', '--add', '--cacheinfo', `100644,${oid},${name}`)
    }
    repo.git('commit', '--quiet', '--message', `bytes ${run}`)
    const base = repo.git('rev-parse', 'HEAD')
    const layer = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
    const shown = await show(layer, 'bytes', 'git status --porcelain; cat unix dos id.txt x.u')
    expect(shown).toBe(Object.values(blobs).join(''))
  })

  it('works from a history that was cut off, also for a later start', async () => {
    const { repo } = repoWith('shallow')
    repo.commit('second')
    const deep = repo.commit('third')
    const shallow = makeRepo()
    shallow.git('fetch', '--quiet', '--depth=1', `file://${repo.dir}`, 'HEAD')
    shallow.git('reset', '--quiet', '--hard', deep)
    const base = deep
    writeFileSync(join(shallow.dir, 'b'), 'b')
    const start = shallow.commit('fourth')
    const layer = await prepareStart(theEngine(), { run, start, base, bundle: repoAt(shallow.dir).bundle })
    expect(await show(layer, 'shallow', 'git status --porcelain; git log --format=%s; cat b')).toBe('fourth\nthird\nb')
  })

  it('works with SHA-256 object names', async () => {
    const { repo, base } = repoWith('sha256', '--object-format=sha256')
    const layer = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
    expect(await show(layer, 'sha256', 'git rev-parse HEAD')).toBe(`${base}\n`)
  })

  it('is found by its labels', async () => {
    const { Volumes } = await theEngine().docker.listVolumes({ filters: { label: [`${labels.run}=${run}`] } })
    expect(Volumes.every((volume) => volume.Labels?.[labels.owner] === String(process.getuid?.()))).toBe(true)
  })
})
