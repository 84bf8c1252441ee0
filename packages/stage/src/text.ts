/** One line of text a record, for stdout on a terminal. What a builder could have written is masked and escaped. */

import { maskText, printable } from '@buildwave/secrets'
import type { AnyRecord } from '@buildwave/stdio'

export function recordAsText(record: AnyRecord): string | undefined {
  const detail = describe(record)
  if (detail === undefined) return undefined
  const subject = typeof record['item'] === 'string' ? record['item'] : String(record['run'] ?? '')
  return printable(maskText(`${record.kind.padEnd(12)} ${subject.padEnd(24)} ${detail}`)).trimEnd()
}

function describe(record: AnyRecord): string | undefined {
  const get = (name: string) => record[name]
  switch (record.kind) {
    case 'run':
      return `base ${short(get('base'))}, tests: ${String(get('test'))}`
    case 'item':
      return `wave ${get('done') === true ? 'done' : String(get('wave') ?? '-')}  ${String(get('title'))}`
    case 'baseline':
      return describeTests(get('result'))
    case 'builder':
      return `attempt ${String(get('attempt'))} started from ${short(get('start'))} with ${String(get('agent'))}`
    case 'deferred':
    case 'failure':
      return String(get('message'))
    case 'build':
      return `${String(get('outcome'))} after ${Math.round(Number(get('seconds')))} s`
    case 'patch':
      return describePatch(record)
    case 'regression':
      return String(get('verdict'))
    case 'finding':
      return `${String(get('rule'))} in ${String(get('file'))}: ${String(get('masked'))}`
    case 'scan':
      return `${String(get('verdict'))}, ${String(get('findings'))} findings`
    case 'merge':
      return `${String(get('outcome'))}${get('message') === '' ? '' : `: ${String(get('message'))}`}`
    case 'integration':
      return `${String(get('branch'))} at ${short(get('head'))}`
    case 'verification':
      return `${String(get('verdict'))} on ${short(get('head'))}, ${describeTests(get('result'))}`
    case 'delivery':
      return `${String(get('ref'))} at ${short(get('oid'))}`
    default:
      return undefined
  }
}

function describePatch(record: AnyRecord): string {
  const files = Array.isArray(record['files']) ? record['files'].length : 0
  const blockedBy = Array.isArray(record['blockedBy']) ? record['blockedBy'].join(', ') : ''
  const verdict = record['verdict'] === 'ok' ? 'ok' : `blocked: ${blockedBy}`
  return `${files} files, ${describeTests(record['tests'])}, ${verdict}`
}

function describeTests(result: unknown): string {
  if (typeof result !== 'object' || result === null) return 'tests not run'
  const { verdict, tests } = result as { verdict?: unknown; tests?: Record<string, string> | null }
  if (tests === null || tests === undefined) return `tests ${String(verdict)}`
  const count = (outcome: string) => Object.values(tests).filter((value) => value === outcome).length
  const parts = ['passed', 'failed', 'skipped'].map((outcome) => [count(outcome), outcome] as const)
  return `tests ${String(verdict)} (${parts
    .filter(([n, o]) => n > 0 || o === 'passed')
    .map(([n, o]) => `${n} ${o}`)
    .join(', ')})`
}

function short(oid: unknown): string {
  return String(oid).slice(0, 10)
}
