/** An attempt as text for people. Pure. Everything that a builder could have written is masked and escaped. */
import {
  type FindingRecord,
  findingRecord,
  type PatchRecord,
  type RegressionRecord,
  type ScanRecord,
  type TestChanges,
  type TestRun,
} from '@buildwave/core'
import { safeText } from '@buildwave/secrets'
import type { JournalRecord } from '@buildwave/store'
import type { Shown } from './show.ts'

/** One line a result, with the lines that explain it below, in the order in which they came. */
export function attemptText({ item, attempt, attempts, records }: Shown): string[] {
  return [`${item.item}: ${item.title}`, `attempt ${attempt} of ${attempts}`, ...records.flatMap(recordText)].map(
    (line) => safeText(line),
  )
}

function recordText(record: JournalRecord): string[] {
  const of = (name: string) => String(record[name] ?? '')
  const line = (text: string) => `${record.kind.padEnd(12)} ${text}`
  switch (record.kind) {
    case 'builder':
      return [line(`${of('agent')} from ${short(record['start'])}, ${of('at')}`)]
    case 'build':
      return [
        line(`${of('outcome')} after ${Math.round(Number(record['seconds']))} s, ${of('turns')} turns`),
        ...said(record),
      ]
    case 'patch':
      return patchLines(record as unknown as PatchRecord, line)
    case 'regression': {
      const { verdict, failedWithoutFix } = record as unknown as RegressionRecord
      return [line(verdict), ...named('failed without the fix', failedWithoutFix)]
    }
    case 'finding':
      return [line(findingText(findingRecord.parse(record)))]
    case 'scan': {
      const { verdict, findings, incomplete } = record as unknown as ScanRecord
      return [line(`${verdict}, ${findings} findings`), ...incomplete.map(({ file, reason }) => `  ${file}: ${reason}`)]
    }
    case 'merge':
      return [line([of('outcome'), of('message')].filter((part) => part !== '').join(': '))]
    case 'failure':
      return [line(`${of('stage')}: ${of('message')}`)]
    case 'verification':
      return [
        line(`${of('verdict')} on ${short(record['head'])}`),
        ...changeLines(record['changes'] as TestChanges),
        ...named('culprits', record['culprits'] as string[]),
      ]
    case 'delivery':
      return [line(`${of('ref')} at ${short(record['oid'])}`)]
    default:
      return []
  }
}

function patchLines(patch: PatchRecord, line: (text: string) => string): string[] {
  const { verdict, blockedBy, commit, files, outOfScope, tests, changes } = patch
  const owner = new Map(outOfScope.map(({ path, ownedBy }) => [path, ownedBy]))
  const scope = (path: string) => {
    const by = owner.get(path)
    return by === undefined ? '' : ` (out of scope${by === null ? '' : `, ${by}'s`})`
  }
  return [
    line(
      `${verdict === 'ok' ? 'ok' : `blocked: ${blockedBy.join(', ')}`}, ${commit === null ? 'nothing changed' : short(commit)}`,
    ),
    ...files.map(({ path, status }) => `  ${status.padEnd(12)} ${path}${scope(path)}`),
    `  tests        ${testText(tests)}`,
    ...(changes === null ? [] : changeLines(changes)),
  ]
}

function testText(tests: TestRun | null): string {
  if (tests === null) return 'not run'
  if (tests.tests === null) return tests.verdict
  const outcomes = Object.values(tests.tests)
  const count = (outcome: string) => outcomes.filter((each) => each === outcome).length
  const parts = ['passed', 'failed', 'skipped'].map((outcome) => [count(outcome), outcome] as const)
  return `${tests.verdict}: ${parts
    .filter(([n, of]) => n > 0 || of === 'passed')
    .map((part) => part.join(' '))
    .join(', ')}`
}

function changeLines(changes: TestChanges): string[] {
  return [
    ...named('newly failing', changes.newlyFailing),
    ...named('newly skipped', changes.newlySkipped),
    ...named('vanished', changes.vanished),
    ...named('fixed', changes.fixed),
    ...named('flaky', changes.flaky),
  ]
}

function findingText({ rule, file, line, masked, via, allowed }: FindingRecord): string {
  const where = line === null ? file : `${file}:${line}`
  return `${rule} in ${where}: ${masked}${via.length === 0 ? '' : ` via ${via.join(', ')}`}${allowed ? ' (allowed)' : ''}`
}

const mostNames = 20

function named(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return []
  const more = names.length > mostNames ? [`    and ${names.length - mostNames} more`] : []
  return [`  ${what}:`, ...names.slice(0, mostNames).map((name) => `    ${name}`), ...more]
}

function said(record: JournalRecord): string[] {
  const message = String(record['message'] ?? '')
  return message === '' ? [] : [`  ${message}`]
}

function short(oid: unknown): string {
  return String(oid).slice(0, 10)
}
