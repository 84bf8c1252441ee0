/**
 * Back-off shared by all builders of a run. One answer that says "too much" parks every request, since they all spend from
 * the same account: nobody learns it the hard way a second time, and no attempt is burned by a wait that we can do for it.
 * Times are milliseconds since the epoch, handed in.
 */
import type { IncomingHttpHeaders } from 'node:http'

export type ParkReason = 'rate-limit' | 'overloaded' | 'usage-limit'

export interface Pressure {
  /** When the trouble began, null when there is none. */
  since: number | null
  until: number
  /** Bad answers in a row. */
  strikes: number
  reason: ParkReason | null
}

export const noPressure: Pressure = { since: null, until: 0, strikes: 0, reason: null }

const firstWait = 1000
const longestGuess = 60_000

/** True for an answer that is about load or limits, and not about the request. */
export function isPressure(status: number): boolean {
  return status === 429 || status === 529
}

/** After an answer for which `isPressure` holds. */
export function park(past: Pressure, answer: { status: number; headers: IncomingHttpHeaders }, now: number): Pressure {
  // Nobody asked for a while, so the old trouble may long be over: this is a new one.
  const before = now - past.until > longestGuess ? noPressure : past
  const strikes = before.strikes + 1
  const reset = usageReset(answer.headers)
  const guess = Math.min(firstWait * 2 ** before.strikes, longestGuess)
  const until = reset ?? now + (retryAfter(answer.headers, now) ?? guess)
  const reason = reset !== null ? 'usage-limit' : answer.status === 529 ? 'overloaded' : 'rate-limit'
  return { since: before.since ?? now, until: Math.max(before.until, until), strikes, reason }
}

/** After a good answer to a request sent at `sentAt`. One that was under way when the trouble began proves nothing. */
export function relieve(before: Pressure, sentAt: number): Pressure {
  return before.since === null || sentAt <= before.since || sentAt < before.until ? before : noPressure
}

/** What a request does now: it goes, waits so many milliseconds, is to be asked again, or waits for nothing. */
export type Step = number | 'go' | 'again' | 'hopeless'

/**
 * `hopeless` when the trouble would outlast `patience` counted from its beginning, `again` when the request was held until
 * `heldUntil`: its client would give up on a longer silence. `random` in [0, 1) spreads those that wait for the same moment.
 */
export function nextStep(
  pressure: Pressure,
  { now, heldUntil, patience, random }: { now: number; heldUntil: number; patience: number; random: number },
): Step {
  if (pressure.since === null || pressure.until <= now) return 'go'
  if (pressure.until > pressure.since + patience) return 'hopeless'
  if (heldUntil <= now) return 'again'
  const wait = pressure.until - now
  return Math.ceil(Math.min(wait + random * Math.min(5000, wait / 4), heldUntil - now))
}

/** When a used-up subscription opens again, from the headers that Claude Code reads too. */
function usageReset(headers: IncomingHttpHeaders): number | null {
  if (headers['anthropic-ratelimit-unified-status'] !== 'rejected') return null
  const seconds = Number(headers['anthropic-ratelimit-unified-reset'])
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null
}

function retryAfter(headers: IncomingHttpHeaders, now: number): number | null {
  const text = headers['retry-after']
  if (text === undefined || text === '') return null
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(wait) ? Math.max(wait, 0) : null
}
