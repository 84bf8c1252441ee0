import type { BuildOutcome } from '@buildwave/core'
import type { BuildEnd, Ended, Limit, Snapshot } from './events.ts'
import { asText } from './hostile-line.ts'

/** What an agent's own words and exit say. `sure` is true when it reported success itself, after everything else. */
export interface Judgement {
  outcome: BuildOutcome
  message: string
  aboutWork: boolean
  sure: boolean
}

/**
 * The gateway puts this into its answer when a bound on tokens, turns or money is met. Agents repeat the text of an API's
 * error, so the reason of such an end is read from there.
 */
export const budgetMark = 'buildwave-budget'

/**
 * The end of an attempt: what the tools did to it comes before what the agent said, and an agent that reported success
 * after a child of its was killed for memory has seen that kill, so its word stands and the checks decide.
 */
export function endBuild(seen: Snapshot, how: Ended, judged: Judgement): BuildEnd {
  const { turns, tokens, costUsd, resetsAt } = seen
  const base = { turns, tokens, costUsd, resetsAt, limit: null, aboutWork: false }
  const last = judged.message
  if (how.stopped) return { ...base, outcome: 'stopped', message: last || 'it was stopped' }
  if (how.timedOut) return { ...base, outcome: 'timed-out', message: last || 'its time was over', aboutWork: true }
  if (how.stalled) return { ...base, outcome: 'stalled', message: last || 'it gave no sign of life', aboutWork: true }
  const limit: Limit | null = how.limit ?? (how.oomKilled ? 'memory' : null)
  if (limit !== null && !judged.sure) {
    return { ...base, outcome: 'limit', limit, message: `it met its ${limit} limit`, aboutWork: true }
  }
  if (how.killed) return { ...base, outcome: 'killed', message: last || 'it was killed from outside' }
  return { ...base, outcome: judged.outcome, message: last, aboutWork: judged.aboutWork }
}

/** What a signal says: one that asks is a stop, SIGKILL is a kill. Null when the process ended by itself. */
export function judgeSignal(exit: number | null): Judgement | null {
  const signal = exit === null ? 9 : exit - 128
  if (signal === 9) return { outcome: 'killed', message: 'it was killed', aboutWork: false, sure: false }
  if (![1, 2, 15].includes(signal)) return null
  return { outcome: 'stopped', message: `it was stopped by signal ${signal}`, aboutWork: false, sure: false }
}

/** For programs that say nothing of themselves: 0 is done. */
export function judgeExit(seen: Snapshot, how: Ended): Judgement {
  if (how.exit === 0) return { outcome: 'done', message: seen.message, aboutWork: true, sure: false }
  return judgeSignal(how.exit) ?? failed(stderrLine(how) || seen.message || `it ended with status ${how.exit}`)
}

export function failed(message: string): Judgement {
  return { outcome: 'failed', message, aboutWork: true, sure: false }
}

/** The last line of stderr that says anything. */
export function stderrLine(how: Ended): string {
  const lines = (how.stderrTail ?? '').split('\n').map((line) => line.trim())
  return asText(lines.findLast((line) => line !== '') ?? '')
}

/** What a failed call of the model API means, by HTTP status and the words around it; null when it is neither kind. */
export function judgeApiError(status: number | null, words: string): BuildOutcome | null {
  if (words.includes(budgetMark)) return 'budget'
  if (status === 401 || status === 403) return 'auth'
  if (status === 429 || status === 529) return 'rate-limited'
  return null
}
