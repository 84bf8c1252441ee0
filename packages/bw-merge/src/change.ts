import { type ItemRecord, type MergeRecord, type PatchRecord, type RunRecord, UserError } from '@buildwave/core'
import { commitParents, commitTree, listCommits, mergeTree } from '@buildwave/git'
import type { ReadyPatch } from './attempt.ts'
import type { Change, Ground } from './stack.ts'

interface Known {
  kind: string
  [field: string]: unknown
}

/**
 * A patch as a change to put on the stack: from its start commit to its commit. When it was started on top of an earlier
 * attempt of its own item, that attempt's lines are part of it: it takes the place of both, so its base is the start without them.
 */
export async function changeOf(
  ground: Ground,
  { run, item, patch, journal }: { run: RunRecord; item: ItemRecord; patch: ReadyPatch; journal: readonly Known[] },
): Promise<Change> {
  const { commit: theirs, start, attempt, at: date } = patch
  const change = { item: item.item, attempt, base: start, theirs, title: item.title, date }
  if (start === run.base) return change
  const own = earlierCommits(patch, journal)
  if (own.length === 0) return change
  const below = new Set(await listCommits(ground.store, run.base, start))
  const included = own.find((commit) => below.has(commit))
  return included === undefined ? change : { ...change, base: await startWithout(ground, start, included) }
}

/** The commits on the stack that earlier attempts of the item ever had. */
function earlierCommits(patch: PatchRecord, journal: readonly Known[]): string[] {
  const merges = journal.filter(({ kind, item }) => kind === 'merge' && item === patch.item) as MergeRecord[]
  return merges.flatMap(({ attempt, commit }) => (commit === null || attempt === patch.attempt ? [] : [commit]))
}

async function startWithout({ store, identity }: Ground, start: string, commit: string): Promise<string> {
  const [before] = await commitParents(store, commit)
  if (before === undefined) throw new UserError('object-unusable', `commit '${commit}' has no parent`, { status: 4 })
  const { tree, conflicts } = await mergeTree(store, { base: commit, ours: start, theirs: before })
  // Others have built on those lines since; then the new attempt counts as a change on top of the old one.
  if (conflicts.length > 0) return start
  return commitTree(store, { tree, parents: [], message: 'start', identity, date: '2000-01-01T00:00:00Z' })
}
