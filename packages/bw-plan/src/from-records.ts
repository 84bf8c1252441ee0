/** Item records, perhaps edited with jq, as items to place anew. */
import { type ItemRecord, itemRecord as itemSchema, type RunRecord, runRecord, UserError } from '@buildwave/core'
import { type AnyRecord, readRecords } from '@buildwave/stdio'
import type { PlannedItem } from './plan.ts'

export interface SavedPlan {
  /** The run that the items came with, null when they came alone. */
  run: RunRecord | null
  items: PlannedItem[]
}

/** Reads a stream of records; others than `run` and `item` are passed over. Throws UserError with the line of a bad one. */
export async function readSavedPlan(input: AsyncIterable<Uint8Array | string>): Promise<SavedPlan> {
  const saved: SavedPlan = { run: null, items: [] }
  const seen = new Set<string>()
  for await (const { record, number } of readRecords(input)) {
    if (record.kind === 'run') saved.run = check(runRecord.safeParse(record), record, number)
    if (record.kind !== 'item') continue
    const item = check(itemSchema.safeParse(record), record, number)
    if (seen.has(item.item)) throw new UserError('bad-record', `line ${number}: item '${item.item}' is there twice`)
    seen.add(item.item)
    saved.items.push(toPlanned(item, saved.items.length))
  }
  if (saved.items.length === 0) throw new UserError('no-items', 'the input has no item record')
  saved.items.sort((a, b) => a.position - b.position)
  return saved
}

type Checked<T> =
  | { success: true; data: T }
  | { success: false; error: { issues: readonly { path: PropertyKey[]; message: string }[] } }

function check<T>(result: Checked<T>, record: AnyRecord, number: number): T {
  if (result.success) return result.data
  const [issue] = result.error.issues
  const where = issue === undefined ? '' : ` at '${issue.path.join('.')}': ${issue.message.toLowerCase()}`
  throw new UserError('bad-record', `line ${number}: not a ${record.kind} record${where}`)
}

function toPlanned(record: ItemRecord, index: number): PlannedItem {
  const { phase, marked, group, optional, labels, position } = record as Record<string, unknown>
  return {
    ...record,
    waitsFor: [],
    wave: null,
    phase: typeof phase === 'string' ? phase : null,
    marked: marked === true,
    group: typeof group === 'string' ? group : null,
    optional: optional === true,
    state: record.done ? 'done' : 'open',
    position: typeof position === 'number' ? position : index,
    labels: Array.isArray(labels) ? labels.filter((label) => typeof label === 'string') : [],
  }
}
