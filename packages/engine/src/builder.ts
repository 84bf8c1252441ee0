import type { AttemptId } from './attempt.ts'
import type { Limits, Mount } from './confinement.ts'
import type { Engine } from './connect.ts'
import type { StartLayer } from './layer.ts'

export interface BuilderRequest extends AttemptId {
  layer: StartLayer
  image: string
  /** The main process, started in `/work` as the builder's uid. */
  argv: readonly string[]
  /** Added to the image's own environment and HOME, USER; nothing of the host's environment gets in. */
  env: Readonly<Record<string, string>>
  /** `out/` (writable) and the prompt's folder (read-only); nothing else of the host should be here. */
  mounts: readonly Mount[]
  limits: Limits
  /** From the holder's start; then everything in the attempt's namespaces is killed, whoever is alive to notice. */
  ttlSeconds: number
  /** Mounted only in the holder: the gateway's socket folder. */
  holderMounts?: readonly Mount[]
  /** What the holder runs under its time limit instead of sleeping: the relay. */
  holderArgv?: readonly string[]
  labels?: Readonly<Record<string, string>>
}

/** Container ids, and the name of the volume that is the builder's `/work`. */
export interface StartedBuilder {
  holder: string
  builder: string
  work: string
}

/**
 * Starts an attempt's holder and builder. An attempt starts once: UserError `attempt-exists` when its builder was ever
 * started (adopt it through `attemptState`); what a cut-off start left is removed first.
 */
export async function startBuilder(_engine: Engine, _request: BuilderRequest): Promise<StartedBuilder> {
  throw new Error('not written yet')
}
