import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { root } from '../../../test/support/pipeline.ts'
import { temporaryFolder } from '../../../test/support/repository.ts'
import { detectRunner, type Found, type Runner, readResults } from '../src/runner.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function layOut(files: Record<string, string>): string {
  const folder = temporaryFolder()
  folders.push(folder)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

/** Runs the command here as a check would in its container. */
function run(
  folder: string,
  { command, env, report }: Runner,
): { status: number | null; bytes: Buffer | null; log: string } {
  if (report !== null) rmSync(report, { force: true })
  const answer = spawnSync('sh', ['-c', command], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`, HOME: folder, CI: '1', ...env },
  })
  const bytes = report === null ? null : readFileSync(report)
  if (report !== null) rmSync(report, { force: true })
  return { status: answer.status, bytes, log: answer.stdout + answer.stderr }
}

function results(folder: string, runner: Runner): Found {
  const { bytes, log } = run(folder, runner)
  return readResults(runner, { report: bytes, log })
}

/** Names without the temporary folder, which in a container is `/work`. */
const relative = (folder: string, { tests }: Found) =>
  Object.fromEntries(Object.entries(tests ?? {}).map(([name, outcome]) => [name.replace(`${folder}/`, ''), outcome]))

describe('runners, for real', () => {
  it('reads what node:test did, and chooses by title', () => {
    const folder = layOut({
      'a.test.js': `const { test, describe, it } = require('node:test')
describe('group', () => { it('is fine', () => {}); it('is "bad" (x)', () => { throw new Error('no') }) })
test.skip('later', () => {})`,
    })
    const runner = detectRunner('node --test', { files: new Map(), junit: null })
    const all = results(folder, runner)
    expect(all.runner).toBe('node')
    expect(relative(folder, all)).toEqual({
      'a.test.js > group > is fine': 'passed',
      [Object.keys(relative(folder, all)).find((name) => name.includes('bad')) ?? '']: 'failed',
      'a.test.js > test > later': 'skipped',
    })
    const few = results(folder, runner.only(['a.test.js > group > is fine']))
    expect(few.tests?.[`${folder}/a.test.js > group > is fine`]).toBe('passed')
    expect(Object.values(few.tests ?? {})).not.toContain('failed')
  })

  it('reads what vitest did behind npm test, and chooses by title', () => {
    const manifest = JSON.stringify({ scripts: { test: 'vitest run --globals' } })
    const folder = layOut({
      'package.json': manifest,
      'a.test.js': `describe('group', () => { it("it's fine", () => {}); it('is bad (x)', () => { expect(1).toBe(2) }) })
it.skip('later', () => {})`,
      'b.test.js': "import './nothing-like-it.js'",
    })
    const runner = detectRunner('npm test', { files: new Map([['package.json', manifest]]), junit: null })
    expect(relative(folder, results(folder, runner))).toEqual({
      "a.test.js > group > it's fine": 'passed',
      'a.test.js > group > is bad (x)': 'failed',
      'a.test.js > later': 'skipped',
      'b.test.js': 'failed',
    })
    const few = results(folder, runner.only(["a.test.js > group > it's fine"]))
    expect(relative(folder, few)).toMatchObject({
      "a.test.js > group > it's fine": 'passed',
      'a.test.js > group > is bad (x)': 'skipped',
    })
  })
})
