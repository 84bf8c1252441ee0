import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type PipeResult, runPipe, scriptPipe } from './support/pipeline.ts'
import { makeSmallPlan } from './support/small-plan.ts'

const planArgs = ['--test', 'sh check.sh']
const isRoot = process.getuid?.() === 0
const allGreen = (result: PipeResult) =>
  expect(Object.values(result.status), JSON.stringify(result.stderr)).toEqual(Object.keys(result.status).map(() => 0))

function chownAll(path: string, uid: number, gid: number): void {
  chownSync(path, uid, gid)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) chownAll(join(path, name), uid, gid)
}

/** The group that may use the engine's socket. */
const engineGroup = () => lstatSync('/var/run/docker.sock').gid

describe.runIf(isRoot)('whoever runs it', () => {
  test('root, on a repository that belongs to another user', async () => {
    const { repo, scripts, env } = makeSmallPlan()
    chownAll(repo, 12345, 12345)
    chmodSync(dirname(repo), 0o755)
    const result = await runPipe(scriptPipe(scripts, { planArgs }), { cwd: repo, env })
    allGreen(result)
  })

  test('an ordinary user in the engine group, without a passwd entry, under a state folder with odd characters', async () => {
    const { repo, scripts, env, state } = makeSmallPlan({ stateName: 'state, with ü' })
    const place = dirname(repo)
    const home = join(place, 'home')
    mkdirSync(home)
    chownAll(place, 23456, 23456)
    chmodSync(place, 0o755)
    const as = { cwd: repo, env, uid: 23456, gid: engineGroup() }
    // Each user makes the holder image of their own uid once, as scripts/setup does.
    allGreen(await runPipe([{ tool: 'bw-image' }], as))
    const result = await runPipe(scriptPipe(scripts, { planArgs }), as)
    allGreen(result)
    const delivered = String(result.records.findLast(({ kind }) => kind === 'delivery')?.['ref'])
    expect(
      execFileSync('git', ['-c', `safe.directory=${repo}`, '-C', repo, 'rev-parse', delivered], {
        encoding: 'utf8',
      }).trim(),
    ).toMatch(/^[0-9a-f]{40}$/)
    const foreign = execFileSync('find', [state, '!', '-uid', '23456'], { encoding: 'utf8' })
    expect(foreign).toBe('')
  })
})
