/** A second pair of eyes: shows a run that another bw-watch follows, from its journal and event files, and writes nothing. */
import { setTimeout as sleep } from 'node:timers/promises'
import { findAgent, type StreamReader } from '@buildwave/agents'
import type { BuilderRecord, BuildRecord } from '@buildwave/core'
import { isAlive, type JournalRecord, openJournal, type RunPaths, readLeases } from '@buildwave/store'
import { type Tail, tailFile } from './tail.ts'
import type { View } from './view.ts'

const pollMs = 250

/** True when another process is following this run's builders. */
export function isFollowed(paths: RunPaths): boolean {
  return readLeases(paths.leases).some((lease) => lease.stage === 'bw-watch' && isAlive(lease))
}

/** Shows the run until no stage is at work on it any more, or the signal is aborted. */
export async function lookOn(paths: RunPaths, view: View, signal: AbortSignal): Promise<void> {
  const journal = openJournal(paths.journal, { create: false })
  const open = new Map<string, { tail: Tail; reader: StreamReader }>()
  let fresh: readonly JournalRecord[] = journal.records()
  try {
    while (!signal.aborted) {
      for (const record of fresh) show(record)
      for (const [item, { tail, reader }] of open) {
        if (tail.read().flatMap((line) => reader.push(line)).length === 0) continue
        const { turns, lastTool, tokens, costUsd } = reader.snapshot()
        view.update(item, { turns, lastTool: lastTool ?? '', tokens: tokens.input + tokens.output, costUsd })
      }
      if (!readLeases(paths.leases).some(isAlive)) return
      await sleep(pollMs, undefined, { signal }).catch(() => undefined)
      fresh = journal.refresh()
    }
  } finally {
    for (const { tail } of open.values()) tail.close()
    journal.close()
  }

  function show(record: JournalRecord): void {
    const item = String(record['item'])
    if (record.kind === 'item') view.update(item, { state: record['done'] === true ? 'already done' : 'waiting' })
    if (record.kind === 'builder') begin(record as unknown as BuilderRecord)
    if (record.kind === 'build') end(record as unknown as BuildRecord)
    if (record.kind === 'merge')
      view.update(item, { state: String(record['outcome']), needsPerson: record['outcome'] === 'conflict' })
    if (record.kind === 'deferred' || record.kind === 'failure')
      view.update(item, { state: record.kind, lastTool: String(record['message']) })
  }

  function begin({ item, attempt, agent }: BuilderRecord): void {
    open.get(item)?.tail.close()
    open.set(item, { tail: tailFile(paths.attempt(item, attempt).stream), reader: findAgent(agent).openStream() })
    view.update(item, { state: 'running', attempt, turns: 0, lastTool: '' })
  }

  function end({ item, outcome, seconds, turns, tokens, costUsd }: BuildRecord): void {
    open.get(item)?.tail.close()
    open.delete(item)
    view.update(item, {
      state: outcome,
      seconds,
      turns,
      tokens: tokens.input + tokens.output,
      costUsd,
      needsPerson: outcome !== 'done',
    })
  }
}
