import type { ItemRecord } from '@buildwave/core'
import { describe, expect, test } from 'vitest'
import { decide, deferWaiting, type ItemState } from './schedule.ts'

function item(name: string, { after = [], follows = [] }: { after?: string[]; follows?: string[] } = {}): ItemRecord {
  return {
    kind: 'item',
    v: 1,
    run: 'r',
    item: name,
    id: name,
    title: name,
    text: '',
    type: 'feature',
    owns: [],
    ownsFrom: 'declared',
    after,
    wave: 1,
    waitsFor: follows.map((other) => ({ item: other, reason: 'file' as const })),
    priority: null,
    done: false,
    line: 1,
  }
}
const states = (entries: Record<string, ItemState>) => new Map(Object.entries(entries))

describe('what may start', () => {
  const plan = [item('a'), item('b'), item('c', { after: ['a'] }), item('d', { follows: ['b'] })]

  test('items start in plan order, as many as there are slots', () => {
    expect(decide(plan, states({ a: 'waiting', b: 'waiting', c: 'waiting', d: 'waiting' }), 1).start).toEqual(['a'])
    expect(decide(plan, states({ a: 'waiting', b: 'waiting', c: 'waiting', d: 'waiting' }), 9).start).toEqual([
      'a',
      'b',
    ])
  })

  test('a dependency must be on the stack, not merely built', () => {
    expect(decide(plan, states({ a: 'built', b: 'merged', c: 'waiting', d: 'merged' }), 9).start).toEqual([])
    expect(decide(plan, states({ a: 'merged', b: 'merged', c: 'waiting', d: 'merged' }), 9).start).toEqual(['c'])
    expect(decide(plan, states({ a: 'done', b: 'merged', c: 'waiting', d: 'merged' }), 9).start).toEqual(['c'])
  })

  test('an item that only waited for a file goes on when the other one failed', () => {
    expect(decide(plan, states({ a: 'running', b: 'failed', c: 'waiting', d: 'waiting' }), 9)).toEqual({
      start: ['d'],
      defer: [],
    })
  })

  test('what needs a failed item is deferred at once, and what needs that too, with the chain', () => {
    const chain = [item('a'), item('b', { after: ['a'] }), item('c', { after: ['b'] })]
    const { start, defer } = decide(chain, states({ a: 'failed', b: 'waiting', c: 'waiting' }), 9)
    expect(start).toEqual([])
    expect(defer.map(({ item: name, reason, message }) => [name, reason, message])).toEqual([
      ['b', 'dependency-failed', 'b needs a, which is not on the stack'],
      ['c', 'dependency-failed', 'c needs b, which needs a, which is not on the stack'],
    ])
  })

  test('a dependency that the records do not hold keeps nothing waiting', () => {
    expect(decide([item('a', { after: ['left-out'] })], states({ a: 'waiting' }), 1).start).toEqual(['a'])
  })

  test('when nobody merges, what waits is deferred with what it waits for', () => {
    expect(deferWaiting(plan, states({ a: 'built', b: 'built', c: 'waiting', d: 'waiting' }))).toEqual([
      { item: 'c', reason: 'dependency-pending', waitsFor: ['a'], message: 'waits for a, not merged yet' },
      { item: 'd', reason: 'dependency-pending', waitsFor: ['b'], message: 'waits for b, not merged yet' },
    ])
  })
})
