/**
 * What an agent's output turns into. An adapter's reader takes the lines of one attempt, gives events as they come, and
 * says at the end how the attempt went. Lines are written by a builder, so they are hostile: a reader never throws, and
 * keeps no more than a bounded part of any text.
 */
import type { BuildOutcome, BuildRecord } from '@buildwave/core'

export type Tokens = BuildRecord['tokens']
export type Limit = NonNullable<BuildRecord['limit']>

export type AgentEvent =
  | { type: 'turn' }
  /** A tool call begins; `detail` is its command, path or pattern on one line. */
  | { type: 'tool'; name: string; detail: string }
  /** Totals of the attempt so far. `costUsd` is null when the agent names no price. */
  | { type: 'usage'; tokens: Tokens; costUsd: number | null }
  | { type: 'message'; text: string }
  /** The agent waits and tries its API again after `delayMs`, where it says so. */
  | { type: 'retry'; reason: string; delayMs?: number }
  /** A usage limit was met; `resetsAt` is ISO 8601 UTC, null when unknown. */
  | { type: 'usage-limit'; resetsAt: string | null }

/** How the process and its container ended, as the engine and the tools saw it. */
export interface Ended {
  /** Null when a signal ended it or nobody knows. */
  exit: number | null
  /** The engine's flag: something in the container was killed for want of memory, not always the agent. */
  oomKilled: boolean
  timedOut: boolean
  /** A person or a tool of ours asked it to stop. */
  stopped: boolean
  /** It was killed from outside and nobody asked for it. */
  killed: boolean
  /** A bound that was met, as found by the engine. */
  limit: Limit | null
  /** The events' file met its bound, so the last events may be missing. */
  streamTruncated: boolean
  /** No event for longer than the watcher waits. */
  stalled?: boolean
  /** The last part of what the program wrote to stderr, for a message when its events have none. */
  stderrTail?: string
}

export interface Snapshot {
  turns: number
  /** Name and detail of the tool called last. */
  lastTool: string | null
  tokens: Tokens
  costUsd: number | null
  /** The agent's last words, at most 2,000 characters. */
  message: string
  /** ISO 8601 UTC, of the usage limit met last. */
  resetsAt: string | null
}

export interface BuildEnd extends Omit<Snapshot, 'lastTool'> {
  outcome: BuildOutcome
  /** Which bound was met, exactly for outcome `limit`. */
  limit: Limit | null
  /** False when the end says nothing about the work (the API failed, a login expired, someone stopped it). */
  aboutWork: boolean
}

export interface StreamReader {
  /** One line without its LF. */
  push(line: string): AgentEvent[]
  snapshot(): Snapshot
  end(how: Ended): BuildEnd
}
