import type { Readable } from 'node:stream'
import type { Limits } from './confinement.ts'
import type { Engine } from './connect.ts'
import type { StartLayer } from './layer.ts'

export interface CheckRequest {
  run: string
  /** The `stage` label. */
  stage: string
  /** What the check is for, in its container's name: an item, a head. */
  name: string
  layer: StartLayer
  /** The commit that is checked out on top of the layer. */
  commit: string
  /** A git bundle of `commit` less what the layer's start reaches; null when they are the same. */
  bundle: ((commit: string, not: readonly string[]) => Promise<Readable>) | null
  image: string
  /** Started in `/work` as the builder's uid. */
  command: readonly string[]
  env: Readonly<Record<string, string>>
  limits: Limits
  ttlSeconds: number
  /** Absolute paths in the container to give back when the command has ended, each up to 64 MiB; missing ones are left out. */
  wants: readonly string[]
  /** Paths below `/work` to remove after the checkout, before the command. */
  removePaths?: readonly string[]
  /** Written as the command runs: stdout and stderr in order of arrival, bounded by `logMiB`. */
  logFile: string
  /** 16 unless said: when reached, the rest is counted and the last line says so. */
  logMiB?: number
  signal?: AbortSignal
}

export interface CheckResult {
  /** The command's exit status; null when it did not end by itself. */
  exit: number | null
  timedOut: boolean
  oomKilled: boolean
  files: Map<string, Buffer>
  /** How long the command itself ran. */
  seconds: number
}

/**
 * Runs a command on a commit in one fresh container: no network, no capability, its own namespaces, the same places and
 * bounds as a builder. Everything is removed afterwards, also when `signal` aborts (then it rejects with its reason).
 * Throws UserError `no-image`, `bad-commit` when the commit cannot be laid out.
 */
export async function runCheck(_engine: Engine, _request: CheckRequest): Promise<CheckResult> {
  throw new Error('not written yet')
}
