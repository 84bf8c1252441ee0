import type { OwnedThing } from '@buildwave/engine'
import { expect, it } from 'vitest'
import { builderRecord, buildRecord, patchRecord } from '../../../test/support/run-folder.ts'
import { type History, isExpired, runningBuilders, uncollectedOf } from '../src/index.ts'

function thing(role: string, state: string | null, change: Partial<OwnedThing> = {}): OwnedThing {
  const type = state === null ? 'volume' : 'container'
  const id = { type, id: role, name: role, role } as const
  return { ...id, run: 'r', item: '1', attempt: 1, stage: 'bw-spawn', state, expires: null, ...change }
}

const history = (...records: object[]) => ({ run: null, items: [], records }) as unknown as History
const failure = { kind: 'failure', item: '1', attempt: 1, stage: 'bw-collect', message: 'too big' }
const ended = [thing('builder', 'exited'), thing('holder', 'exited'), thing('upper', null), thing('work', null)]

it('an attempt is uncollected while its work is on the engine and no patch record says otherwise', () => {
  const reason = (records: object[], things: OwnedThing[]) =>
    uncollectedOf(history(...records), things).map((each) => each.reason)
  expect(reason([builderRecord('1')], [thing('builder', 'running')])).toEqual(['its builder is at work'])
  expect(reason([], ended)).toEqual(['it has ended and nobody has looked at it'])
  expect(reason([buildRecord('1')], ended)).toEqual(['it ended (done) and was not collected'])
  expect(reason([buildRecord('1'), failure], ended)).toEqual(['bw-collect could not take it: too big'])
  expect(reason([builderRecord('1')], [thing('upper', null)])).toEqual([
    'its containers are gone, its work is in a volume',
  ])
  expect(reason([builderRecord('1'), buildRecord('1'), patchRecord('1')], ended)).toEqual([])
})

it('the patch of another attempt or item proves nothing', () => {
  for (const other of [patchRecord('1', { attempt: 2 }), patchRecord('2')]) {
    expect(uncollectedOf(history(builderRecord('1'), other), ended)).toHaveLength(1)
  }
})

it('a start that was cut off before its builder ran, a layer and a check hold nobody’s work', () => {
  expect(uncollectedOf(history(), [thing('builder', 'created'), thing('upper', null)])).toEqual([])
  const others = [
    thing('layer', null, { item: null, attempt: null, stage: 'layer' }),
    thing('check', 'running', { stage: 'bw-collect' }),
  ]
  expect(uncollectedOf(history(builderRecord('1')), others)).toEqual([])
})

it('only builders that run are at work, and a thing has expired when its moment is past', () => {
  const things = [thing('builder', 'running'), thing('holder', 'running'), thing('builder', 'exited', { item: '2' })]
  expect(runningBuilders(things).map(({ item }) => item)).toEqual(['1'])
  const until = (expires: string | null) => thing('upper', null, { expires })
  expect(isExpired([until('2026-01-01T00:00:00.000Z'), until(null)], Date.parse('2026-01-02'))).toBe(true)
  expect(
    isExpired([until('2026-01-01T00:00:00.000Z'), until('2026-01-03T00:00:00.000Z')], Date.parse('2026-01-02')),
  ).toBe(false)
})
