import type { TestOutcome } from '@buildwave/core'
import { collectResults, emptyAsNull } from './results.ts'

const outcomes = new Map<unknown, TestOutcome>([
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['pending', 'skipped'],
  ['skipped', 'skipped'],
  ['todo', 'skipped'],
  ['disabled', 'skipped'],
])

/**
 * The per-test results of the JSON report that jest and vitest (`--reporter=json`) share, or null when the bytes are not one.
 * Names are `file > group > test`, the file relative to `root`, the folder the tests ran in. A file that failed before any of
 * its tests ran is itself a failed entry.
 */
export function parseJestJson(report: Buffer, root: string): Record<string, TestOutcome> | null {
  const files = list(readObject(report)['testResults'])
  const results = collectResults()
  for (const file of files) {
    const path = text(file['name'])
    const name = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
    const tests = list(file['assertionResults'])
    if (tests.length === 0 && file['status'] === 'failed') results.add(name, 'failed')
    for (const test of tests) {
      const groups = Array.isArray(test['ancestorTitles']) ? test['ancestorTitles'].map(text) : []
      const outcome = outcomes.get(test['status'])
      const title = [name, ...groups, text(test['title'])].filter((part) => part !== '').join(' > ')
      if (outcome !== undefined) results.add(title, outcome)
    }
  }
  return emptyAsNull(results.done())
}

type Fields = Record<string, unknown>

function readObject(report: Buffer): Fields {
  try {
    const value: unknown = JSON.parse(report.toString('utf8'))
    return isFields(value) ? value : {}
  } catch {
    return {}
  }
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
