import type { ItemRecord } from '@buildwave/core'
import { isAlive, type Lease, type RunPaths, readLeases } from '@buildwave/store'
import { attemptsOf, type History, lastOf, ofKind } from './history.ts'
import type { Uncollected } from './on-engine.ts'

/**
 * `running`: stages are at work. `delivered`: the branch is in the user's repository. `finished`: every item has its answer
 * and what was merged has its verdict. `unfinished`: the same command line carries on. `empty`: nothing was begun.
 */
export type RunState = 'running' | 'delivered' | 'finished' | 'unfinished' | 'empty'

export interface RunLook {
  history: History
  /** Null when no engine was asked. */
  uncollected: readonly Uncollected[] | null
  leases: readonly Lease[]
}

/** The leases of a run whose process lives. */
export function liveLeases({ leases }: RunPaths): Lease[] {
  return readLeases(leases).filter(isAlive)
}

export function runState({ history, uncollected, leases }: RunLook): RunState {
  if (leases.length > 0) return 'running'
  if (history.run === null) return 'empty'
  const head = ofKind(history, 'integration').at(-1)?.head
  const delivery = ofKind(history, 'delivery').at(-1)
  if (delivery !== undefined && (head === undefined || head === delivery.oid)) return 'delivered'
  const answered = openItems(history).every((item) => isAnswered(history, item))
  const isJudged = head === undefined || ofKind(history, 'verification').some((verdict) => verdict.head === head)
  const isLeft = uncollected !== null && uncollected.length > 0
  return answered && isJudged && !isLeft && openItems(history).length > 0 ? 'finished' : 'unfinished'
}

/** The items that the plan does not call done. */
export function openItems({ items }: History): ItemRecord[] {
  return items.filter(({ done }) => !done)
}

/** How many of the open items are on the stack. */
export function mergedCount(history: History): number {
  return openItems(history).filter(({ item }) => lastAnswer(history, item)?.outcome === 'applied').length
}

export interface ItemStanding {
  item: string
  title: string
  /** The latest attempt, null before the first. */
  attempt: number | null
  state: string
  /** More about the state, for people; may hold words of a builder. Empty when there is nothing to add. */
  message: string
  /** Why the latest attempts' work is only on the engine; null when none is, or no engine was asked. */
  uncollected: string | null
}

/** Where an item stands, from its latest record. */
export function itemStanding({ history, uncollected }: RunLook, item: ItemRecord): ItemStanding {
  const attempt = attemptsOf(history, item.item).at(-1)
  const left = uncollected?.filter((each) => each.item === item.item) ?? []
  return {
    item: item.item,
    title: item.title,
    attempt: attempt ?? null,
    ...standing(history, item, { attempt, running: left.some(({ running }) => running) }),
    uncollected: left.length === 0 ? null : left.map((each) => `attempt ${each.attempt}: ${each.reason}`).join('; '),
  }
}

function standing(
  history: History,
  { item, done }: ItemRecord,
  { attempt, running }: { attempt: number | undefined; running: boolean },
): Pick<ItemStanding, 'state' | 'message'> {
  if (done) return { state: 'done', message: 'done in the plan' }
  if (running) return { state: 'running', message: '' }
  const about = history.records.findLast(
    ({ kind, ...record }) =>
      ['merge', 'scan', 'patch', 'build', 'builder', 'deferred', 'failure'].includes(kind) &&
      record['item'] === item &&
      (record['attempt'] === attempt || record['attempt'] === undefined),
  )
  const text = (name: string) => String(about?.[name] ?? '')
  switch (about?.kind) {
    case 'merge':
      return { state: text('outcome') === 'applied' ? 'merged' : text('outcome'), message: text('message') }
    case 'scan':
      return { state: text('verdict') === 'clean' ? 'scanned' : text('verdict'), message: '' }
    case 'patch':
      return { state: text('verdict') === 'ok' ? 'collected' : 'blocked', message: listed(about['blockedBy']) }
    case 'build':
      return { state: text('outcome') === 'done' ? 'built' : text('outcome'), message: text('message') }
    case 'builder':
      return { state: 'started', message: '' }
    case 'deferred':
      return { state: 'deferred', message: text('message') }
    case 'failure':
      return { state: 'failed', message: text('message') }
    default:
      return { state: 'waiting', message: '' }
  }
}

function listed(names: unknown): string {
  return Array.isArray(names) ? names.join(', ') : ''
}

function lastAnswer(history: History, item: string) {
  return ofKind(history, 'merge').findLast((merge) => merge.item === item)
}

/** Answers that the next call of the same command line replaces. */
const passing: ReadonlySet<string | null> = new Set(['never-came', 'uncollected', 'unscanned', 'dependency-pending'])

function isAnswered(history: History, { item }: ItemRecord): boolean {
  const answer = lastAnswer(history, item)
  if (answer === undefined || passing.has(answer.reason)) return false
  const attempt = attemptsOf(history, item).at(-1)
  return answer.attempt === attempt || lastOf(history, 'merge', { item, attempt }) !== undefined
}
