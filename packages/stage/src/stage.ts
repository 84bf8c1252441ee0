/**
 * The life of one stage: find the run, hold a lease, pass every record on, journal what it adds, watch the others, and
 * say `end`. A stage's own file holds only what it does with the records.
 */
import { mkdirSync } from 'node:fs'
import {
  type EndRecord,
  type ExitStatus,
  exit,
  type ItemRecord,
  isKnownKind,
  type RunRecord,
  UserError,
  worstExit,
} from '@buildwave/core'
import {
  type AnyRecord,
  type Call,
  type Flags,
  type Io,
  type RecordLine,
  type RecordWriter,
  recordWriter,
} from '@buildwave/stdio'
import {
  acquireLease,
  forgetDeadLeases,
  type HeldLease,
  type Journal,
  openJournal,
  protectedPrefixes,
  type RunPaths,
  readUserConfig,
  refuseProtected,
  runPaths,
  stateDir,
  stateId,
  watchLeases,
} from '@buildwave/store'
import { createInterrupt, type Interrupt, Interrupted, interruptStatus } from './interrupt.ts'
import { checkShape, readRun, resultIdentity, upstreamBroke } from './shapes.ts'
import { fromJournal, fromStdin, refuseNoInput } from './source.ts'
import { refuseInside } from './state-place.ts'
import { recordAsText } from './text.ts'

/** Flags that every stage takes. */
export const stageFlags = {
  run: { type: 'string', value: 'RUN', help: 'take the records of this run from its journal instead of stdin' },
  again: { type: 'boolean', help: 'do the work again even when the journal holds its result' },
  json: { type: 'boolean', help: 'write records even when stdout is a terminal' },
} as const satisfies Flags

export interface StageCall {
  tool: string
  io: Io
  say: Call<Flags>['say']
  flags: { run: string | undefined; again: boolean; json: boolean }
}

export interface StageOptions {
  /** With `--run`: the stage whose last `end` in the journal must be complete before this one acts. */
  after?: string
  /** A second Ctrl-C ends the process at once, unless the stage has something to do about it. */
  handlesSecondInterrupt?: boolean
}

export interface Stage {
  readonly name: string
  readonly run: RunRecord
  readonly paths: RunPaths
  /** The id of the state folder, for the engine. */
  readonly state: string
  readonly journal: Journal
  readonly interrupt: Interrupt
  readonly again: boolean
  /** Every record after `run`, each already passed on. Throws Interrupted, or UserError when upstream broke off. */
  input(): AsyncGenerator<AnyRecord>
  /** Items read so far, in plan order. */
  items(): ItemRecord[]
  /** Journals a record of ours and writes it. */
  emit(record: AnyRecord): Promise<void>
  /** Writes a result that the journal holds already, unless it has gone out in this stream before. */
  passOn(record: AnyRecord): Promise<void>
  /** Only the journal: what will be done next and cannot be repeated. */
  intend(action: string, detail: Record<string, unknown>): void
  /** The journal's last record of that kind with this key, unless `--again`. */
  findByKey(kind: string, key: string): AnyRecord | undefined
}

type Verb = (stage: Stage) => Promise<Iterable<ExitStatus>>

/**
 * Runs a stage: opens the run when its `run` record arrives, calls `verb`, writes `end`. Gives the exit status: the worst
 * of what `verb` returned, or that of the interrupt.
 */
export async function runStage(call: StageCall, options: StageOptions, verb: Verb): Promise<ExitStatus> {
  const { io, flags } = call
  const interrupt = createInterrupt()
  const stopListening = io.onSignal((signal) => {
    const isSecond = signal === 'SIGINT' && interrupt.cause() !== undefined
    if (isSecond && options.handlesSecondInterrupt !== true) process.exit(exit.interrupted)
    interrupt.raise(signal)
  })
  const isText = io.stdout.isTTY === true && !flags.json
  const writer = recordWriter(io.stdout, isText ? recordAsText : undefined)
  writer.onGone(() => interrupt.raise('EPIPE'))
  let opened: OpenedStage | undefined
  try {
    opened = await openStage(call, options, { interrupt, writer })
    const statuses = [...(await verb(opened.stage))]
    opened.refuseDead()
    const cause = interrupt.cause()
    if (cause !== undefined && cause !== 'EPIPE') throw new Interrupted(cause)
    await opened.end(true)
    return worstExit(statuses)
  } catch (error) {
    return await stopEarly(call, opened, interrupt, error)
  } finally {
    stopListening()
    interrupt.clear()
    opened?.close()
    io.stdin.destroy()
  }
}

