import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestRun } from '@buildwave/core'
import { type CheckResult, runCheck } from '@buildwave/engine'
import { type Found, type Runner, readResults } from './runner.ts'
import { bundleFrom, type Suite } from './suite.ts'

export interface TestRequest {
  /** The stage that asks, for the container's label. */
  stage: string
  /** What is tested, for the container's name. */
  name: string
  commit: string
  /** Where the output goes, relative to the run's folder; its folder exists. */
  log: string
  /** A runner other than the suite's: fewer tests. */
  runner?: Runner
  signal?: AbortSignal
}

/**
 * Runs the tests on a commit in a fresh container without a network, ended with all its processes at the run's
 * `testMinutes`. Rejects with the signal's reason when aborted.
 *
 * `error` is a command that could not be run at all: not found (126, 127), or pytest without results and one of its
 * statuses 2 to 5 (interrupted, internal error, usage, nothing collected). Green needs both exit 0 and no failed test: a
 * report and a status that disagree are red.
 */
export async function runTests(suite: Suite, request: TestRequest): Promise<TestRun> {
  const { run, layer } = suite
  const runner = request.runner ?? suite.runner
  const logFile = join(suite.paths.dir, request.log)
  const result = await runCheck(suite.engine, {
    run: run.run,
    stage: request.stage,
    name: request.name,
    layer,
    commit: request.commit,
    bundle: request.commit === layer.start ? null : bundleFrom(suite.repo),
    image: suite.image,
    command: ['sh', '-c', runner.command],
    env: runner.env,
    limits: run.limits,
    ttlSeconds: Math.ceil(run.limits.testMinutes * 60),
    wants: runner.report === null ? [] : [runner.report],
    removePaths: reportInWork(runner),
    logFile,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  })
  const report = runner.report === null ? null : (result.files.get(runner.report) ?? null)
  const found = readResults(runner, { report, log: await readFile(logFile, 'utf8') })
  return {
    verdict: verdictOf(result, found),
    exit: result.exit,
    runner: found.runner,
    tests: result.timedOut ? null : found.tests,
    log: request.log,
    seconds: result.seconds,
  }
}

/** A report that lies in the repository is removed before the command: one that was committed must not be taken for ours. */
function reportInWork(runner: Runner): string[] {
  return runner.report?.startsWith('/work/') ? [runner.report.slice('/work/'.length)] : []
}

function verdictOf(result: CheckResult, { runner, tests }: Found): TestRun['verdict'] {
  if (result.timedOut) return 'timed-out'
  if (result.exit === null) return 'error'
  if (tests !== null && Object.keys(tests).length > 0)
    return result.exit === 0 && !Object.values(tests).includes('failed') ? 'green' : 'red'
  const isUnrun = result.exit === 126 || result.exit === 127
  const isPytestUnrun = runner === 'pytest' && result.exit >= 2 && result.exit <= 5
  if (isUnrun || isPytestUnrun) return 'error'
  return result.exit === 0 ? 'green' : 'red'
}
