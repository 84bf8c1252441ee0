import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { acquireLease } from '@buildwave/store'
import { expect, it } from 'vitest'
import { itemRecord, runRecord } from '../../../test/support/records.ts'
import { temporaryFolder } from '../../../test/support/repository.ts'
import { builderRecord, callTool, madeUpToken, makeRun, noEngine } from '../../../test/support/run-folder.ts'
import { readLog } from '../src/log-file.ts'
import { printSafely } from '../src/print.ts'

const records = [runRecord(), itemRecord('1'), itemRecord('2'), builderRecord('1'), builderRecord('1', 2)]
const out = 'items/1/2/out'
const events = `${out}/stream.jsonl`

function makeState(files: Readonly<Record<string, string>> = {}) {
  const state = temporaryFolder()
  const { dir } = makeRun(state, { run: 'a-1', records, files: { [`${out}/.keep`]: '', ...files } })
  return {
    state,
    call: (...args: string[]) => callTool('bw-logs', args, { state, env: noEngine }),
    place: join(dir, out),
  }
}

it('prints the latest attempt, or the one that is asked for, and its other files by flag', async () => {
  const { call } = makeState({
    [events]: '{"n":2}\n',
    'items/1/1/out/stream.jsonl': '{"n":1}\n',
    [`${out}/stderr.log`]: 'err\n',
    'items/1/2/tests.log': 'tested\n',
    'items/1/2/in/prompt.md': '# Do\n\tit\n',
  })
  expect(await call('a-1', '1')).toMatchObject({ status: 0, stdout: '{"n":2}\n', stderr: '' })
  expect(await call('1', '--attempt', '1')).toMatchObject({ status: 0, stdout: '{"n":1}\n' })
  expect((await call('1', '--stderr')).stdout).toBe('err\n')
  expect((await call('1', '--tests')).stdout).toBe('tested\n')
  expect((await call('1', '--prompt')).stdout).toBe('# Do\n\tit\n')
})

it('masks a secret and escapes what a terminal would obey', async () => {
  const token = madeUpToken()
  const { call } = makeState({ [events]: `\u001b]52;c;aGk=\u0007 ${token}\r\n\u202eevil ${'x'.repeat(100_000)}\n` })
  const { stdout } = await call('1')
  expect(stdout.slice(0, 80)).toContain('\\x1b]52;c;aGk=\\x07 sk-ant-oat01-…(108)\\r\n\\u202eevil xxx')
  expect(stdout).not.toContain(token.slice(20, 40))
  expect(stdout).toHaveLength(100_000 + stdout.indexOf('xxx') + 1)
})

it('masks a secret that is cut at any border of a read', async () => {
  const token = madeUpToken('cut')
  const bytes = Buffer.from(`é a ${token}\u001b b`)
  for (let cut = 0; cut <= bytes.length; cut += 7) {
    const stdout = new PassThrough()
    const said = text(stdout)
    const chunks = async function* () {
      yield bytes.subarray(0, cut)
      yield bytes.subarray(cut)
    }
    await printSafely(chunks(), { stdout, signal: new AbortController().signal })
    stdout.end()
    expect(await said).toBe('é a sk-ant-oat01-…(108)\\x1b b')
  }
})

it('follows no link and opens nothing but a regular file', async () => {
  const { call, place } = makeState()
  const target = join(temporaryFolder(), 'private')
  writeFileSync(target, 'private words\n')
  const refused = { status: 1, stdout: '', stderr: expect.stringContaining('is not a regular file') }
  symlinkSync(target, join(place, 'stream.jsonl'))
  expect(await call('1')).toMatchObject(refused)
  rmSync(join(place, 'stream.jsonl'))
  execFileSync('mkfifo', [join(place, 'stream.jsonl')])
  expect(await call('1')).toMatchObject(refused)
})

it('reads a file of any size piece by piece', async () => {
  const path = join(temporaryFolder(), 'log')
  writeFileSync(path, Buffer.alloc(1_000_000, 'x'))
  let sum = 0
  for await (const bytes of readLog(path, null)) {
    expect(bytes.buffer.byteLength).toBeLessThanOrEqual(64 * 1024)
    sum += bytes.length
  }
  expect(sum).toBe(1_000_000)
})

it('with --follow waits for the file, and reads what was written until the end was known', async () => {
  const path = join(temporaryFolder(), 'log')
  let looks = 0
  const isOver = async () => {
    looks++
    if (looks === 2) writeFileSync(path, 'first\n')
    if (looks === 3) appendFileSync(path, 'last\n')
    return looks === 3
  }
  const read: Buffer[] = []
  for await (const bytes of readLog(path, { isOver, signal: new AbortController().signal })) read.push(bytes)
  expect(Buffer.concat(read).toString()).toBe('first\nlast\n')
})

it('says which log of which attempt is not there, and what goes with what', async () => {
  const { call } = makeState()
  const says = async (args: string[], message: string) =>
    expect(await call(...args)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(message) })
  await says(['1'], "bw-logs: attempt 2 at '1' has no events\n")
  await says(['2'], "'2' was never started")
  await says(['3'], "no item '3' in run")
  await says(['1', '--tests', '--stderr'], "'--tests' and '--stderr' do not go together")
  await says(['1', '--tests', '--follow'], "'--follow' does not go with '--tests'")
  await says([], 'no item is given')
})

it('a reader that has seen enough ends it without a word', async () => {
  const { state } = makeState({ [events]: 'line\n'.repeat(200_000) })
  const main = join(import.meta.dirname, '..', 'src', 'main.ts')
  const script = 'set -o pipefail; "$0" "$1" 1 2>&1 | head -n 1; echo $?'
  const said = execFileSync('bash', ['-c', script, process.execPath, main], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', HOME: state, BW_STATE_DIR: state },
  })
  expect(said).toBe('line\n0\n')
})

it('an interrupt ends --follow with 130, what was read before is out', async () => {
  const state = temporaryFolder()
  const intent = { kind: 'intent', v: 1, stage: 'bw-spawn', action: 'start-builder', item: '1', attempt: 1 }
  const files = { 'items/1/1/out/stream.jsonl': '{"n":1}\n' }
  const { leases } = makeRun(state, { run: 'a-1', records: [runRecord(), itemRecord('1'), intent], files })
  // A bw-spawn that is about to start the builder: the end is not known.
  const lease = acquireLease(leases, 'bw-spawn')
  const main = join(import.meta.dirname, '..', 'src', 'main.ts')
  const env = { PATH: process.env['PATH'] ?? '', HOME: state, BW_STATE_DIR: state }
  const child = spawn(process.execPath, [main, '1', '--follow'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [first] = await once(child.stdout, 'data')
  child.kill('SIGINT')
  const [status] = await once(child, 'exit')
  lease.release()
  expect([String(first), status]).toEqual(['{"n":1}\n', 130])
})
