import { type ItemRecord, type PatchRecord, UserError } from '@buildwave/core'
import { diffText, openStore } from '@buildwave/git'
import { attemptsOf, findAttempt, findItem, type History, lastOf } from '@buildwave/runs'
import type { JournalRecord, RunPaths } from '@buildwave/store'

/** What is known of one attempt at an item. */
export interface Shown {
  item: ItemRecord
  attempt: number
  /** How many attempts there were, that one included. */
  attempts: number
  /** The item and its results in the order in which they were written, verdicts on the whole stack included. */
  records: JournalRecord[]
  /** Null before bw-collect. */
  patch: PatchRecord | null
}

const ofAttempt: ReadonlySet<string> = new Set([
  'builder',
  'build',
  'patch',
  'regression',
  'finding',
  'scan',
  'merge',
  'failure',
])
const ofRun: ReadonlySet<string> = new Set(['verification', 'delivery'])

/** Everything that the journal says of an attempt, the latest unless said. Throws UserError `no-item` or `no-attempt`. */
export function showAttempt(history: History, name: string, asked: number | undefined): Shown {
  const item = findItem(history, name)
  const attempt = findAttempt(history, item.item, asked)
  const about = { item: item.item, attempt }
  const isShown = (record: JournalRecord) => {
    if (record['item'] !== item.item) return ofRun.has(record.kind) && isAbout(history, about, record)
    return ofAttempt.has(record.kind) && record['attempt'] === attempt
  }
  return {
    item,
    attempt,
    attempts: attemptsOf(history, item.item).length,
    records: [item as JournalRecord, ...history.records.filter(isShown)],
    patch: lastOf(history, 'patch', about) ?? null,
  }
}

/**
 * The patch as text, neither masked nor escaped; empty when the attempt changed nothing. Throws UserError `no-patch`, and with
 * status 4 what git says of missing objects.
 */
export async function patchText(paths: RunPaths, { item, attempt, patch }: Shown): Promise<string> {
  if (patch === null) {
    throw new UserError('no-patch', `attempt ${attempt} at '${item.item}' has not been collected`, {
      hint: `bw-collect --run ${paths.id}`,
    })
  }
  return patch.commit === null ? '' : diffText(openStore(paths.repo), patch.start, patch.commit)
}

/** Whether a verdict on the whole stack is about one that this attempt was a part of. */
function isAbout(history: History, of: { item: string; attempt: number }, record: JournalRecord): boolean {
  const head = record['head'] ?? record['oid']
  return history.records.some(
    ({ kind, head: at, items }) =>
      kind === 'integration' &&
      at === head &&
      Array.isArray(items) &&
      items.some((on) => on.item === of.item && on.attempt === of.attempt),
  )
}
