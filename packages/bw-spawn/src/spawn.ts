/**
 * The scheduler of a run. It keeps a table of item states, starts what may start, follows what runs, and learns from the
 * journal what bw-merge answered. It ends when nothing runs and nothing can start any more.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, AgentSettings, Located } from '@buildwave/agents'
import {
  type BuilderRecord,
  type ExitStatus,
  exit,
  type ItemRecord,
  type MergeRecord,
  UserError,
} from '@buildwave/core'
import { attemptState, type Engine, followBuilder, stopAttempt } from '@buildwave/engine'
import type { Store } from '@buildwave/git'
import { Interrupted, type Stage } from '@buildwave/stage'
import { isAlive, readLeases, workKey } from '@buildwave/store'
import { builderRecord, startAttempt } from './attempt.ts'
import { attemptsOf, isReusable, nextAttempt, type PastAttempt, unrecordedStart } from './history.ts'
import { type Deferral, decide, deferWaiting, type ItemState } from './schedule.ts'
import type { WayOut } from './way-out.ts'

export interface SpawnSettings {
  agent: Agent
  located: Located
  settings: AgentSettings
  imageDigest: string
  slots: number
  attempts: number
  /** Null for agents that need no model API. */
  wayOut: WayOut | null
}

export interface SpawnDoors {
  engine: Engine
  store: Store
}

/** The stages that together turn an ended builder into a `merge` record. */
const answering = ['bw-watch', 'bw-collect', 'bw-scan', 'bw-merge']

/** How long the stages of a pipeline may take to appear. */
const graceMs = 5000
const pollMs = 100

export async function spawnItems(stage: Stage, spawn: SpawnSettings, doors: SpawnDoors): Promise<ExitStatus[]> {
  const items = stage.items()
  const states = new Map<string, ItemState>()
  const attempts = new Map<string, number>()
  const following = new Map<string, Promise<void>>()
  const statuses: ExitStatus[] = []
  const answers = answersOf(stage)

  for (const item of items) states.set(item.item, await recall(item))
  let idleSince: number | undefined
  while (true) {
    stage.interrupt.stopping.throwIfAborted()
    takeAnswers()
    const running = [...states.values()].filter((state) => state === 'running').length
    const held = has('waiting') && (await spawn.wayOut?.isHeld()) === true
    const decision = decide(items, states, held ? 0 : spawn.slots - running)
    for (const deferral of decision.defer) await defer(deferral)
    for (const name of decision.start) await start(itemNamed(name))
    if (decision.start.length > 0 || decision.defer.length > 0) continue
    if (running === 0 && !has('waiting')) break
    idleSince = running === 0 && !held ? (idleSince ?? Date.now()) : undefined
    if (idleSince !== undefined && !mayBeAnswered(idleSince)) {
      for (const deferral of deferWaiting(items, states)) await defer(deferral)
      break
    }
    await Promise.race([sleep(pollMs), ...following.values()])
  }
  return statuses

  /** The state of an item as earlier runs left it; what runs is adopted, what is finished is passed on. */
  async function recall(item: ItemRecord): Promise<ItemState> {
    if (item.done) return 'done'
    const key = await keyOf(item)
    if (await adoptUnrecorded(item, key)) return 'running'
    const past = attemptsOf(stage.journal, item.item, key)
    const latest = past.at(-1)
    if (latest === undefined || stage.again) return 'waiting'
    if (latest.build === undefined) return adopt(item, latest)
    if (isReusable(latest)) return passOn(latest)
    if (past.length < spawn.attempts) return 'waiting'
    await passOn(latest)
    await defer({
      item: item.item,
      reason: 'attempts-used',
      waitsFor: [],
      message: `${past.length} attempts ended without a result (last: ${latest.build.outcome}); --attempts ${past.length + 1} allows another`,
    })
    return 'deferred'
  }

  async function passOn(past: PastAttempt): Promise<ItemState> {
    attempts.set(past.builder.item, past.builder.attempt)
    await stage.passOn({ ...past.builder })
    if (past.merge === undefined) return 'built'
    return past.merge.outcome === 'applied' ? 'merged' : 'failed'
  }

  async function adopt(item: ItemRecord, { builder }: PastAttempt): Promise<ItemState> {
    const found = await attemptState(doors.engine, { run: stage.run.run, item: item.item, attempt: builder.attempt })
    if (found.state === 'absent') return 'waiting'
    await stage.passOn({ ...builder })
    follow(builder)
    return 'running'
  }

  /** A builder that runs without a record, since bw-spawn died right after starting it, gets its record now. */
  async function adoptUnrecorded(item: ItemRecord, key: string): Promise<boolean> {
    const lost = unrecordedStart(stage.journal, item.item, key)
    if (lost === undefined) return false
    const found = await attemptState(doors.engine, { run: stage.run.run, item: item.item, attempt: lost.attempt })
    if (found.state === 'absent') return false
    const builder = builderRecord(
      { ...spawn, run: stage.run, item, key, ...lost },
      found,
      stage.paths.attempt(item.item, lost.attempt),
    )
    await stage.emit(builder)
    follow(builder)
    return true
  }

  async function start(item: ItemRecord): Promise<void> {
    const attempt = nextAttempt(stage.journal, item.item)
    const key = await keyOf(item)
    const head = answers.head()
    stage.intend('start-builder', { item: item.item, attempt, key, start: head })
    try {
      const request = { ...spawn, run: stage.run, item, attempt, key, start: head }
      const builder = await startAttempt(request, { ...doors, paths: stage.paths.attempt(item.item, attempt) })
      await stage.emit(builder)
      states.set(item.item, 'running')
      follow(builder)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      states.set(item.item, 'failed')
      statuses.push(exit.problem)
      await stage.emit({
        kind: 'failure',
        v: 1,
        run: stage.run.run,
        item: item.item,
        attempt,
        at: new Date().toISOString(),
        stage: stage.name,
        code: error.code,
        message: error.message,
        hint: error.hint ?? null,
      })
    }
  }

  function follow(builder: BuilderRecord): void {
    attempts.set(builder.item, builder.attempt)
    const ended = followBuilder(doors.engine, builder.container, stage.interrupt.stopping).then(
      () => settle(builder.item),
      (error: unknown) => {
        if (!(error instanceof Interrupted)) settle(builder.item)
      },
    )
    following.set(builder.item, ended)
  }

  function settle(item: string): void {
    following.delete(item)
    if (states.get(item) === 'running') states.set(item, 'built')
  }

  async function defer({
    item,
    reason,
    waitsFor,
    message,
  }: Omit<Deferral, 'reason'> & { reason: string }): Promise<void> {
    states.set(item, 'deferred')
    if (reason !== 'dependency-pending') statuses.push(exit.problem)
    await stage.emit({
      kind: 'deferred',
      v: 1,
      run: stage.run.run,
      item,
      at: new Date().toISOString(),
      waitsFor,
      reason,
      message,
    })
  }

  function takeAnswers(): void {
    for (const merge of answers.fresh()) {
      const state = states.get(merge.item)
      if (merge.attempt !== attempts.get(merge.item) || (state !== 'running' && state !== 'built')) continue
      states.set(merge.item, merge.outcome === 'applied' ? 'merged' : 'failed')
    }
  }

  /** True while something that is built can still be answered by the live stages after this one. */
  function mayBeAnswered(since: number): boolean {
    if (!has('built')) return false
    if (Date.now() - since < graceMs) return true
    const live = new Set(
      readLeases(stage.paths.leases)
        .filter(isAlive)
        .map((lease) => lease.stage),
    )
    return answering.every((name) => live.has(name))
  }

  function keyOf(item: ItemRecord): Promise<string> {
    return itemKey(item, spawn)
  }

  function has(wanted: ItemState): boolean {
    return [...states.values()].includes(wanted)
  }

  function itemNamed(name: string): ItemRecord {
    const found = items.find(({ item }) => item === name)
    if (found === undefined) throw new Error(`no item ${name}`)
    return found
  }
}

