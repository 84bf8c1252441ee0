import { compileScope, type ItemRecord, type PatchRecord, type RunRecord } from '@buildwave/core'

/**
 * The changed files outside of what an item owns and what is shared, each with the item that owns it (the first of the
 * plan), or null. An item whose files are unknown has no scope to leave.
 */
export function outOfScope(
  paths: readonly string[],
  { item, items, run }: { item: ItemRecord; items: readonly ItemRecord[]; run: RunRecord },
): PatchRecord['outOfScope'] {
  if (item.ownsFrom === 'unknown' || item.owns.length === 0) return []
  const isOwn = compileScope(item.owns)
  const isShared = compileScope(run.shared)
  const others = items.filter((other) => other.item !== item.item)
  const scopes = others.map((other) => ({ item: other.item, owns: compileScope(other.owns) }))
  return paths
    .filter((path) => !isOwn(path) && !isShared(path))
    .map((path) => ({ path, ownedBy: scopes.find(({ owns }) => owns(path))?.item ?? null }))
}
