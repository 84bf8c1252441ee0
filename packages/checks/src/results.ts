import type { TestOutcome } from '@buildwave/core'

/**
 * Per-test results while they are being read. A report is written by code that a builder may have changed, so its size is
 * bounded: past a bound it counts as unreadable, and the run falls back to what its exit status says.
 */
export interface Results {
  add(name: string, outcome: TestOutcome): void
  /** Name to outcome, names sorted; null when a bound was passed. */
  done(): Record<string, TestOutcome> | null
}

/** Tests in one report; the largest public suites we know of have fewer than half as many. */
const maxTests = 200_000

/** UTF-16 units of all names together: keeps a record well below the 16 MiB that a line may have. */
const maxNames = 6_000_000

/** Longer names are cut: a parametrised test may carry a whole document in its name. */
const maxName = 2_000

/** Worse outcomes win, so that a second entry of the same name cannot hide a failure. */
const weight: Record<TestOutcome, number> = { passed: 0, skipped: 1, failed: 2 }

export function collectResults(): Results {
  const tests = new Map<string, TestOutcome>()
  let length = 0
  return {
    add(name, outcome) {
      const key = name.slice(0, maxName)
      const known = tests.get(key)
      if (known === undefined) length += key.length
      if (tests.size > maxTests || length > maxNames) return
      if (known === undefined || weight[outcome] > weight[known]) tests.set(key, outcome)
    },
    done() {
      if (tests.size > maxTests || length > maxNames) return null
      return Object.fromEntries([...tests].sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

/** For formats in which an output of another kind cannot be told from one without tests. */
export function emptyAsNull(tests: Record<string, TestOutcome> | null): Record<string, TestOutcome> | null {
  return tests === null || Object.keys(tests).length === 0 ? null : tests
}
