import type { Engine } from './connect.ts'

export interface AttemptId {
  run: string
  item: string
  attempt: number
}

export interface BuilderEnd {
  /** The main process's exit status; 137 when it was killed. */
  exit: number
  /** True when the kernel killed anything of the builder for memory, even if the main process ended with 0. */
  oomKilled: boolean
  /** True when the attempt's TTL ended it. */
  timedOut: boolean
  /** ISO 8601, the engine's clock. */
  startedAt: string
  finishedAt: string
}

/** What the engine has of an attempt. `absent`: nothing, or a start that was cut off before the builder ran. */
export type AttemptState =
  | { state: 'absent' }
  | { state: 'running' | 'ended'; holder: string; builder: string; work: string; image: string; expires: string }

/**
 * Waits until a builder ends, kills whatever it left in its namespaces, and tells how it ended. `builder` is a container
 * id. May be called at any time after the start, by several at once, and again after the end. Rejects with the signal's reason when aborted
 * (the builder goes on); UserError `attempt-gone` when the container does not exist.
 */
export async function followBuilder(_engine: Engine, _builder: string, _signal?: AbortSignal): Promise<BuilderEnd> {
  throw new Error('not written yet')
}

/** Kills the builder, everything left in its namespaces, and the holder. Its work stays. No error when already ended. */
export async function stopAttempt(_engine: Engine, _id: AttemptId): Promise<void> {
  throw new Error('not written yet')
}

/** What the engine has of an attempt, for adopting it after a restart. */
export async function attemptState(_engine: Engine, _id: AttemptId): Promise<AttemptState> {
  throw new Error('not written yet')
}

/** Removes an attempt's containers and volumes, its uncollected work included. No error when there are none. */
export async function removeAttempt(_engine: Engine, _id: AttemptId): Promise<void> {
  throw new Error('not written yet')
}
