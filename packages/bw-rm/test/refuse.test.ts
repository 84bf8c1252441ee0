import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { acquireLease, runPaths } from '@buildwave/store'
import { expect, it } from 'vitest'
import { itemRecord, runRecord } from '../../../test/support/records.ts'
import { differences, fingerprint, git, temporaryFolder } from '../../../test/support/repository.ts'
import { callTool, makeRun, noEngine } from '../../../test/support/run-folder.ts'

const records = [runRecord(), itemRecord('1')]
const call = (state: string, ...args: string[]) => callTool('bw-rm', args, { state, env: noEngine })
const refusal = (message: string) => ({ status: 1, stdout: '', stderr: expect.stringContaining(message) })
const all = ['--force', '--yes']

it('refuses while a stage is at work on the run, even by force', async () => {
  const state = temporaryFolder()
  const { dir, leases } = makeRun(state, { run: 'a-1', records })
  const lease = acquireLease(leases, 'bw-merge')
  expect(await call(state, 'a-1', ...all)).toMatchObject(refusal('bw-merge (pid'))
  expect(existsSync(dir)).toBe(true)
  lease.release()
  expect(await call(state, 'a-1', ...all)).toMatchObject({ status: 0 })
  expect(existsSync(dir)).toBe(false)
})

it('refuses a run folder that is a link, or runs that are kept behind one', async () => {
  const state = temporaryFolder()
  const elsewhere = temporaryFolder()
  const { dir } = makeRun(elsewhere, { run: 'a-1', records })
  mkdirSync(join(state, 'runs'))
  symlinkSync(dir, join(state, 'runs', 'a-1'))
  const before = fingerprint(elsewhere)
  expect(await call(state, 'a-1', ...all)).toMatchObject(refusal('which is not where runs are kept'))
  const behind = temporaryFolder()
  symlinkSync(join(elsewhere, 'runs'), join(behind, 'runs'))
  expect(await call(behind, 'a-1', ...all)).toMatchObject(refusal('which is not where runs are kept'))
  expect(differences(before, fingerprint(elsewhere))).toEqual([])
})

it('removes a run of a state folder that is itself reached through a link', async () => {
  const place = temporaryFolder()
  const { dir } = makeRun(join(place, 'real'), { run: 'a-1', records })
  symlinkSync('real', join(place, 'state'))
  expect(await call(join(place, 'state'), 'a-1', ...all)).toMatchObject({ status: 0 })
  expect(existsSync(dir)).toBe(false)
})

it('refuses a run folder in a repository, be it bare, or a worktree, or the run folder itself', async () => {
  const state = join(temporaryFolder(), 'state')
  const { dir } = makeRun(state, { run: 'a-1', records })
  git(dirname(state), 'init', '-q')
  expect(await call(state, ...all)).toMatchObject(refusal('lies in the repository'))
  const git1 = join(dirname(state), '.git')
  renameSync(git1, join(dirname(state), 'other'))
  writeFileSync(git1, 'gitdir: other\n')
  expect(await call(state, ...all)).toMatchObject(refusal('lies in the repository'))

  const bare = join(temporaryFolder(), 'bare.git')
  git('/', 'init', '-q', '--bare', bare)
  makeRun(bare, { run: 'a-1', records })
  expect(await call(bare, ...all)).toMatchObject(refusal('lies in the repository'))

  const own = temporaryFolder()
  git(makeRun(own, { run: 'a-1', records }).dir, 'init', '-q')
  expect(await call(own, ...all)).toMatchObject(refusal('lies in the repository'))
  expect([dir, runPaths(bare, 'a-1').dir, runPaths(own, 'a-1').dir].every((path) => existsSync(path))).toBe(true)
})

it('without an engine removes nothing, since what is uncollected is not known; by force the folder alone', async () => {
  const state = temporaryFolder()
  const { dir } = makeRun(state, { run: 'a-1', records })
  expect(await call(state, '--yes')).toMatchObject(refusal('what nobody has collected is not known'))
  expect(existsSync(dir)).toBe(true)
  const forced = await call(state, ...all)
  expect(forced).toMatchObject({ status: 0, records: [{ kind: 'removal', run: 'a-1', removed: true, folder: dir }] })
  expect(forced.stderr).toContain('what it holds of this run stays')
})

it('without --yes shows what would go, and touches nothing', async () => {
  const state = temporaryFolder()
  const { dir } = makeRun(state, { run: 'a-1', records, files: { 'items/1/1/tests.log': 'x' } })
  writeFileSync(join(state, 'id'), '0badcafe\n')
  const before = fingerprint(state)
  const { status, records: shown, stderr } = await call(state, '--force')
  expect(status).toBe(0)
  expect(shown).toMatchObject([{ kind: 'removal', removed: false, folder: dir }])
  expect(stderr).toContain('nothing was removed: --yes does it')
  expect(differences(before, fingerprint(state))).toEqual([])
})

it('a name that is no run removes nothing, though there is one run only', async () => {
  const state = temporaryFolder()
  const { dir } = makeRun(state, { run: 'a-1', records })
  expect(await call(state, 'a-2', ...all)).toMatchObject(refusal("no run 'a-2'"))
  expect(existsSync(dir)).toBe(true)
})

it('removes links as links', async () => {
  const state = temporaryFolder()
  const { dir } = makeRun(state, { run: 'a-1', records })
  const outside = temporaryFolder()
  writeFileSync(join(outside, 'file'), 'kept')
  symlinkSync(outside, join(dir, 'folder'))
  symlinkSync(join(outside, 'file'), join(dir, 'file'))
  expect(await call(state, ...all)).toMatchObject({ status: 0 })
  expect(readdirSync(outside)).toEqual(['file'])
})

it.runIf(process.getuid?.() === 0)('removes folders that a builder has closed', async () => {
  const state = temporaryFolder()
  const { dir } = makeRun(state, { run: 'a-1', records, files: { 'items/1/1/out/a/b/file': 'x' } })
  const uid = 34567
  chownAll(state, uid)
  chmodSync(join(dir, 'items/1/1/out/a/b'), 0o000)
  chmodSync(join(dir, 'items/1/1/out/a'), 0o000)
  expect(await callTool('bw-rm', all, { state, env: noEngine, uid })).toMatchObject({ status: 0 })
  expect(existsSync(dir)).toBe(false)
})

function chownAll(path: string, uid: number): void {
  chownSync(path, uid, uid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) chownAll(join(path, entry.name), uid)
    else chownSync(join(path, entry.name), uid, uid)
  }
}