async function stopEarly(
  call: StageCall,
  opened: OpenedStage | undefined,
  interrupt: Interrupt,
  error: unknown,
): Promise<ExitStatus> {
  const cause = interrupt.cause()
  await opened?.end(false)
  if (cause !== undefined && (error instanceof Interrupted || interrupt.stopping.aborted)) {
    if (cause === 'stage-died')
      call.say.error(
        `${opened?.deadStage() ?? 'another stage'} of this run died or gave up`,
        'run the same command line again: it carries on',
      )
    return interruptStatus(cause)
  }
  if (!(error instanceof UserError)) throw error
  call.say.error(error.message, error.hint)
  return error.status
}

interface OpenedStage {
  stage: Stage
  end(complete: boolean): Promise<void>
  close(): void
  refuseDead(): void
  deadStage(): string | undefined
}

async function openStage(
  call: StageCall,
  options: StageOptions,
  { interrupt, writer }: { interrupt: Interrupt; writer: RecordWriter },
): Promise<OpenedStage> {
  const { io, flags, tool } = call
  const state = stateDir(io.env)
  const prefixes = protectedPrefixes(readUserConfig(io.env).protectedPaths ?? [], io.env)
  // Before anything looks at the paths: whoever protects them wants not even that.
  const guarded = { cwd: io.cwd, prefixes }
  refuseProtected(state, 'state folder', guarded)
  const replay = flags.run === undefined ? undefined : replayOf(runPaths(state, flags.run), options)
  if (replay === undefined) refuseNoInput(io)
  const lines = replay === undefined ? fromStdin(io, interrupt.stopping) : fromArray(replay)
  const first = await lines.next()
  if (first.done === true) {
    throw new UserError('no-input', 'no records on stdin', {
      hint: 'pipe bw-plan into it, or name a run with --run RUN',
    })
  }
  const run = readRun(first.value)
  refuseProtected(run.repo, 'repository', guarded)
  refuseInside(state, run.repo)
  const paths = runPaths(state, run.run)
  mkdirSync(paths.dir, { recursive: true, mode: 0o700 })
  forgetDeadLeases(paths.leases, io.startedAt)
  const lease = acquireLease(paths.leases, tool)
  const journal = openJournal(paths.journal, { create: true })
  const watch = watchLeases(paths.leases, io.startedAt)
  let dead: string | undefined
  let seen = journal.records().length
  const check = () => {
    // A stage that gave up and said so is as gone as one that was killed: nothing may start for it any more.
    journal.refresh()
    const gaveUp = journal
      .records()
      .slice(seen)
      .find(({ kind, complete }) => kind === 'end' && complete === false)
    seen = journal.records().length
    const found = watch.firstDead()?.stage ?? gaveUp?.['stage']
    if (found === undefined || dead !== undefined || interrupt.cause() !== undefined) return
    dead = String(found)
    interrupt.raise('stage-died')
  }
  const timer = setInterval(check, 1000)
  const close = () => {
    clearInterval(timer)
    lease.release()
    journal.close()
  }
  const core = stageCore({ call, run, paths, journal, interrupt, writer, lines, replayed: replay !== undefined })
  try {
    await core.open(first.value)
  } catch (error) {
    close()
    throw error
  }
  return {
    stage: core.stage,
    end: (complete) => core.end(complete, lease),
    deadStage: () => dead,
    refuseDead() {
      check()
      if (dead !== undefined) throw new Interrupted('stage-died')
    },
    close,
  }
}

interface CoreInput {
  call: StageCall
  run: RunRecord
  paths: RunPaths
  journal: Journal
  interrupt: Interrupt
  writer: RecordWriter
  lines: AsyncGenerator<RecordLine>
  replayed: boolean
}

