import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BaselineRecord, baselineRecord, type TestRun, UserError } from '@buildwave/core'
import { safeText } from '@buildwave/secrets'
import { workKey } from '@buildwave/store'
import { runTests } from './run-tests.ts'
import { type Suite, suiteKey } from './suite.ts'

/** The baseline's output, relative to the run's folder. */
export const baselineLog = 'baseline.log'

const shownLines = 10

/** The part of a stage that results go through; every stage has it. */
export interface ResultDoor {
  readonly name: string
  /** The journal's result of this kind and key, unless the work is to be done again. */
  findByKey(kind: string, key: string): { kind: string; [field: string]: unknown } | undefined
  emit(record: { kind: string; [field: string]: unknown }): Promise<void>
  passOn(record: { kind: string; [field: string]: unknown }): Promise<void>
  readonly interrupt: { readonly now: AbortSignal }
}

/**
 * The baseline of a run: passed on from the journal where it is there for the same base, image, command and limits, else
 * made now and emitted. Red is usable: what fails at the base is blamed on nobody.
 *
 * Throws UserError `unusable-baseline` with the end of the output when the command cannot be run or does not end in time;
 * nothing is recorded then.
 */
export async function ensureBaseline(suite: Suite, stage: ResultDoor): Promise<BaselineRecord> {
  const key = baselineKey(suite)
  const known = stage.findByKey('baseline', key)
  if (known !== undefined) {
    await stage.passOn(known)
    return baselineRecord.parse(known)
  }
  const result = await runTests(suite, {
    stage: stage.name,
    name: 'baseline',
    commit: suite.run.base,
    log: baselineLog,
    signal: stage.interrupt.now,
  })
  await refuseUnusable(suite, result)
  const record: BaselineRecord = {
    kind: 'baseline',
    v: 1,
    run: suite.run.run,
    key,
    at: new Date().toISOString(),
    base: suite.run.base,
    image: suite.image,
    result,
  }
  await stage.emit(record)
  return record
}

/** The baseline's key, from what its result rests on. */
export function baselineKey(suite: Suite): string {
  return workKey('baseline', suiteKey(suite), suite.run.base)
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
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.slice(-shownLines).map((line) => safeText(line))
}
