/** What the journal of a run says, read once and for looking only: no lease is taken and nothing is written. */
import { existsSync } from 'node:fs'
import {
  type ItemRecord,
  isKnownKind,
  type Kind,
  type RecordOf,
  type RunRecord,
  schemas,
  UserError,
} from '@buildwave/core'
import { type JournalRecord, openJournal, type RunPaths } from '@buildwave/store'

export interface History {
  /** Null when no stage has got as far as writing it. */
  run: RunRecord | null
  /** As last edited, in the order of the plan. */
  items: ItemRecord[]
  /** Every line that is what its kind says, in the order in which they were written. */
  records: readonly JournalRecord[]
}

/** Reads a run's journal; one that is not there is empty. Throws UserError `cannot-open-journal`. */
export function readHistory(paths: RunPaths): History {
  if (!existsSync(paths.journal)) return { run: null, items: [], records: [] }
  const journal = openJournal(paths.journal, { create: false })
  const records = journal.records().filter(fitsItsKind)
  journal.close()
  const items = new Map<string, ItemRecord>()
  for (const item of ofKind({ records }, 'item')) items.set(item.item, item)
  return { run: ofKind({ records }, 'run').at(-1) ?? null, items: [...items.values()], records }
}

/** The records of one kind, oldest first. */
export function ofKind<K extends Kind>({ records }: Pick<History, 'records'>, kind: K): RecordOf<K>[] {
  return records.filter((record) => record.kind === kind) as unknown as RecordOf<K>[]
}

/** The last record of a kind that is about this attempt. */
export function lastOf<K extends Kind>(
  history: Pick<History, 'records'>,
  kind: K,
  of: { item: string; attempt: number | undefined },
): RecordOf<K> | undefined {
  return history.records.findLast(
    (record) => record.kind === kind && record['item'] === of.item && record['attempt'] === of.attempt,
  ) as RecordOf<K> | undefined
}

/** The numbers of an item's attempts, those that were only about to start too, ascending. */
export function attemptsOf({ records }: Pick<History, 'records'>, item: string): number[] {
  const about = records.filter((record) => record['item'] === item && typeof record['attempt'] === 'number')
  return [...new Set(about.map((record) => Number(record['attempt'])))].sort((a, b) => a - b)
}

/** The item of that name, or of that id in the plan. Throws UserError `no-item`. */
export function findItem(history: History, name: string): ItemRecord {
  const found = history.items.find(({ item }) => item === name) ?? history.items.find(({ id }) => id === name)
  if (found !== undefined) return found
  const known = history.items.map(({ item }) => item)
  throw new UserError('no-item', `no item '${name}' in run '${history.run?.run ?? ''}'`, {
    hint: known.length === 0 ? 'its journal has no items' : `it has ${known.slice(0, 10).join(', ')}`,
  })
}

/** The attempt of that number, the latest when none is said. Throws UserError `no-attempt`. */
export function findAttempt(history: History, item: string, asked: number | undefined): number {
  const known = attemptsOf(history, item)
  const latest = known.at(-1)
  if (latest === undefined) throw new UserError('no-attempt', `'${item}' was never started`)
  if (asked === undefined || known.includes(asked)) return asked ?? latest
  throw new UserError('no-attempt', `'${item}' has no attempt ${asked}`, { hint: `it has ${known.join(', ')}` })
}

/** When the run's first and its last record were written, ISO 8601; null when none says. */
export function spanOf({ records }: Pick<History, 'records'>): { startedAt: string | null; changedAt: string | null } {
  const times = records.flatMap(({ at }) => (typeof at === 'string' ? [at] : []))
  return { startedAt: times[0] ?? null, changedAt: times.at(-1) ?? null }
}

/** A line that does not fit its kind counts as missing, so that what only it would prove stays unproven. */
function fitsItsKind(record: JournalRecord): boolean {
  return !isKnownKind(record.kind) || schemas[record.kind].safeParse(record).success
}
