/** Changing the stack as a whole: putting an attempt on, in the place of an earlier one, and taking items out. */
import type { MergeRecord } from '@buildwave/core'
import { mergeRecordOf, type Verdict } from './answer.ts'
import { type Desk, dependenciesOf, noteAnswer } from './desk.ts'
import { type Arrangement, arrange, type Change, type Layer, type Left } from './stack.ts'

/** A layer that leaves the stack, and why. */
export interface Leaving {
  layer: Pick<Layer, 'item' | 'attempt'>
  reason: string
  message: string
  conflicts?: MergeRecord['conflicts']
  /** The key of the answer; that of the answer before unless said. */
  key?: string
}

/** What came of an attempt: on the stack, or the conflicts that keep it off. */
export type Placed = { conflicts: null } | { conflicts: MergeRecord['conflicts'] }

/** Puts a change on top of the stack; nothing moves when it is in conflict. */
export async function putLast(desk: Desk, change: Change, key: string): Promise<Placed> {
  const layers = desk.branch.layers()
  const found = await arrangeOn(desk, layers, { changes: [change], gone: [] })
  const [left] = found.left
  if (left !== undefined) return { conflicts: left.conflicts }
  await moveTo(desk, { layers: found.layers, leaving: [], keys: new Map([[change.item, key]]) })
  return { conflicts: null }
}

/** Puts a layer that a person made on top, in the place of what was in conflict. */
export async function putResolved(desk: Desk, layer: Layer, key: string): Promise<void> {
  const layers = [...desk.branch.layers(), layer]
  await moveTo(desk, { layers, leaving: [], keys: new Map([[layer.item, key]]), resolved: layer })
}

/**
 * Puts a newer attempt in the place of the one on the stack. Where that would cost another item its place, the old one is taken
 * out, with what needs it, and the new one goes last: it never drives out what does not need its item. When it does not fit
 * there either, nothing moves.
 */
export async function replaceLayer(
  desk: Desk,
  old: Layer,
  { change, key }: { change: Change; key: string },
): Promise<Placed> {
  const layers = desk.branch.layers()
  const at = layers.indexOf(old)
  const [below, above] = [layers.slice(0, at), layers.slice(at + 1)]
  const inPlace = await arrangeOn(desk, below, { changes: [change, ...above], gone: [] })
  const found =
    inPlace.left.length === 0
      ? inPlace
      : await arrangeOn(desk, below, { changes: [...above, change], gone: [old.item] })
  const refused = found.left.find((left) => left.change === change)
  if (refused !== undefined) return { conflicts: refused.conflicts }
  const superseded = { layer: old, reason: 'superseded', message: `attempt ${change.attempt} takes its place` }
  // The same attempt again, collected anew or with another title, has one answer: the new one.
  const replaced = old.attempt === change.attempt ? [] : [superseded]
  const leaving = [...replaced, ...found.left.map((left) => leavingOf(left, old.item))]
  await moveTo(desk, { layers: found.layers, leaving, keys: new Map([[change.item, key]]) })
  desk.isRebuilt = true
  return { conflicts: null }
}

/** Takes layers out and puts the others together again, each from its own base; those that need one taken out leave too. */
export async function takeOutLayers(desk: Desk, leaving: readonly Leaving[]): Promise<void> {
  const layers = desk.branch.layers()
  const gone = leaving.map(({ layer }) => layer.item)
  const at = layers.findIndex(({ item }) => gone.includes(item))
  if (at === -1) return
  const others = layers.slice(at).filter(({ item }) => !gone.includes(item))
  const found = await arrangeOn(desk, layers.slice(0, at), { changes: others, gone })
  const forced = found.left.map((left) => leavingOf(left, gone.join(', ')))
  await moveTo(desk, { layers: found.layers, leaving: [...leaving, ...forced], keys: new Map() })
  desk.isRebuilt = true
}

/** Arranges on top of layers that stay as they are. */
async function arrangeOn(
  { ground, stage }: Desk,
  below: readonly Layer[],
  { changes, gone }: { changes: readonly Change[]; gone: readonly string[] },
): Promise<Arrangement> {
  const commits = [stage.run.base, ...below.map(({ commit }) => commit)]
  const dependencies = (item: string) => dependenciesOf(stage, item)
  const { layers, left } = await arrange(ground, commits, { changes, gone, dependencies })
  return { layers: [...below, ...layers], left }
}

function leavingOf({ change, needs, conflicts }: Left, gone: string): Leaving {
  const paths = conflicts.map(({ path }) => path).join(', ')
  const message =
    needs === null ? `it does not fit without ${gone}: conflict in ${paths}` : `it needs ${needs}, which is taken out`
  return { layer: change, reason: 'needs-dropped', message, conflicts }
}

interface Move {
  layers: readonly Layer[]
  leaving: readonly Leaving[]
  /** Keys of the answers to what is new, by item. */
  keys: ReadonlyMap<string, string>
  /** The layer that is a person's resolution. */
  resolved?: Layer
}

/**
 * Moves the branch and answers for everything that moved: first what leaves, then each layer whose commit is new, so that the
 * last record holds the head.
 */
async function moveTo(desk: Desk, { layers, leaving, keys, resolved }: Move): Promise<void> {
  const { branch, book, stage } = desk
  const head = layers.at(-1)?.commit ?? stage.run.base
  const before = new Set(branch.layers().map(({ commit }) => commit))
  const knownKey = ({ item, attempt }: Pick<Layer, 'item' | 'attempt'>) => book.answer(item, attempt)?.key ?? ''
  const left = leaving.map(({ layer: { item, attempt }, key, ...why }): Verdict => {
    return { item, attempt, key: key ?? knownKey({ item, attempt }), outcome: 'dropped', ...why, head }
  })
  const put = layers
    .filter(({ commit }) => !before.has(commit))
    .map((layer): Verdict => {
      const { item, attempt, commit, base, theirs } = layer
      const how =
        layer === resolved
          ? { reason: 'resolved', message: 'its conflict was resolved by hand' }
          : { reason: null, message: '' }
      const key = keys.get(item) ?? knownKey(layer)
      return { item, attempt, key, outcome: 'applied', ...how, head: commit, commit, sides: { base, theirs } }
    })
  const records = [...left, ...put].map((verdict) => mergeRecordOf(stage, verdict))
  await branch.move(layers, records)
  for (const record of records) noteAnswer(desk, record)
}
