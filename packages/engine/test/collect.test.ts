import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { collectTree, listOwned, prepareStart, removeAttempt, type StartLayer } from '../src/index.ts'
import { build, start } from './support/build.ts'
import { ownRun, theEngine, withEngine } from './support/engine.ts'
import { newFolder } from './support/folder.ts'
import { makeRepo } from './support/repo.ts'

withEngine('the collected tree', () => {
  const run = ownRun()
  const repo = makeRepo()
  let layer: StartLayer
  let startTree: string

  beforeAll(async () => {
    writeFileSync(join(repo.dir, 'edited'), 'before\n')
    writeFileSync(join(repo.dir, 'deleted'), 'x')
    writeFileSync(join(repo.dir, 'program'), 'x', { mode: 0o755 })
    mkdirSync(join(repo.dir, 'folder'))
    writeFileSync(join(repo.dir, 'folder', 'inner'), 'x')
    writeFileSync(join(repo.dir, '.gitignore'), `ignored\n# ${run}\n`)
    symlinkSync('edited', join(repo.dir, 'link'))
    const base = repo.commit('base')
    startTree = repo.git('rev-parse', `${base}^{tree}`)
    layer = await prepareStart(theEngine(), { run, start: base, base, bundle: repo.bundle })
  })

  /** Runs a shell command as a builder and takes its tree over into the repository. */
  async function collect(item: string, command: string): Promise<string> {
    await build({ run, item, attempt: 1, layer, argv: ['sh', '-c', command] })
    return takeOver(item)
  }

  async function takeOver(item: string): Promise<string> {
    const { tree, pack } = await collectTree(theEngine(), { run, item, attempt: 1, layer })
    if (pack) repo.gitWith(await buffer(pack), 'index-pack', '--stdin', '--strict')
    return tree
  }

  /** `mode path` of every file of a tree, path as git quotes it. */
  function files(tree: string): string[] {
    return repo.git('ls-tree', '-r', '--format=%(objectmode) %(path)', tree).split('\n')
  }

  it('is the start tree, without a pack, when nothing was done', async () => {
    await build({ run, item: 'nothing', attempt: 1, layer, argv: ['true'] })
    expect(await collectTree(theEngine(), { run, item: 'nothing', attempt: 1, layer })).toEqual({
      tree: startTree,
      pack: null,
    })
  })

  it('has edits, deletions, new files, modes, links, and a file where a folder was and back', async () => {
    const tree = await collect(
      'changes',
      `printf 'after' > edited; rm deleted; chmod 644 program; chmod 755 edited; rm -r folder; echo f > folder
       rm link; mkdir link; echo in > link/in; ln -s ../../etc/passwd escape; ln -s nowhere/at/all dangling`,
    )
    expect(files(tree)).toEqual([
      '100644 .gitignore',
      '120000 dangling',
      '100755 edited',
      '120000 escape',
      '100644 folder',
      '100644 link/in',
      '100644 program',
    ])
    expect(repo.git('cat-file', 'blob', `${tree}:escape`)).toBe('../../etc/passwd')
  })

  it('leaves out what is ignored, but not ignored files that were tracked', async () => {
    const tree = await collect(
      'ignored',
      'touch ignored; mkdir sub; touch sub/ignored sub/kept; echo edited >> .gitignore; echo x > edited',
    )
    expect(files(tree)).toContain('100644 sub/kept')
    expect(files(tree).filter((line) => line.includes('ignored'))).toEqual([])
    expect(repo.git('cat-file', 'blob', `${tree}:edited`)).toBe('x')
  })

  it('has an edit of the same size and time', async () => {
    const tree = await collect(
      'same',
      `touch -r edited /tmp/time; printf 'BEFORE\\n' > edited; touch -r /tmp/time edited`,
    )
    expect(repo.git('cat-file', 'blob', `${tree}:edited`)).toBe('BEFORE')
  })

  it('does not believe the builder’s .git, and runs nothing of it', async () => {
    const tree = await collect(
      'hostile',
      `cd /work
       printf '#!/bin/sh\\ntouch /work/hook-ran\\n' > /tmp/hook; chmod +x /tmp/hook; cp /tmp/hook .git/hook
       git config core.fsmonitor /work/.git/hook; git config core.hooksPath /work/.git
       git config filter.x.clean /work/.git/hook; git config core.worktree /tmp; git config core.fileMode false
       printf '* filter=x text eol=crlf\\n' > .gitattributes
       git update-index --assume-unchanged edited; git update-index --skip-worktree program
       mkdir -p .git/info; printf 'hidden\\n' > .git/info/exclude; printf '* filter=x\\n' > .git/info/attributes
       printf 'a\\r\\nb\\n' > hidden; echo changed > edited; chmod 644 program; rm -f hook-ran`,
    )
    expect(files(tree)).toEqual([
      '100644 .gitattributes',
      '100644 .gitignore',
      '100644 deleted',
      '100644 edited',
      '100644 folder/inner',
      '100644 hidden',
      '120000 link',
      '100644 program',
    ])
    expect(repo.git('cat-file', '-s', `${tree}:hidden`)).toBe('5')
  })

  it('is found without any .git of the builder’s', async () => {
    expect(await collect('without', 'rm -rf .git; echo file > .git')).toBe(startTree)
  })

  it('has what its owner made unreadable', async () => {
    const tree = await collect(
      'unreadable',
      'mkdir shut; echo x > shut/file; chmod 000 shut/file shut; chmod 000 edited',
    )
    expect(files(tree)).toContain('100644 shut/file')
    expect(files(tree)).toContain('100644 edited')
  })

  it('names repositories inside of the work instead of losing them', async () => {
    const nested =
      'git init -q "sub/nested one"; cd "sub/nested one"; echo x > a; git add a; git -c user.name=x -c user.email=x commit -qm x'
    await expect(collect('nested', nested)).rejects.toMatchObject({
      code: 'nested-repository',
      message: expect.stringContaining("'sub/nested one'"),
    })
    await expect(collect('nested-empty', 'git init -q empty; touch empty/a')).rejects.toMatchObject({
      code: 'nested-repository',
    })
    // One that is ignored is left out as any other folder, and tracked files beside a new .git stay files.
    expect(await collect('nested-ignored', 'git init -q ignored; touch ignored/a')).toBe(startTree)
    expect(files(await collect('nested-beside', 'git init -q folder; touch folder/new'))).toEqual(
      expect.arrayContaining(['100644 folder/inner', '100644 folder/new']),
    )
  })

  it('has no place for pipes and sockets', async () => {
    expect(await collect('pipe', 'mkfifo pipe')).toBe(startTree)
    await expect(collect('pipe-over-file', 'rm edited; mkfifo edited')).rejects.toMatchObject({ code: 'uncollectable' })
  })

  it('is refused while the builder runs, and when its work is gone', async () => {
    const id = { run, item: 'running', attempt: 1 }
    await start({ ...id, layer, argv: ['sleep', '600'] })
    await expect(collectTree(theEngine(), { ...id, layer })).rejects.toThrow(/still runs/)
    await removeAttempt(theEngine(), id)
    await expect(collectTree(theEngine(), { ...id, layer })).rejects.toMatchObject({ code: 'attempt-gone' })
  })

  it('leaves no collector behind, also when its pack is not read to the end', async () => {
    await build({ run, item: 'unread', attempt: 1, layer, argv: ['sh', '-c', 'head -c 4000000 /dev/urandom > big'] })
    const { pack } = await collectTree(theEngine(), { run, item: 'unread', attempt: 1, layer })
    if (pack === null) throw new Error('no pack')
    pack.destroy()
    await once(pack, 'close')
    const collectors = (await listOwned(theEngine(), { run })).filter(({ role }) => role === 'collector')
    expect(collectors).toEqual([])
  })

  it('equals the working tree for every kind of file that git can hold', async () => {
    const folder = newFolder()
    const samples = fc.sample(fileTree, { numRuns: 40, seed: 7 })
    // All samples in one builder, each below its own folder: a container for each would take minutes.
    const everything = samples.flatMap((sample, at) =>
      sample.map((entry) => ({ ...entry, path: `s${at}/${entry.path}` })),
    )
    writeFileSync(
      join(folder, 'tree.json'),
      JSON.stringify(everything.map(({ path, kind, content }) => [path, kind, content])),
    )
    copyFileSync(join(import.meta.dirname, 'support', 'make_tree.py'), join(folder, 'make.py'))
    chmodSync(folder, 0o755)
    const end = await build({
      run,
      item: 'property',
      attempt: 1,
      layer,
      argv: ['python3', '/bw/in/make.py', '/bw/in/tree.json'],
      mounts: [{ host: folder, target: '/bw/in', readOnly: true }],
    })
    expect(end.exit).toBe(0)
    expect(await takeOver('property')).toBe(expectedTree(everything))
  })

  /** The tree of the start and the files, made with git's plumbing from the list alone. */
  function expectedTree(entries: readonly Entry[]): string {
    const held = new Map<string, string>()
    for (const { path, kind, content } of entries) {
      for (const other of held.keys()) if (other === path || other.startsWith(`${path}/`)) held.delete(other)
      if (kind === 'gone' || kind === 'folder') continue
      const oid = repo.gitWith(Buffer.from(content, 'latin1'), 'hash-object', '-w', '--stdin', '--no-filters')
      held.set(path, `${kind === 'link' ? 120000 : kind === 'program' ? 100755 : 100644} ${oid}`)
    }
    repo.git('read-tree', layer.start)
    const lines = [...held].map(([path, what]) => Buffer.from(`${what}\t${path}\0`, 'latin1'))
    repo.gitWith(Buffer.concat(lines), 'update-index', '-z', '--index-info')
    return repo.git('write-tree')
  }
})

