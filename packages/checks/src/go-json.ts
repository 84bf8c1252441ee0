import type { TestOutcome } from '@buildwave/core'
import { collectResults, emptyAsNull } from './results.ts'

const outcomes = new Map<unknown, TestOutcome>([
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['skip', 'skipped'],
])

/**
 * The per-test results of `go test -json`, or null when the text holds none. Names are `package.Test/subtest`; a package
 * that fails without a failing test (it does not build, it panics in TestMain) is itself a failed entry. Lines that are not
 * events are passed over, since a build error is printed between them.
 */
export function parseGoJson(text: string): Record<string, TestOutcome> | null {
  const results = collectResults()
  for (const line of text.split('\n')) {
    const event = readEvent(line)
    const outcome = outcomes.get(event?.['Action'])
    if (event === null || outcome === undefined || typeof event['Package'] !== 'string') continue
    const test = event['Test']
    if (typeof test === 'string') results.add(`${event['Package']}.${test}`, outcome)
    else if (outcome === 'failed') results.add(event['Package'], outcome)
  }
  return emptyAsNull(results.done())
}

/** The line's JSON object with a start such as `go test -json` writes, else null. */
function readEvent(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{"')) return null
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
