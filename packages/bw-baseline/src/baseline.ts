import { ensureBaseline, openSuiteOf } from '@buildwave/checks'
import { type BaselineRecord, type ExitStatus, exit } from '@buildwave/core'
import type { Engine } from '@buildwave/engine'
import type { Stage } from '@buildwave/stage'

export interface BaselineDoors {
  engine: () => Promise<Engine>
  /** Told of the baseline, whether made now or found. */
  show: (record: BaselineRecord) => void
}

/** Runs the tests at the base once the whole plan has been read: a plan that broke off starts nothing. */
export async function writeBaseline(stage: Stage, doors: BaselineDoors): Promise<ExitStatus[]> {
  for await (const _record of stage.input());
  const suite = await openSuiteOf(stage, await doors.engine())
  doors.show(await ensureBaseline(suite, stage))
  return [exit.ok]
}
