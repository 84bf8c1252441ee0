/** What the journal says of an item's earlier attempts, and what follows for this run of the stage. */
import type { BuilderRecord, BuildRecord, MergeRecord } from '@buildwave/core'
import type { Journal, JournalRecord } from '@buildwave/store'

/** Outcomes that say nothing about the work, so that the next run makes the next attempt. */
const notAboutTheWork = new Set(['rate-limited', 'auth', 'budget', 'killed', 'stopped'])

export interface PastAttempt {
  builder: BuilderRecord
  build: BuildRecord | undefined
  merge: MergeRecord | undefined
}

/** An item's attempts with this key, oldest first. */
export function attemptsOf(journal: Journal, item: string, key: string): PastAttempt[] {
  const about = journal.records().filter((record) => record['item'] === item)
  return about
    .filter((record) => record.kind === 'builder' && record['key'] === key)
    .map((record) => {
      const builder = record as unknown as BuilderRecord
      return {
        builder,
        build: last<BuildRecord>(about, 'build', builder.attempt),
        merge: last<MergeRecord>(about, 'merge', builder.attempt),
      }
    })
}

/** A start that was intended and whose record is missing: the process died between the two. */
export function unrecordedStart(
  journal: Journal,
  item: string,
  key: string,
): { attempt: number; start: string } | undefined {
  const about = journal.records().filter((record) => record['item'] === item)
  const intent = about.findLast(({ kind, action }) => kind === 'intent' && action === 'start-builder')
  if (intent?.['key'] !== key) return undefined
  const attempt = Number(intent['attempt'])
  const isRecorded = about.some(
    (record) => (record.kind === 'builder' || record.kind === 'failure') && record['attempt'] === attempt,
  )
  return isRecorded ? undefined : { attempt, start: String(intent['start']) }
}

/** The number that the next attempt of an item gets, over all keys: numbers are never used twice. */
export function nextAttempt(journal: Journal, item: string): number {
  const used = journal
    .records()
    .filter((record) => record['item'] === item && (record.kind === 'builder' || record.kind === 'intent'))
    .map((record) => Number(record['attempt'] ?? 0))
  return Math.max(0, ...used) + 1
}

/** True when an attempt's result counts as the result of the work and is passed on instead of working again. */
export function isReusable({ build }: PastAttempt): boolean {
  return build !== undefined && build.aboutWork !== false && !notAboutTheWork.has(build.outcome)
}

function last<T>(records: readonly JournalRecord[], kind: string, attempt: number): T | undefined {
  return records.findLast((record) => record.kind === kind && record['attempt'] === attempt) as T | undefined
}
