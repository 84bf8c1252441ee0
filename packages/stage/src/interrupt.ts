/**
 * Why a stage stops before its input ends, and how fast. SIGINT and a vanished reader let it finish what is in hand (at
 * most five seconds, since every stage must have ended ten seconds after one died); SIGTERM, a dead stage and a second
 * SIGINT do not.
 */
import { type ExitStatus, exit } from '@buildwave/core'

export type Cause = 'SIGINT' | 'SIGTERM' | 'EPIPE' | 'stage-died'

/** Thrown where work is given up because the stage was interrupted. */
export class Interrupted extends Error {
  override readonly cause: Cause
  constructor(cause: Cause) {
    super(`interrupted: ${cause}`)
    this.name = 'Interrupted'
    this.cause = cause
  }
}

const grace = 5000

export interface Interrupt {
  /** Aborts when no new work may begin: the input ends here. */
  readonly stopping: AbortSignal
  /** Aborts when work in hand must be given up too. */
  readonly now: AbortSignal
  raise(cause: Cause): void
  cause(): Cause | undefined
  /** Lets the process end: drops the grace timer. */
  clear(): void
}

export function createInterrupt(): Interrupt {
  const stopping = new AbortController()
  const now = new AbortController()
  let first: Cause | undefined
  let timer: NodeJS.Timeout | undefined
  return {
    stopping: stopping.signal,
    now: now.signal,
    cause: () => first,
    clear: () => clearTimeout(timer),
    raise(cause) {
      const isSecond = first !== undefined
      first ??= cause
      stopping.abort(new Interrupted(first))
      if (isSecond || cause === 'SIGTERM' || cause === 'stage-died') now.abort(new Interrupted(first))
      else timer = setTimeout(() => now.abort(new Interrupted(cause)), grace)
    },
  }
}

/** What a stage exits with after an interrupt. */
export function interruptStatus(cause: Cause): ExitStatus {
  if (cause === 'SIGINT') return exit.interrupted
  return cause === 'SIGTERM' ? exit.terminated : exit.failed
}
