import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OwnedThing } from '@buildwave/engine'
import {
  diskSize,
  type Holdings,
  type ItemStanding,
  isExpired,
  itemStanding,
  listRuns,
  liveLeases,
  mergedCount,
  openItems,
  type RunLook,
  readHistory,
  runningBuilders,
  runState,
  spanOf,
  uncollectedOf,
} from '@buildwave/runs'
import { type RunPaths, runPaths } from '@buildwave/store'

/** A run in one line. */
export interface Overview {
  kind: 'overview'
  v: 1
  run: string
  state: string
  /** ISO 8601; null before the first record that has a time. */
  startedAt: string | null
  changedAt: string | null
  /** Bytes on the disk, without what the engine holds. */
  bytes: number
  /** Items on the stack, of those that the plan does not call done. */
  merged: number
  items: number
  /** Stages at work. */
  stages: string[]
  repo: string | null
  /** Attempts whose work is only on the engine; null when none answered. */
  uncollected: { item: string; attempt: number; reason: string }[] | null
  /** Why the run could not be read; null for nearly all. */
  problem: string | null
}

/** An item of a run in one line. */
export interface Standing extends Omit<ItemStanding, 'attempt'> {
  kind: 'standing'
  v: 1
  run: string
  attempt: number | null
}

/** What the engine holds for a run without a folder, or for another state folder. */
export interface Leftover {
  kind: 'leftover'
  v: 1
  /** Null for what is of no run. */
  run: string | null
  /** `this` state folder, or another one (or none) of the same user. */
  folder: 'this' | 'another'
  containers: number
  volumes: number
  running: number
  expired: boolean
}

/** Looks at one run. `holdings` is null when no engine answered. */
export function lookAt(paths: RunPaths, holdings: Holdings | null): RunLook {
  const history = readHistory(paths)
  const things = holdings?.byRun.get(paths.id) ?? []
  return { history, leases: liveLeases(paths), uncollected: holdings === null ? null : uncollectedOf(history, things) }
}

export function overview(paths: RunPaths, holdings: Holdings | null): Overview {
  const about = { kind: 'overview', v: 1, run: paths.id } as const
  const bytes = diskSize(paths.dir)
  try {
    const look = lookAt(paths, holdings)
    return {
      ...about,
      state: runState(look),
      ...spanOf(look.history),
      bytes,
      merged: mergedCount(look.history),
      items: openItems(look.history).length,
      stages: look.leases.map(({ stage }) => stage),
      repo: look.history.run?.repo ?? null,
      uncollected: look.uncollected?.map(({ item, attempt, reason }) => ({ item, attempt, reason })) ?? null,
      problem: null,
    }
  } catch (error) {
    // One run that cannot be read must not hide the others.
    const nothing = { startedAt: null, changedAt: null, bytes, merged: 0, items: 0, stages: [], repo: null }
    return { ...about, state: 'unreadable', ...nothing, uncollected: null, problem: (error as Error).message }
  }
}

export function overviews(state: string, holdings: Holdings | null): Overview[] {
  return listRuns(state).map((run) => overview(runPaths(state, run), holdings))
}

export function standings(paths: RunPaths, holdings: Holdings | null): Standing[] {
  const look = lookAt(paths, holdings)
  return look.history.items.map((item) => {
    const { item: name, ...rest } = itemStanding(look, item)
    return { kind: 'standing', v: 1, run: paths.id, item: name, ...rest }
  })
}

/** What is on the engine without a run folder, one entry a run and state folder. */
export function leftovers(state: string, holdings: Holdings, now: number): Leftover[] {
  const strays = [...holdings.byRun].filter(([run]) => !existsSync(join(state, 'runs', run)))
  const others = Map.groupBy(holdings.elsewhere, ({ run }) => run)
  return [
    ...strays.map(([run, things]) => leftover({ run, folder: 'this' }, things, now)),
    ...[...others].map(([run, things]) => leftover({ run, folder: 'another' }, things, now)),
  ]
}

function leftover(about: Pick<Leftover, 'run' | 'folder'>, things: readonly OwnedThing[], now: number): Leftover {
  const containers = things.filter(({ type }) => type === 'container').length
  return {
    kind: 'leftover',
    v: 1,
    ...about,
    containers,
    volumes: things.length - containers,
    running: runningBuilders(things).length,
    expired: isExpired(things, now),
  }
}
