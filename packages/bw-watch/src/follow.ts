/** One builder, from its start record to its `build` record. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentEvent, type Ended, findAgent, type Snapshot, type StreamReader } from '@buildwave/agents'
import type { BuilderRecord, BuildRecord, RunRecord } from '@buildwave/core'
import { UserError } from '@buildwave/core'
import { type BuilderEnd, type Engine, followBuilder, stopAttempt } from '@buildwave/engine'
import { maskText } from '@buildwave/secrets'
import type { AttemptPaths } from '@buildwave/store'
import { type Tail, tailFile } from './tail.ts'

export interface FollowOptions {
  run: RunRecord
  paths: AttemptPaths
  /** Minutes without an event after which the attempt is stopped. */
  stallMinutes: number
  signal: AbortSignal
  onProgress(snapshot: Snapshot, events: AgentEvent[]): void
}

const pollMs = 200

/** Follows a builder to its end and says how the attempt went. Rejects with the signal's reason when aborted. */
export async function followAttempt(
  engine: Engine,
  builder: BuilderRecord,
  options: FollowOptions,
): Promise<BuildRecord> {
  const reader = findAgent(builder.agent).openStream()
  const tail = tailFile(options.paths.stream)
  const guard = createGuard(engine, builder, options)
  const ending = followBuilder(engine, builder.container, options.signal).then(
    (end) => ({ end }),
    (error: unknown) => ({ error }),
  )
  try {
    while (true) {
      const lines = tail.read()
      const events = lines.flatMap((line) => reader.push(line))
      if (events.length > 0) options.onProgress(reader.snapshot(), events)
      await guard.look(lines.length > 0)
      const ended = await Promise.race([ending, sleep(pollMs).then(() => undefined)])
      if (ended === undefined) continue
      if ('error' in ended && !isGone(ended.error)) throw ended.error
      return finish(builder, { reader, tail, options, guard }, 'end' in ended ? ended.end : undefined)
    }
  } finally {
    tail.close()
  }
}

/** Stops an attempt that writes more than its share to the host, or says nothing for too long. */
function createGuard(engine: Engine, builder: BuilderRecord, { run, paths, stallMinutes }: FollowOptions) {
  let lastEvent = Date.now()
  let lastLook = 0
  let stopped: 'disk' | 'stalled' | undefined
  return {
    stoppedFor: () => stopped,
    async look(hasNews: boolean): Promise<void> {
      const now = Date.now()
      if (hasNews) lastEvent = now
      if (stopped !== undefined || now - lastLook < 1000) return
      lastLook = now
      if (folderBytes(paths.out) > run.limits.outMiB * 1024 * 1024) stopped = 'disk'
      else if (now - lastEvent > stallMinutes * 60_000) stopped = 'stalled'
      else return
      await stopAttempt(engine, { run: builder.run, item: builder.item, attempt: builder.attempt })
    },
  }
}

interface Finishing {
  reader: StreamReader
  tail: Tail
  options: FollowOptions
  guard: { stoppedFor(): 'disk' | 'stalled' | undefined }
}

function finish(
  builder: BuilderRecord,
  { reader, tail, options, guard }: Finishing,
  end: BuilderEnd | undefined,
): BuildRecord {
  for (let lines = tail.read(); lines.length > 0; lines = tail.read()) for (const line of lines) reader.push(line)
  for (const line of tail.rest()) reader.push(line)
  const build = reader.end(describeEnd({ end, reader, tail, options, guard }))
  return {
    kind: 'build',
    v: 1,
    run: builder.run,
    item: builder.item,
    attempt: builder.attempt,
    key: builder.key,
    at: new Date().toISOString(),
    outcome: build.outcome,
    limit: build.limit,
    exit: end?.exit ?? null,
    aboutWork: build.aboutWork,
    seconds: end === undefined ? 0 : Math.max(0, (Date.parse(end.finishedAt) - Date.parse(end.startedAt)) / 1000),
    turns: build.turns,
    tokens: build.tokens,
    costUsd: build.costUsd,
    resetsAt: build.resetsAt,
    message: maskText(build.message),
  }
}

function describeEnd({ end, tail, options, guard }: Finishing & { end: BuilderEnd | undefined }): Ended {
  const { run, paths } = options
  const isStopped = marked(paths)
  const by = guard.stoppedFor()
  return {
    exit: end?.exit ?? null,
    oomKilled: end?.oomKilled ?? false,
    timedOut: end?.timedOut ?? false,
    stopped: isStopped,
    killed:
      by === undefined &&
      !isStopped &&
      (end === undefined || (end.exit === 137 && !end.oomKilled && !end.timedOut && !end.diskFull)),
    limit: by === 'disk' || end?.diskFull === true ? 'disk' : null,
    streamTruncated: tail.size() >= (run.limits.outMiB * 1024 * 1024) / 4,
    stalled: by === 'stalled',
    stderrTail: lastBytes(paths.stderr, 2000),
  }
}

/** True when a person or a tool of ours asked for the end: whoever stops an attempt leaves this mark first. */
function marked(paths: AttemptPaths): boolean {
  return lstatSync(join(paths.dir, 'stopped'), { throwIfNoEntry: false }) !== undefined
}

function isGone(error: unknown): boolean {
  return error instanceof UserError && error.code === 'attempt-gone'
}

/** Bytes of all files below a folder that a builder writes; links are counted, never followed. */
function folderBytes(folder: string): number {
  let sum = 0
  const open = [folder]
  for (let seen = 0; seen < 10_000; seen++) {
    const next = open.pop()
    if (next === undefined) break
    for (const entry of list(next)) {
      const path = join(next, entry.name)
      if (entry.isDirectory()) open.push(path)
      else sum += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
    }
  }
  return sum
}

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function lastBytes(path: string, count: number): string {
  try {
    return lstatSync(path).isFile() ? readFileSync(path).subarray(-count).toString('utf8') : ''
  } catch {
    return ''
  }
}