function stageCore({ call, run, paths, journal, interrupt, writer, lines, replayed }: CoreInput) {
  const items = new Map<string, ItemRecord>()
  const passed = new Set<string>()
  const counts: Record<string, number> = {}
  let upstreamEnd: EndRecord | undefined
  let ended = false

  async function take({ line, record, number }: RecordLine): Promise<void> {
    const known = isKnownKind(record.kind) ? checkShape(record, number) : record
    if (record.kind !== 'end' && record['run'] !== run.run) {
      throw new UserError('two-runs', `line ${number}: belongs to run '${String(record['run'])}', not '${run.run}'`)
    }
    if (record.kind === 'item') items.set((known as ItemRecord).item, known as ItemRecord)
    if (record.kind === 'end') upstreamEnd = known as EndRecord
    if (record.kind === 'run' || record.kind === 'item') journalOnce(record)
    remember(record)
    await writer.pass(line, record)
  }

  /** False when this very result has gone out before, read, made or passed on. */
  function remember(record: AnyRecord): boolean {
    const identity = resultIdentity(record)
    if (identity === undefined) return true
    const isNew = !passed.has(identity)
    passed.add(identity)
    return isNew
  }

  /** The first stage that sees a run or an item as it now reads writes it down, so that edits in between count. */
  function journalOnce(record: AnyRecord): void {
    journal.refresh()
    const same = journal.records().findLast(({ kind, item }) => kind === record.kind && item === record['item'])
    if (same === undefined || JSON.stringify(same) !== JSON.stringify(record)) journal.append(record)
  }

  const stage: Stage = {
    name: call.tool,
    run,
    paths,
    state: stateId(stateDir(call.io.env)),
    journal,
    interrupt,
    again: call.flags.again,
    items: () => [...items.values()],
    async *input() {
      for await (const line of lines) {
        await take(line)
        if (line.record.kind !== 'end') yield line.record
        if (interrupt.stopping.aborted) throw interrupt.stopping.reason
      }
      if (!replayed && upstreamEnd?.complete !== true) throw upstreamBroke(upstreamEnd)
    },
    async emit(record) {
      journal.append(record)
      remember(record)
      counts[record.kind] = (counts[record.kind] ?? 0) + 1
      await writer.write(record)
    },
    async passOn(record) {
      if (remember(record)) await writer.write(record)
    },
    intend: (action, detail) =>
      journal.append({ kind: 'intent', v: 1, run: run.run, stage: call.tool, action, ...detail }),
    findByKey(kind, key) {
      if (call.flags.again) return undefined
      journal.refresh()
      return journal.records().findLast((record) => record.kind === kind && record['key'] === key)
    },
  }
  return {
    stage,
    open: take,
    async end(complete: boolean, lease: HeldLease): Promise<void> {
      if (ended) return
      ended = true
      const record: EndRecord = {
        kind: 'end',
        v: 1,
        run: run.run,
        at: new Date().toISOString(),
        stage: call.tool,
        complete,
        counts,
      }
      journal.append(record)
      await writer.write(record)
      await writer.drained()
      lease.release()
    },
  }
}

function replayOf(paths: RunPaths, { after }: StageOptions): RecordLine[] {
  let journal: Journal
  try {
    journal = openJournal(paths.journal, { create: false })
  } catch (cause) {
    throw new UserError('no-such-run', `no run '${paths.id}'`, {
      cause,
      hint: `runs are kept under '${paths.dir.slice(0, -paths.id.length - 1)}'`,
    })
  }
  const end = journal.records().findLast(({ kind, stage }) => kind === 'end' && stage === after)
  if (after !== undefined && end?.['complete'] !== true) {
    throw new UserError('stage-missing', `${after} has not finished on run '${paths.id}'`, {
      hint: `run ${after} --run ${paths.id} first`,
    })
  }
  const lines = fromJournal(journal)
  journal.close()
  return lines
}

async function* fromArray(lines: RecordLine[]): AsyncGenerator<RecordLine> {
  yield* lines
}