/** The digest of what decides an item's result: its record, the agent and its settings, the image. */
async function itemKey(item: ItemRecord, { agent, settings, imageDigest }: SpawnSettings): Promise<string> {
  const { wave: _, waitsFor: __, line: ___, ...work } = item
  return workKey(work, agent.name, await agent.resultKey({ settings, item: item.item, attempt: 1 }), imageDigest)
}

/** The merges that the journal gained since the last look, and the head of the stack after all of them. */
function answersOf(stage: Stage): { fresh(): MergeRecord[]; head(): string } {
  let seen = 0
  let head = stage.run.base
  return {
    head: () => head,
    fresh() {
      stage.journal.refresh()
      const merges = stage.journal
        .records()
        .slice(seen)
        .filter(({ kind }) => kind === 'merge') as unknown as MergeRecord[]
      seen = stage.journal.records().length
      head = merges.at(-1)?.head ?? head
      return merges
    },
  }
}

/** Stops every builder of the run that still runs: the second Ctrl-C. */
export async function stopRunning(stage: Stage, engine: Engine): Promise<number> {
  const started = stage.journal.records().filter(({ kind }) => kind === 'builder') as unknown as BuilderRecord[]
  let stopped = 0
  for (const { run, item, attempt } of started) {
    const found = await attemptState(engine, { run, item, attempt })
    if (found.state !== 'running') continue
    // The mark tells bw-watch that somebody asked for this end.
    writeFileSync(join(stage.paths.attempt(item, attempt).dir, 'stopped'), '')
    await stopAttempt(engine, { run, item, attempt })
    stopped++
  }
  return stopped
}
