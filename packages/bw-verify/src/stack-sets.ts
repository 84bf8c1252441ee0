import { mergedBelow, patchesOf, type Suite } from '@buildwave/checks'
import {
  compileScope,
  type IntegrationRecord,
  type PatchRecord,
  type RunRecord,
  unionOfAdditions,
} from '@buildwave/core'
import { commitTree, mergeTree, type Repo, readBlob, treeWithFiles, writeBlob } from '@buildwave/git'

/** The files in which both sides' added lines are kept: the shared ones, and those that bw-merge was told. */
export function unionGlobs(run: RunRecord, integration: IntegrationRecord): string[] {
  const told = integration['union']
  return [...new Set([...run.shared, ...(Array.isArray(told) ? told.map(String) : [])])]
}

/** One merged item: its patch, its commit on the stack, and which items of the stack it was built on. */
export interface Layer {
  item: string
  patch: PatchRecord
  commit: string
  /** Numbers of the layers below it that its start commit held. */
  needs: number[]
}

interface JournalRecord {
  kind: string
  [field: string]: unknown
}

/** The stack's items from the bottom, with what each needs. Throws plain Error when the journal lacks a patch. */
export async function readLayers(
  suite: Suite,
  integration: IntegrationRecord,
  journal: readonly JournalRecord[],
): Promise<Layer[]> {
  const patches = integration.items.map(({ item, attempt }) => {
    const [patch] = patchesOf([{ item, attempt }], journal)
    if (patch === undefined) throw new Error(`no patch record of ${item}, attempt ${attempt}`)
    return patch
  })
  const numbers = new Map(integration.items.map(({ item }, number) => [item, number]))
  return Promise.all(
    integration.items.map(async ({ item, commit }, number): Promise<Layer> => {
      const patch = patches[number] as PatchRecord
      const below = await mergedBelow(suite, patch.start, journal)
      const needs = below.flatMap((merge) => numbers.get(merge.item) ?? []).filter((needed) => needed < number)
      return { item, patch, commit, needs: [...new Set(needs)] }
    }),
  )
}

/** The numbers with all that they need, in stack order: an item cannot be put on anything that lacks what it was built on. */
export function withNeeds(layers: readonly Layer[], numbers: readonly number[]): number[] {
  const all = new Set<number>()
  const add = (number: number) => {
    if (all.has(number)) return
    all.add(number)
    for (const needed of layers[number]?.needs ?? []) add(needed)
  }
  numbers.forEach(add)
  return [...all].sort((a, b) => a - b)
}

/**
 * A commit with just these layers on the base, each merged from its own start as bw-merge does; the stack's own commit where
 * they are all there is below one of them. Null when they cannot be put together without the others.
 */
export async function commitOf(
  { repo, run, shared }: { repo: Repo; run: RunRecord; shared: readonly string[] },
  layers: readonly Layer[],
  numbers: readonly number[],
): Promise<string | null> {
  const isPrefix = numbers.every((number, place) => number === place)
  if (isPrefix) return layers[numbers.length - 1]?.commit ?? run.base
  let head = run.base
  for (const number of numbers) {
    const layer = layers[number]
    if (layer?.patch.commit == null) return null
    const tree = await putOn(repo, { head, patch: layer.patch, theirs: layer.patch.commit, shared })
    if (tree === null) return null
    head = await commitTree(repo, {
      tree,
      parents: [head],
      message: layer.item,
      identity: { name: 'buildwave', email: 'buildwave@localhost' },
      date: '2000-01-01T00:00:00Z',
    })
  }
  return head
}

interface Step {
  head: string
  patch: PatchRecord
  theirs: string
  shared: readonly string[]
}

/** The tree of `head` with the patch merged in; conflicts are settled only where both sides just add to a shared file. */
async function putOn(repo: Repo, { head, patch, theirs, shared }: Step): Promise<string | null> {
  const { tree, conflicts } = await mergeTree(repo, { base: patch.start, ours: head, theirs })
  if (conflicts.length === 0) return tree
  const isShared = compileScope(shared)
  const settled = new Map<string, { mode: string; oid: string }>()
  for (const { path, base, ours, theirs: other } of conflicts) {
    if (!isShared(path) || ours === null || other === null || ours.mode !== other.mode) return null
    const read = async (side: { oid: string } | null) =>
      side === null ? '' : (await readBlob(repo, side.oid)).toString('latin1')
    const text = unionOfAdditions(await read(base), await read(ours), await read(other))
    if (text === null) return null
    settled.set(path, { mode: ours.mode, oid: await writeBlob(repo, Buffer.from(text, 'latin1')) })
  }
  return treeWithFiles(repo, tree, settled)
}