interface Entry {
  path: string
  kind: 'file' | 'program' | 'link' | 'folder' | 'gone'
  content: string
}

/** A path's component: any bytes but those that end it, the two dot names, and what git itself refuses in a tree. */
const component = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('latin1').replace(/[\0/]/g, '_'))
  .filter(
    (name) =>
      !/^\.\.?$|^\.git|git~|^\.$/i.test(name) &&
      !name.includes('ignored') &&
      !/[^\x20-\x7e]*g[^\x20-\x7e]*i[^\x20-\x7e]*t/i.test(name),
  )

const plainName = fc.constantFrom(
  'a',
  'b',
  'new\nline',
  'tab\t',
  ' space ',
  '-x',
  '"quoted"',
  'ünï'.normalize('NFD'),
  '\xff\xfe',
  'back\\slash',
  'CON',
  '*?[',
)
const latin = (name: string) => Buffer.from(name, 'utf8').toString('latin1')

const fileTree: fc.Arbitrary<Entry[]> = fc
  .array(
    fc.record({
      path: fc
        .array(fc.oneof(component, plainName.map(latin)), { minLength: 1, maxLength: 3 })
        .map((parts) => parts.join('/')),
      kind: fc.constantFrom('file', 'file', 'program', 'link', 'folder', 'gone') as fc.Arbitrary<Entry['kind']>,
      content: fc.oneof(
        fc.constantFrom('', '\n', 'a\r\nb\r\n', 'a\nb', '\0\x01\xff', 'version https://git-lfs\n', '$Id$'),
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      ),
    }),
    { maxLength: 12 },
  )
  .map((entries) =>
    entries.map(fitting).filter((entry, at, all) => all.slice(0, at).every((earlier) => !liesBelow(entry, earlier))),
  )

/** A link's target is never empty and has no zero byte. */
function fitting(entry: Entry): Entry {
  return entry.kind === 'link' ? { ...entry, content: entry.content.replaceAll('\0', '0') || 'x' } : entry
}

/** Something below what is a file or a link by then could not be made. */
function liesBelow(entry: Entry, earlier: Entry): boolean {
  return earlier.kind !== 'folder' && earlier.kind !== 'gone' && entry.path.startsWith(`${earlier.path}/`)
}
