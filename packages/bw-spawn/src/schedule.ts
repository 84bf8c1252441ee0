/**
 * What may start now. Pure: states in, decisions out. An item starts when every item it depends on is on the stack and
 * every item it only has to follow (a shared file, a phase) has been answered, whatever the answer.
 */
import type { ItemRecord } from '@buildwave/core'

/**
 * `built`: its builder has ended and bw-merge has not answered yet. `failed`: answered, and not on the stack.
 * `deferred`: given up for this run of the stage.
 */
export type ItemState = 'done' | 'waiting' | 'running' | 'built' | 'merged' | 'failed' | 'deferred'

export interface Deferral {
  item: string
  reason: 'dependency-pending' | 'dependency-failed'
  waitsFor: string[]
  message: string
}

export interface Decision {
  start: string[]
  defer: Deferral[]
}

/** The items to start in the free slots, in plan order, and those that can never start because of a failed dependency. */
export function decide(items: readonly ItemRecord[], states: ReadonlyMap<string, ItemState>, slots: number): Decision {
  const decision: Decision = { start: [], defer: [] }
  const after = new Map(states)
  for (const item of items) {
    if (states.get(item.item) !== 'waiting') continue
    const failed = dependencies(item).filter((name) => isLost(after.get(name)))
    if (failed.length > 0) {
      after.set(item.item, 'deferred')
      decision.defer.push({
        item: item.item,
        reason: 'dependency-failed',
        waitsFor: failed,
        message: chain(item, failed, items, after),
      })
    } else if (decision.start.length < slots && pending(item, after).length === 0) {
      decision.start.push(item.item)
    }
  }
  return decision
}

/** What is said of every item that still waits when nobody is there to merge what it waits for. */
export function deferWaiting(items: readonly ItemRecord[], states: ReadonlyMap<string, ItemState>): Deferral[] {
  return items
    .filter(({ item }) => states.get(item) === 'waiting')
    .map((item) => {
      const waitsFor = pending(item, states)
      return {
        item: item.item,
        reason: 'dependency-pending',
        waitsFor,
        message: `waits for ${waitsFor.join(', ')}, not merged yet`,
      }
    })
}

function dependencies(item: ItemRecord): string[] {
  const named = item.waitsFor.filter(({ reason }) => reason === 'dependency').map((wait) => wait.item)
  return [...new Set([...item.after, ...named])]
}

/** The items that keep this one waiting; items that the records do not hold keep nothing waiting. */
function pending(item: ItemRecord, states: ReadonlyMap<string, ItemState>): string[] {
  const follows = item.waitsFor
    .filter(({ reason }) => reason !== 'dependency' && reason !== 'slots')
    .map((wait) => wait.item)
  const unmet = dependencies(item).filter((name) => isUnmet(states.get(name)))
  const unanswered = follows.filter((name) => isUnanswered(states.get(name)))
  return [...new Set([...unmet, ...unanswered])]
}

function isUnmet(state: ItemState | undefined): boolean {
  return state !== undefined && state !== 'merged' && state !== 'done'
}

function isUnanswered(state: ItemState | undefined): boolean {
  return state === 'waiting' || state === 'running' || state === 'built'
}

function isLost(state: ItemState | undefined): boolean {
  return state === 'failed' || state === 'deferred'
}

/** `needs a, which needs b, which failed`. */
function chain(
  item: ItemRecord,
  failed: string[],
  items: readonly ItemRecord[],
  states: ReadonlyMap<string, ItemState>,
): string {
  const steps: string[] = []
  let next: string | undefined = failed[0]
  while (next !== undefined && !steps.includes(next)) {
    steps.push(next)
    const found: ItemRecord | undefined = items.find((other) => other.item === next)
    next =
      found !== undefined && states.get(next) === 'deferred'
        ? dependencies(found).find((name) => isLost(states.get(name)))
        : undefined
  }
  return `${item.item} needs ${steps.join(', which needs ')}, which is not on the stack`
}
