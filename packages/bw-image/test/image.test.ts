import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { baseImage, connect, type Engine, holderImage, inspectImage } from '@buildwave/engine'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recipeLabel } from '../src/recipe.ts'

const engine: Engine | Error = await connect().catch((error: Error) => error)
const isRequired = (process.env.BW_REQUIRE ?? '').split(',').includes('engine')
const withEngine = engine instanceof Error && !isRequired ? describe.skip : describe

const folder = mkdtempSync(join(tmpdir(), 'bw-image-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the tool as a process of its own. */
function bwImage(args: readonly string[], env: Record<string, string> = {}) {
  const main = join(import.meta.dirname, '..', 'src', 'main.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    env: { ...process.env, BW_CONFIG: join(folder, 'none.json'), ...env },
  })
  return { status, stdout, stderr }
}

function git(dir: string, ...args: readonly string[]): string {
  const person = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org']
  return execFileSync('git', ['-C', dir, ...person, ...args], { encoding: 'utf8' }).trim()
}

describe('bw-image, asked for what it does not do', () => {
  it('says so in one line and exits 1', () => {
    expect(bwImage(['--bogus'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^bw-image: unknown flag '--bogus'\n/),
    })
    expect(bwImage(['x'])).toMatchObject({
      status: 1,
      stderr: "bw-image: nothing is done with 'x'\nhint: see --help\n",
    })
    expect(bwImage(['--base', 'HEAD'])).toMatchObject({ status: 1, stderr: "bw-image: '--base' needs '--project'\n" })
  })

  it('says what to do without an engine', () => {
    const { status, stderr } = bwImage([], { DOCKER_HOST: 'unix:///nonexistent' })
    expect(status).toBe(1)
    expect(stderr).toBe(
      "bw-image: no container engine answers at 'unix:///nonexistent'\nhint: run scripts/setup, or start your engine, or set DOCKER_HOST\n",
    )
  })

  it('refuses a repository under a protected path', () => {
    const answer = bwImage(['--project', '/data/x'], { BW_PROTECTED_PATHS: '/data' })
    expect(answer).toMatchObject({ status: 1, stderr: expect.stringContaining("under the protected path '/data'") })
  })
})

withEngine('bw-image', () => {
  const repo = join(folder, 'a repo, of mine')
  const made: string[] = []

  beforeAll(async () => {
    await mkdir(join(repo, '.claude'), { recursive: true })
    execFileSync('git', ['init', '--quiet', '--template=', repo])
  })

  afterAll(async () => {
    if (engine instanceof Error) return
    for (const name of made) await engine.docker.getImage(name).remove({ force: true })
  })

  function theEngine(): Engine {
    if (engine instanceof Error) throw engine
    return engine
  }

  it('does nothing and says nothing when the images are there from the same recipe', async () => {
    const before = await Promise.all([baseImage, holderImage()].map((name) => inspectImage(theEngine(), name)))
    for (const image of before) expect(image?.labels[recipeLabel]).toMatch(/^[0-9a-f]{16}$/)
    expect(bwImage([])).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(bwImage(['--bootstrap'])).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(await Promise.all([baseImage, holderImage()].map((name) => inspectImage(theEngine(), name)))).toEqual(before)
  })

  it('lists what is there', () => {
    const { status, stdout } = bwImage(['--list'])
    expect(status).toBe(0)
    const lines = stdout.split('\n').filter((line) => line !== '')
    for (const line of lines) expect(line).toMatch(/^buildwave\/\S+\tsha256:[0-9a-f]{64}\t\d+\t\d{4}-\d\d-\d\dT\S+Z$/)
    expect(lines.map((line) => line.split('\t')[0])).toEqual(expect.arrayContaining([baseImage, holderImage()]))
  })

  it("makes a project's image from the tree of the commit alone, once", async () => {
    const dockerfile = 'ARG BASE\nFROM $BASE\nCOPY . /opt/context\nRUN ls -A /opt/context > /opt/listing\n'
    writeFileSync(join(repo, '.claude', 'builder.Dockerfile'), dockerfile)
    writeFileSync(join(repo, '.gitattributes'), 'left-out export-ignore\n')
    writeFileSync(join(repo, 'left-out'), 'x')
    git(repo, 'add', '--all')
    git(repo, 'commit', '--quiet', '--message', 'base')
    writeFileSync(join(repo, 'uncommitted'), 'x')
    writeFileSync(join(repo, '.claude', 'builder.Dockerfile'), 'FROM nowhere\n')

    const first = bwImage(['--project', repo])
    expect(first).toMatchObject({ status: 0, stdout: expect.stringMatching(/^buildwave\/project-[0-9a-f]{16}\n$/) })
    const name = first.stdout.trim()
    made.push(name)
    const { id } = (await inspectImage(theEngine(), name)) ?? { id: '' }
    const listing = execFileSync('docker', ['run', '--rm', '--network', 'none', name, 'cat', '/opt/listing'], {
      encoding: 'utf8',
    })
    expect(listing.split('\n').filter((line) => line !== '')).toEqual(['.claude', '.gitattributes', 'left-out'])

    const again = bwImage(['--project', repo, '--base', git(repo, 'rev-parse', 'HEAD')])
    expect(again).toEqual({ status: 0, stdout: `${name}\n`, stderr: '' })
    expect((await inspectImage(theEngine(), name))?.id).toBe(id)
  })

  it('says what is wrong with a project that has no Dockerfile, a broken one, or no such commit', () => {
    git(repo, 'rm', '--quiet', '-f', '.claude/builder.Dockerfile')
    git(repo, 'commit', '--quiet', '--message', 'none')
    expect(bwImage(['--project', repo])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/has no '\.claude\/builder\.Dockerfile'\nhint: commit one/),
    })
    execFileSync('mkdir', ['-p', join(repo, '.claude')])
    writeFileSync(join(repo, '.claude', 'builder.Dockerfile'), 'ARG BASE\nFROM $BASE\nRUN exit 3\n')
    git(repo, 'add', '--all')
    git(repo, 'commit', '--quiet', '--message', 'broken')
    const broken = bwImage(['--project', repo])
    expect(broken).toMatchObject({ status: 1, stdout: '' })
    expect(broken.stderr).toMatch(
      /bw-image: cannot build 'buildwave\/project-[0-9a-f]{16}': .*returned a non-zero code: 3\n$/,
    )
    expect(bwImage(['--project', repo, '--base', 'no-such-branch']).status).toBe(1)
  })
})
