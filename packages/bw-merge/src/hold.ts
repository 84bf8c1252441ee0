/**
 * When an item may go onto the stack. What an item does inside its own files cannot meet another's, so it goes at once; an
 * item that reaches further waits until nothing of its wave or an earlier one can still come, and then goes in plan order. So
 * the tree does not depend on which builder was faster.
 */
import { compileScope, type ItemRecord } from '@buildwave/core'

/** `open`: something may still come of it. `held`: ready, and waiting. `answered`: has its `merge` record, or never gets an attempt. */
export type ItemState = 'open' | 'held' | 'answered'

/** True when every path lies in the item's own globs and none in a glob that all items may write to. */
export function staysInside(item: ItemRecord, paths: readonly string[], shared: readonly string[]): boolean {
  const owned = compileScope(item.owns)
  const common = compileScope(shared)
  return paths.every((path) => owned(path) && !common(path))
}

/** The held items that may go now, in the order in which they go. `items` are in plan order. */
export function released(items: readonly ItemRecord[], states: ReadonlyMap<string, ItemState>): ItemRecord[] {
  const firstOpen = Math.min(...items.filter(({ item }) => states.get(item) === 'open').map(waveOf))
  return items
    .filter((item) => states.get(item.item) === 'held' && waveOf(item) < firstOpen)
    .sort((a, b) => waveOf(a) - waveOf(b))
}

/** An item without a wave comes after all others. */
function waveOf({ wave }: ItemRecord): number {
  return wave ?? Number.MAX_SAFE_INTEGER
}
