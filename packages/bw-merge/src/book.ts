import {
  buildRecord,
  failureRecord,
  type ItemRecord,
  type MergeRecord,
  patchRecord,
  scanRecord,
  UserError,
} from '@buildwave/core'
import type { Stage } from '@buildwave/stage'
import type { Attempt } from './attempt.ts'

type AnyRecord = Parameters<Stage['emit']>[0]

/** What the input has said so far, by attempt, and which answers there are already. */
export interface Book {
  /** Takes a record; the attempt that it is about, null when it is about none. */
  take(record: AnyRecord): Attempt | null
  attempts(): Attempt[]
  attemptsOf(item: string): Attempt[]
  /** Why an item was not started in this run, null when it was or may still be. */
  deferral(item: string): { reason: string; message: string } | null
  answer(item: string, attempt: number | undefined): MergeRecord | undefined
  /** The answer that stands for the item: that of its latest attempt. */
  lastAnswer(item: string): MergeRecord | undefined
  note(answer: MergeRecord): void
}

export function openBook(stage: Pick<Stage, 'items' | 'journal'>): Book {
  const attempts = new Map<string, Attempt>()
  const deferrals = new Map<string, { reason: string; message: string }>()
  const answers = new Map<string, MergeRecord>()
  const note = (answer: MergeRecord) => void answers.set(nameOf(answer.item, answer.attempt), answer)
  for (const record of stage.journal.records()) if (record.kind === 'merge') note(record as MergeRecord)

  function attemptOf(name: unknown, number: unknown, kind: string): Attempt {
    const item = stage.items().find((known) => known.item === name)
    if (item === undefined || typeof number !== 'number') {
      throw new UserError('missing-records', `the input has a '${kind}' of '${String(name)}' without its item record`, {
        hint: 'give the whole stream of the stage before, or name the run with --run',
      })
    }
    const key = nameOf(item.item, number)
    const attempt = attempts.get(key) ?? { item, attempt: number, isUnproven: false }
    attempts.set(key, attempt)
    return attempt
  }

  return {
    note,
    attempts: () => [...attempts.values()],
    attemptsOf: (item) => [...attempts.values()].filter((attempt) => attempt.item.item === item),
    deferral: (item) => deferrals.get(item) ?? null,
    answer: (item, attempt) => answers.get(nameOf(item, attempt)),
    lastAnswer(item) {
      const numbers = [...answers.values()].filter((answer) => answer.item === item).map(({ attempt }) => attempt ?? 0)
      const last = Math.max(...numbers)
      return answers.get(nameOf(item, last === 0 ? undefined : last))
    },
    take(record) {
      if (record.kind === 'deferred') {
        deferrals.set(String(record['item']), { reason: String(record['reason']), message: String(record['message']) })
        return null
      }
      if (record.kind === 'failure' && record['attempt'] === undefined) {
        const { item, code, stage: by, message } = failureRecord.parse(record)
        deferrals.set(item, { reason: code, message: `${by}: ${message}` })
        return null
      }
      if (!aboutAttempts.has(record.kind)) return null
      const attempt = attemptOf(record['item'], record['attempt'], record.kind)
      deferrals.delete(attempt.item.item)
      learn(attempt, record)
      return attempt
    },
  }
}

const aboutAttempts: ReadonlySet<string> = new Set(['builder', 'build', 'patch', 'regression', 'scan', 'failure'])

/** The last record of a kind counts: a replay holds earlier ones of the same attempt too. */
function learn(attempt: Attempt, record: AnyRecord): void {
  if (record.kind === 'build') attempt.build = buildRecord.parse(record)
  if (record.kind === 'patch') attempt.patch = patchRecord.parse(record)
  if (record.kind === 'scan') attempt.scan = scanRecord.parse(record)
  if (record.kind === 'failure') attempt.failure = failureRecord.parse(record)
  if (record.kind === 'regression') attempt.isUnproven = record['verdict'] !== 'proven'
}

function nameOf(item: string, attempt: number | undefined): string {
  return `${item}/${attempt ?? '-'}`
}

/** The items to be merged, in plan order. */
export function openItems(stage: Pick<Stage, 'items'>): ItemRecord[] {
  return stage.items().filter(({ done }) => !done)
}
