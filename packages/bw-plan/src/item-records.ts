import type { ItemRecord } from '@buildwave/core'
import type { PlannedItem } from './plan.ts'

/** The `item` record of a planned item. What placing it anew needs is in it too: phase, mark, group. */
export function itemRecord(run: string, planned: PlannedItem): ItemRecord {
  const { item, id, title, text, type, owns, ownsFrom, after, wave, waitsFor, priority, done, line } = planned
  const { phase, marked, group, optional, state, labels, position } = planned
  return {
    kind: 'item',
    v: 1,
    run,
    item,
    id,
    title,
    text,
    type,
    owns,
    ownsFrom,
    after,
    wave,
    waitsFor,
    priority,
    done,
    line,
    phase,
    marked,
    group,
    optional,
    state,
    labels,
    position,
  }
}
