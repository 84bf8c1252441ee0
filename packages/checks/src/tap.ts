import type { TestOutcome } from '@buildwave/core'
import { collectResults, emptyAsNull } from './results.ts'

/** A point of the protocol: `ok 3 - name # SKIP reason`. */
const point = /^( *)(not )?ok\b(?: +\d+)?(?: +-)? *(.*?)(?: +# *(skip|todo)\b.*)?$/i

/** Where a nested group says its name: node:test writes `# Subtest: name` above the group's points. */
const subtest = /^( *)# Subtest: (.*)$/

const maxDepth = 64

/**
 * The per-test results of output in the Test Anything Protocol, or null when it holds none. Nested points are named
 * `group > test`; the point that sums a group up is an entry too, since a group can fail in its set-up without any of its
 * tests failing. `# SKIP` and `# TODO` are `skipped`. Lines that are not of the protocol are passed over, so a whole log can
 * be given.
 */
export function parseTap(text: string): Record<string, TestOutcome> | null {
  const results = collectResults()
  const groups: string[] = []

  for (const line of text.split('\n')) {
    const group = subtest.exec(line)
    if (group !== null) {
      const depth = depthOf(group[1])
      groups.length = Math.min(depth, groups.length)
      if (depth < maxDepth) groups[depth] = group[2] ?? ''
      continue
    }
    const found = point.exec(line)
    if (found === null) continue
    const depth = depthOf(found[1])
    const path = [...groups.slice(0, depth), (found[3] ?? '').trim() || `test ${line.trim()}`]
    results.add(path.join(' > '), outcomeOf(found[2] !== undefined, found[4]))
  }
  return emptyAsNull(results.done())
}

function depthOf(indent: string | undefined): number {
  return Math.floor((indent ?? '').length / 4)
}

function outcomeOf(isNot: boolean, directive: string | undefined): TestOutcome {
  if (directive !== undefined) return 'skipped'
  return isNot ? 'failed' : 'passed'
}
