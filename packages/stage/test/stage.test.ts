import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { itemRecord, lines, runRecord } from '../../../test/support/records.ts'

const sample = join(import.meta.dirname, 'sample-stage.ts')
const end = { kind: 'end', v: 1, run: 'plan-00000000', stage: 'bw-plan', complete: true, counts: {} }
const stateFolder = () => mkdtempSync(join(tmpdir(), 'bw state ü,'))

function run(input: string, { state = stateFolder(), args = [] as string[] } = {}) {
  const result = spawnSync(process.execPath, [sample, ...args], {
    input,
    env: { ...process.env, BW_STATE_DIR: state },
    encoding: 'utf8',
    timeout: 30_000,
  })
  const out = result.stdout.split('\n').filter((line) => line !== '')
  return { ...result, out, records: out.map((line) => JSON.parse(line) as Record<string, unknown>), state }
}

const journalOf = (state: string) =>
  readFileSync(join(state, 'runs', 'plan-00000000', 'journal.ndjson'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('a stage', () => {
  test('passes every line on as it came, unknown kinds and fields too, adds its own, and says end last', () => {
    const odd = '{"kind":"novel", "run":"plan-00000000","big":12345678901234567890,"10":1,"2":2}'
    const input = `${lines(runRecord(), { ...itemRecord('a'), extra: [1] })}${odd}\n${lines(end)}`
    const { out, records, status } = run(input)
    expect(out.filter((line) => input.split('\n').includes(line)).join('\n')).toBe(input.trimEnd())
    expect(records.filter(({ kind }) => kind === 'failure')).toHaveLength(1)
    expect(records.at(-1)).toMatchObject({ kind: 'end', stage: 'bw-sample', complete: true, counts: { failure: 1 } })
    expect(status).toBe(5)
  })

  test('opens the run from the records as it read them, so that edits in between count', () => {
    const { state } = run(lines(runRecord(), itemRecord('a', { title: 'edited' }), end))
    expect(
      journalOf(state)
        .filter(({ kind }) => kind === 'item')
        .map(({ title }) => title),
    ).toEqual(['edited'])
  })

  test('does nothing twice: the second run of the same input passes on the first result', () => {
    const input = lines(runRecord(), itemRecord('a'), end)
    const first = run(input)
    const second = run(input, { state: first.state })
    const results = ({ records }: typeof first) => records.filter(({ kind }) => kind === 'failure')
    expect(results(second)).toEqual(results(first))
    expect(journalOf(first.state).filter(({ kind }) => kind === 'failure')).toHaveLength(1)
    const again = run(input, { state: first.state, args: ['--again'] })
    expect(journalOf(again.state).filter(({ kind }) => kind === 'failure')).toHaveLength(2)
  })

  test('says the same from the journal as from the pipe', () => {
    const piped = run(lines(runRecord(), itemRecord('a'), itemRecord('b'), end))
    const replayed = run('', { state: piped.state, args: ['--run', 'plan-00000000'] })
    const comparable = (records: Record<string, unknown>[]) => records.filter(({ kind }) => kind !== 'end')
    expect(new Set(comparable(replayed.records).map((r) => JSON.stringify(r)))).toEqual(
      new Set(comparable(piped.records).map((r) => JSON.stringify(r))),
    )
    expect(replayed.status).toBe(piped.status)
  })

  test.each([
    ['nothing', '', 'no records on stdin'],
    ['an item first', lines(itemRecord('a')), "line 1: the first record is 'item', not 'run'"],
    ['no JSON', `${lines(runRecord())}nonsense\n`, 'line 2: not JSON'],
    ['a record of another run', lines(runRecord(), itemRecord('a', { run: 'other' })), "belongs to run 'other'"],
    ['a bad item', lines(runRecord(), { ...itemRecord('a'), wave: 'x' }), "line 2: bad 'item' record at 'wave'"],
    ['no end', lines(runRecord(), itemRecord('a')), "stopped before its 'end' record"],
    ['an end that is not complete', lines(runRecord(), { ...end, complete: false }), 'bw-plan did not finish'],
  ])('given %s, says so in one line with exit 1', (_, input, message) => {
    const { stderr, status } = run(input)
    expect(stderr.split('\n')[0]).toContain(message)
    expect(stderr.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(2)
    expect(status).toBe(1)
  })

  test('a run that nobody knows is named, with where runs are kept', () => {
    const { stderr, status } = run('', { args: ['--run', 'none-00000000'] })
    expect([stderr.includes("no run 'none-00000000'"), status]).toEqual([true, 1])
  })
})

describe('a stage that is interrupted', () => {
  function start(state: string, name: string, ms: number): ChildProcess {
    return spawn(process.execPath, [sample], {
      env: { ...process.env, BW_STATE_DIR: state, SAMPLE_MS: String(ms), SAMPLE_NAME: name },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  }
  const feed = (child: ChildProcess) => child.stdin?.write(lines(runRecord(), itemRecord('a'), itemRecord('b')))

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('by %s writes end complete:false and exits %i', async (signal, status) => {
    const child = start(stateFolder(), 'bw-sample', 1000)
    feed(child)
    if (child.stdout === null) throw new Error('no stdout')
    await once(child.stdout, 'data')
    const rest = text(child.stdout)
    child.kill(signal)
    const [code] = await once(child, 'exit')
    expect(code).toBe(status)
    expect(await rest).toContain('"complete":false')
  })

  test('by the death of another stage of its run ends by itself, although its own pipes are idle', async () => {
    const state = stateFolder()
    const [one, two] = [start(state, 'bw-one', 60_000), start(state, 'bw-two', 60_000)]
    for (const child of [one, two]) {
      feed(child)
      if (child.stdout !== null) await once(child.stdout, 'data')
    }
    const complaint = two.stderr === null ? '' : text(two.stderr)
    one.kill('SIGKILL')
    const [code] = await once(two, 'exit')
    expect(code).toBe(1)
    expect(await complaint).toContain('bw-one of this run died or gave up')
  })

  test('by another stage that gave up in an orderly way ends too', async () => {
    const state = stateFolder()
    const [one, two] = [start(state, 'bw-one', 60_000), start(state, 'bw-two', 60_000)]
    for (const child of [one, two]) {
      feed(child)
      if (child.stdout !== null) await once(child.stdout, 'data')
    }
    one.kill('SIGTERM')
    const [code] = await once(two, 'exit')
    expect(code).toBe(1)
  })

  test('by a reader that goes away stops quietly', async () => {
    const child = start(stateFolder(), 'bw-sample', 0)
    feed(child)
    if (child.stdout === null || child.stderr === null) throw new Error('no pipes')
    await once(child.stdout, 'data')
    child.stdout.destroy()
    for (let i = 0; i < 50; i++) child.stdin?.write(lines(itemRecord(`n${i}`)))
    const complaint = text(child.stderr)
    const [code] = await once(child, 'exit')
    expect([code, await complaint]).toEqual([1, ''])
  })
})
