import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Engine, listOwned, stopAttempt } from '@buildwave/engine'
import { runningBuilders } from '@buildwave/runs'
import type { RunPaths } from '@buildwave/store'

/** An attempt that was stopped. */
export interface Stop {
  kind: 'stop'
  v: 1
  run: string
  item: string
  attempt: number
  /** When its builder had ended, ISO 8601. */
  at: string
}

/**
 * Stops the builders of a run that are at work, of these items only unless null. What they have written so far stays and can
 * be collected. Calls `onStop` as each has ended, and gives them all.
 */
export async function stopBuilders(
  engine: Engine,
  paths: RunPaths,
  { items, onStop }: { items: readonly string[] | null; onStop: (stop: Stop) => Promise<void> },
): Promise<Stop[]> {
  const builders = runningBuilders(await listOwned(engine, { run: paths.id }))
  const wanted = builders.filter(({ item }) => items === null || items.includes(item))
  return Promise.all(
    wanted.map(async ({ item, attempt }) => {
      leaveMark(paths, item, attempt)
      await stopAttempt(engine, { run: paths.id, item, attempt })
      const stop: Stop = { kind: 'stop', v: 1, run: paths.id, item, attempt, at: new Date().toISOString() }
      await onStop(stop)
      return stop
    }),
  )
}

/** The mark tells bw-watch that somebody asked for this end; it stands before the end can be seen. */
function leaveMark(paths: RunPaths, item: string, attempt: number): void {
  const { dir } = paths.attempt(item, attempt)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  writeFileSync(join(dir, 'stopped'), '', { mode: 0o600 })
}
