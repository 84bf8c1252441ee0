import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BaselineRecord, baselineRecord, type TestRun, UserError } from '@buildwave/core'
import { type Journal, workKey } from '@buildwave/store'
import { runTests } from './run-tests.ts'
import type { Suite } from './suite.ts'

/** The baseline's output, relative to the run's folder. */
export const baselineLog = 'baseline.log'

const shownLines = 10

export interface BaselineRequest {
  /** The stage that asks. */
  stage: string
  journal: Pick<Journal, 'records' | 'append'>
  /** ISO 8601, for the record. */
  now: () => string
  /** True runs the tests even where the journal has a result. */
  again?: boolean
  signal?: AbortSignal
}

/**
 * The baseline of a run: from the journal where it is there for the same base, image, command and limits, else made now and
 * appended to the journal. Red is usable: what fails at the base is blamed on nobody.
 *
 * Throws UserError `unusable-baseline` with the end of the output when the command cannot be run or does not end in time;
 * nothing is recorded then.
 */
export async function ensureBaseline(suite: Suite, request: BaselineRequest): Promise<BaselineRecord> {
  const key = baselineKey(suite)
  const known = request.again === true ? undefined : findBaseline(request.journal, key)
  if (known !== undefined) return known
  const result = await runTests(suite, {
    stage: request.stage,
    name: 'baseline',
    commit: suite.run.base,
    log: baselineLog,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  })
  await refuseUnusable(suite, result)
  const record: BaselineRecord = {
    kind: 'baseline',
    v: 1,
    run: suite.run.run,
    key,
    at: request.now(),
    base: suite.run.base,
    image: suite.image,
    result,
  }
  request.journal.append(record)
  return record
}

/** What a test result rests on besides the commit: image, command, report, set-up and limits. */
export function suiteKey(suite: Suite): string {
  const { run, image } = suite
  return workKey('suite', image, run.test, run['junit'] ?? null, run.setup, run.limits)
}

/** The baseline's key, from what its result rests on. */
export function baselineKey(suite: Suite): string {
  return workKey('baseline', suiteKey(suite), suite.run.base)
}

function findBaseline(journal: BaselineRequest['journal'], key: string): BaselineRecord | undefined {
  const found = journal.records().findLast((record) => record.kind === 'baseline' && record['key'] === key)
  return found === undefined ? undefined : baselineRecord.parse(found)
}

async function refuseUnusable({ run, paths }: Suite, result: TestRun): Promise<void> {
  if (result.verdict === 'green' || result.verdict === 'red') return
  const why =
    result.verdict === 'timed-out'
      ? `did not end within ${run.limits.testMinutes} minutes at the base`
      : `cannot be run at the base (exit ${result.exit ?? 'unknown'})`
  const output = await lastLines(join(paths.dir, baselineLog))
  throw new UserError('unusable-baseline', [`the test command '${run.test}' ${why}`, ...output].join('\n  '), {
    hint:
      result.verdict === 'timed-out'
        ? 'name a faster command with --test, or raise limits.testMinutes'
        : 'name a command with --test, and build an image that has what it needs with bw-image --project',
  })
}

async function lastLines(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-shownLines)
}
