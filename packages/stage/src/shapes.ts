/** What a stage asks of the records that it reads. */
import { type EndRecord, type RunRecord, schemas, UserError } from '@buildwave/core'
import type { AnyRecord, RecordLine } from '@buildwave/stdio'

/** What makes a result the same one in the input and in the journal. */
export function resultIdentity(record: AnyRecord): string | undefined {
  if (record.kind === 'run' || record.kind === 'item' || record.kind === 'end') return undefined
  return JSON.stringify([
    record.kind,
    record['item'],
    record['attempt'],
    record['key'],
    record['at'],
    record['fingerprint'],
    record['file'],
  ])
}

export function readRun({ record, number }: RecordLine): RunRecord {
  if (record.kind !== 'run') {
    throw new UserError('no-run-record', `line ${number}: the first record is '${record.kind}', not 'run'`, {
      hint: 'records begin with the run that bw-plan writes',
    })
  }
  return checkShape(record, number) as RunRecord
}

/** Validates a record of a known kind at the door. */
export function checkShape(record: AnyRecord, number: number): unknown {
  const schema = schemas[record.kind as keyof typeof schemas]
  const parsed = schema.safeParse(record)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new UserError(
    'bad-record',
    `line ${number}: bad '${record.kind}' record at '${issue?.path.join('.') ?? ''}': ${issue?.message ?? ''}`,
    {
      hint: `bw-schema ${record.kind} shows what it must hold`,
    },
  )
}

export function upstreamBroke(end: EndRecord | undefined): UserError {
  return end === undefined
    ? new UserError('upstream-broke-off', "the input stopped before its 'end' record: the stage before this one died", {
        hint: 'run the same command line again: it carries on',
      })
    : new UserError('upstream-incomplete', `${end.stage} did not finish`, {
        hint: 'see what it said, then run the same command line again',
      })
}
