/**
 * The stack: one commit an item on top of the base, each made by a merge whose base is named. Pure thinking over the git
 * door; nothing here moves a ref.
 */
import { compileScope, type MergeRecord, unionOfAdditions } from '@buildwave/core'
import {
  commitTree,
  type Identity,
  type MergeConflict,
  mergeTree,
  type ObjectReader,
  type RefWriter,
  readBlob,
  type Store,
  type TreeFile,
  treeWithFiles,
  writeBlob,
} from '@buildwave/git'

/** An item's work as a merge sees it: the difference between two commits, and how it is signed. */
export interface Change {
  item: string
  attempt: number
  base: string
  theirs: string
  title: string
  date: string
}

/** A change that is on the stack. */
export interface Layer extends Change {
  commit: string
}

export interface Ground {
  store: Store
  /** Reads the store through one process. */
  reader: ObjectReader
  /** Moves its refs through another. */
  refs: RefWriter
  identity: Identity
  /** Globs of the files in which both sides' added lines are kept. */
  union: readonly string[]
}

export interface Left {
  change: Change
  /** The item that was taken out and that this one depends on; null when it is the text that does not fit. */
  needs: string | null
  conflicts: MergeRecord['conflicts']
}

export interface Arrangement {
  layers: Layer[]
  /** What could not be put on, in order. */
  left: Left[]
}

/**
 * Puts changes in this order on top of `below`, the commits from the base to the head. One that is in conflict, or that depends
 * on something left, is left as well and the rest goes on. `dependencies` names the items that an item needs.
 */
export async function arrange(
  ground: Ground,
  below: readonly string[],
  {
    changes,
    gone,
    dependencies,
  }: {
    changes: readonly Change[]
    gone: readonly string[]
    dependencies: (item: string) => readonly string[]
  },
): Promise<Arrangement> {
  const layers: Layer[] = []
  const left: Left[] = []
  const missing = new Set(gone)
  const commits = [...below]
  for (const change of changes) {
    const needs = dependencies(change.item).find((item) => missing.has(item)) ?? null
    const put = needs === null ? await putOn(ground, commits, change) : { commit: null, conflicts: [] }
    if (put.commit === null) {
      left.push({ change, needs, conflicts: put.conflicts })
      missing.add(change.item)
    } else {
      layers.push({ ...change, commit: put.commit })
      commits.push(put.commit)
    }
  }
  return { layers, left }
}

/**
 * The commit of the head (the last one of `below`) with the change, or the conflicts that are in the way. Throws UserError of
 * status 4 for unusable objects.
 */
export async function putOn(
  ground: Ground,
  below: readonly string[],
  change: Change,
): Promise<{ commit: string | null; conflicts: MergeRecord['conflicts'] }> {
  const { store, identity } = ground
  const { base, theirs, title: message, date } = change
  const ours = below.at(-1) ?? base
  // A change is one commit on its base: where the base is below, history suggests it too.
  const merged = await mergeTree(store, { base, ours, theirs, isSuggested: below.includes(base) })
  const settled = await settleConflicts(ground, merged.conflicts)
  if (settled === null) return { commit: null, conflicts: merged.conflicts.map(toRecord) }
  const tree = settled.size === 0 ? merged.tree : await treeWithFiles(store, merged.tree, settled)
  return { commit: await commitTree(store, { tree, parents: [ours], message, identity, date }), conflicts: [] }
}

/** What the conflicting files become where both sides only added lines to a file that is free for all; null when one does not. */
async function settleConflicts(
  { store, union }: Ground,
  conflicts: readonly MergeConflict[],
): Promise<Map<string, TreeFile> | null> {
  const isUnion = compileScope(union)
  const settled = new Map<string, TreeFile>()
  for (const conflict of conflicts) {
    const mode = isUnion(conflict.path) ? commonMode(conflict) : null
    if (mode === null) return null
    const [base, ours, theirs] = await Promise.all(
      [conflict.base, conflict.ours, conflict.theirs].map((side) => textOf(store, side)),
    )
    const text = unionOfAdditions(base ?? '', ours ?? '', theirs ?? '')
    if (text === null) return null
    settled.set(conflict.path, { mode, oid: await writeBlob(store, Buffer.from(text, 'latin1')) })
  }
  return settled
}

/** The mode both sides agree on, null when a side has no plain file there or both changed the mode. */
function commonMode({ base, ours, theirs }: MergeConflict): string | null {
  if (ours === null || theirs === null) return null
  const isPlain = [base, ours, theirs].every((side) => side === null || side.mode.startsWith('100'))
  if (!isPlain) return null
  if (ours.mode === theirs.mode || theirs.mode === base?.mode) return ours.mode
  return ours.mode === base?.mode ? theirs.mode : null
}

/** Latin-1 takes any bytes and gives them back. */
async function textOf(store: Store, side: TreeFile | null): Promise<string> {
  return side === null ? '' : (await readBlob(store, side.oid)).toString('latin1')
}

function toRecord({ path, base, ours, theirs }: MergeConflict): MergeRecord['conflicts'][number] {
  return { path, base: base?.oid ?? null, ours: ours?.oid ?? null, theirs: theirs?.oid ?? null }
}
