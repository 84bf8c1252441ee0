/**
 * The ref of the stack and the journal, kept in step. Each move of the ref is written down as an intent together with the
 * `merge` records that belong to it: after a kill between the two, the ref tells which of them are true.
 */
import { type MergeRecord, UserError } from '@buildwave/core'
import { listCommits, readObjects, readRef } from '@buildwave/git'
import type { Stage } from '@buildwave/stage'
import type { Ground, Layer } from './stack.ts'

type JournalDoor = Pick<Stage, 'run' | 'name' | 'journal' | 'intend' | 'emit'>

export interface Branch {
  readonly ref: string
  layers(): readonly Layer[]
  /** The commit of the last layer, the base when there is none. */
  head(): string
  /** Makes these the stack: intent, ref, then the records. */
  move(layers: readonly Layer[], records: readonly MergeRecord[]): Promise<void>
}

export function branchName(run: string): string {
  return `builders/${run}`
}

/**
 * Opens the branch: writes down what a killed run did and did not record, then reads the layers off the ref. Throws UserError
 * `stack-moved` when the ref holds commits that no record explains.
 */
export async function openBranch(stage: JournalDoor, ground: Ground): Promise<Branch> {
  const ref = `refs/heads/${branchName(stage.run.run)}`
  let held = await readRef(ground.store, ref)
  stage.journal.refresh()
  recordLostMove(stage, held)
  let layers = await readLayers(stage, ground, held)
  return {
    ref,
    layers: () => layers,
    head: () => layers.at(-1)?.commit ?? stage.run.base,
    async move(next, records) {
      const to = next.at(-1)?.commit ?? stage.run.base
      stage.intend('move-ref', { ref, from: held, to, answers: records })
      if (to !== held) await ground.refs.update(ref, to, held)
      held = to
      layers = [...next]
      for (const record of records) await stage.emit(record)
    },
  }
}

/** Only the last intent can be without its records: the next one is written after them. */
function recordLostMove({ journal, name }: JournalDoor, held: string | null): void {
  const records = journal.records()
  const at = records.findLastIndex(
    ({ kind, stage, action }) => kind === 'intent' && stage === name && action === 'move-ref',
  )
  const intent = records[at]
  if (intent === undefined || intent['to'] !== held) return
  const known = new Set(records.slice(at).map((record) => JSON.stringify(record)))
  for (const answer of intent['answers'] as MergeRecord[])
    if (!known.has(JSON.stringify(answer))) journal.append(answer)
  journal.refresh()
}

async function readLayers({ run, journal }: JournalDoor, { store }: Ground, held: string | null): Promise<Layer[]> {
  if (held === null || held === run.base) return []
  const commits = await readObjects(store, await listCommits(store, run.base, held))
  return commits.map(({ oid, content }) => {
    const merge = journal.records().findLast((record) => record.kind === 'merge' && record['commit'] === oid)
    const layer = merge === undefined ? null : layerOf(merge as MergeRecord, { oid, text: content.toString('utf8') })
    if (layer !== null) return layer
    throw new UserError('stack-moved', `'${branchName(run.run)}' holds ${oid}, which no record explains`, {
      hint: 'somebody moved the ref in the run store; put it back, or start another --run',
    })
  })
}

/** Title and date are the commit's own: the input may not have brought the item yet. */
function layerOf(merge: MergeRecord, { oid, text }: { oid: string; text: string }): Layer | null {
  const { item, attempt } = merge
  const [, seconds] = /^author .*> (\d+) \+0000$/m.exec(text) ?? []
  const { base, theirs } = merge
  if (attempt === undefined || seconds === undefined || typeof base !== 'string' || typeof theirs !== 'string')
    return null
  const date = new Date(Number(seconds) * 1000).toISOString()
  const title = text.slice(text.indexOf('\n\n') + 2).replace(/\n$/, '')
  return { item, attempt, base, theirs, title, date, commit: oid }
}
