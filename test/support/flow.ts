import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ItemRecord, RunRecord } from '@buildwave/core'
import { connect, reap } from '@buildwave/engine'
import { stateId } from '@buildwave/store'
import { root } from './pipeline.ts'
import { itemRecord, lines, runRecord } from './records.ts'
import { git, makeRepository, temporaryFolder } from './repository.ts'

export interface Answer {
  /** The exit status, or the signal that ended it. */
  status: number | string
  stdout: string
  stderr: string
  records: { kind: string; [field: string]: unknown }[]
}

export interface ToolCall {
  tool: string
  args?: readonly string[]
  input?: string
}

/** A run on a repository of its own, with its own state folder; tools run from source, one process each. */
export interface Flow {
  repo: string
  run: RunRecord
  state: string
  /** Runs a tool on these records (the journal's with `--run` in `args` and no input). */
  call(tool: string, args: readonly string[], input?: string): Promise<Answer>
  /** The same, with the process in hand; `onStart` is waited for beside it. */
  callWith(onStart: (child: ChildProcess) => Promise<void>, call: ToolCall): Promise<Answer>
  /** The records that `bw-plan` would give, and its `end`. */
  plan(items: readonly ItemRecord[]): string
  /** Has the items built by shell scripts, each in its own container, and gives the records up to `build`. */
  build(scripts: Readonly<Record<string, string>>, items: readonly ItemRecord[]): Promise<string>
  /** Removes everything of the run, on the engine too. */
  close(): Promise<void>
}

let runs = 0

/** Lays out a repository and the record of a run on it. */
export function openFlow(files: Readonly<Record<string, string>>, change: Partial<RunRecord> = {}): Flow {
  const repo = makeRepository(files)
  const state = temporaryFolder('bw-state-')
  const run = runRecord({
    run: `evidence-${process.pid}-${runs++}`,
    repo,
    base: git(repo, 'rev-parse', 'HEAD'),
    test: 'python3 -m pytest -q',
    ...change,
  })
  const callWith: Flow['callWith'] = async (onStart, { tool, args = [], input }) => {
    const child = spawn(process.execPath, [join(root, 'packages', tool, 'src', 'main.ts'), ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: state, BW_STATE_DIR: state },
      cwd: repo,
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
    const [stdout, stderr, [status, signal]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
      onStart(child),
    ])
    return { status: signal === null ? status : signal, stdout, stderr, records: readLines(stdout) }
  }
  const call: Flow['call'] = (tool, args, input = '') => callWith(async () => undefined, { tool, args, input })
  const plan: Flow['plan'] = (items) => {
    const end = { kind: 'end', v: 1, run: run.run, stage: 'bw-plan', complete: true, counts: {} }
    return lines(run, ...items.map((item) => ({ ...item, run: run.run })), end)
  }
  return {
    repo,
    run,
    state,
    call,
    callWith,
    plan,
    async build(scripts, items) {
      const folder = join(state, 'scripts')
      mkdirSync(folder, { recursive: true })
      for (const [item, script] of Object.entries(scripts)) writeFileSync(join(folder, `${item}.sh`), script)
      const started = await call('bw-spawn', ['--agent', 'script', '--script', folder], plan(items))
      if (started.status !== 0) throw new Error(`bw-spawn: exit ${started.status}\n${started.stderr}`)
      const built = await call('bw-watch', [], started.stdout)
      return built.stdout
    },
    async close() {
      await reap(await connect({ state: stateId(state) }), { run: run.run, keep: () => false })
      for (const folder of [state, dirname(repo)]) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The one record of a kind, or that of an item. */
export function only<T>(answer: Answer, kind: string, item?: string): T {
  const found = answer.records.filter(
    (record) => record.kind === kind && (item === undefined || record['item'] === item),
  )
  if (found.length !== 1) throw new Error(`${found.length} ${kind} records\n${answer.stderr}\n${answer.stdout}`)
  return found[0] as T
}

/** An item as `bw-plan` plans it, owning these files. */
export function planned(item: string, owns: readonly string[], change: Partial<ItemRecord> = {}): ItemRecord {
  return itemRecord(item, { owns: [...owns], ...change })
}

function readLines(stdout: string): Answer['records'] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
