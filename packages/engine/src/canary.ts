import type { Engine } from './connect.ts'

/** What a container showed, not what the engine's `info` says. */
export interface CanaryResult {
  memory: boolean
  pids: boolean
  cpus: boolean
  readOnlyRoot: boolean
  noNetwork: boolean
  /** True when all of it held. */
  ok: boolean
  /** One line for each that did not hold, for people. */
  problems: string[]
}

/** Proves with one container that limits and walls are real on this engine. */
export async function canary(_engine: Engine): Promise<CanaryResult> {
  throw new Error('not written yet')
}
