import { eachInHand, ensureBaseline, openSuiteOf } from '@buildwave/checks'
import {
  type BuilderRecord,
  type BuildRecord,
  builderRecord,
  buildRecord,
  type ExitStatus,
  exit,
  type FailureRecord,
  type PatchRecord,
  patchRecord,
  UserError,
} from '@buildwave/core'
import { type Engine, removeAttempt } from '@buildwave/engine'
import type { Stage } from '@buildwave/stage'
import type { Attempt } from './gather.ts'
import { type CollectSettings, type Ground, makePatch, patchKey } from './patch.ts'

export interface CollectDoors {
  engine: () => Promise<Engine>
  /** Told of each patch, whether made now or found. */
  show: (patch: PatchRecord) => void
}

/**
 * Turns each ended attempt into a commit and a `patch` record: collected, compared with the scope, its tests run again in a
 * fresh container. For bugfix items a `regression` record goes before it. What a builder says about itself is not read.
 * One attempt's trouble is a `failure` record; the others go on.
 */
export async function collectBuilds(
  stage: Stage,
  settings: CollectSettings & { parallel: number },
  doors: CollectDoors,
): Promise<ExitStatus[]> {
  const statuses: ExitStatus[] = []
  let ground: Promise<Ground> | undefined
  await eachInHand(attempts(stage), settings.parallel, async (attempt) => {
    ground ??= layGround(stage, doors.engine)
    statuses.push(await collectOne(stage, { ground: await ground, settings, show: doors.show }, attempt))
  })
  return statuses
}

async function layGround(stage: Stage, engine: () => Promise<Engine>): Promise<Ground> {
  const suite = await openSuiteOf(stage, await engine())
  return { suite, baseline: await ensureBaseline(suite, stage) }
}

async function* attempts(stage: Stage): AsyncGenerator<Attempt> {
  const builders = new Map<string, BuilderRecord>()
  for await (const record of stage.input()) {
    if (record.kind === 'builder') {
      const builder = builderRecord.parse(record)
      builders.set(nameOf(builder), builder)
    }
    if (record.kind !== 'build') continue
    const build = buildRecord.parse(record)
    const builder = builders.get(nameOf(build))
    const item = stage.items().find((known) => known.item === build.item)
    if (builder === undefined || item === undefined) throw missingRecords(build)
    yield { item, builder, build, earlier: earlierPatch(stage, build) }
  }
}

/**
 * Once the patch is recorded its commit is referenced, so the attempt's containers and volumes can go; not before, and not
 * at all when the work could not be collected.
 */
async function collectOne(
  stage: Stage,
  { ground, settings, show }: { ground: Ground; settings: CollectSettings; show: CollectDoors['show'] },
  attempt: Attempt,
): Promise<ExitStatus> {
  const { item, attempt: number } = attempt.build
  const known = stage.findByKey('patch', patchKey(ground, settings, attempt))
  try {
    const patch =
      known === undefined ? await addPatch(stage, { ground, settings }, attempt) : await repeat(stage, known)
    show(patch)
    await removeAttempt(ground.suite.engine, { run: stage.run.run, item, attempt: number })
    return patch.verdict === 'ok' ? exit.ok : exit.problem
  } catch (error) {
    if (!(error instanceof UserError) || !itemFailures.has(error.code)) throw error
    await stage.emit(failureOf(stage, attempt.build, error))
    return error.status === exit.failed ? exit.problem : error.status
  }
}

async function addPatch(
  stage: Stage,
  { ground, settings }: { ground: Ground; settings: CollectSettings },
  attempt: Attempt,
): Promise<PatchRecord> {
  const { regression, patch } = await makePatch(stage, { ground, settings }, attempt)
  if (regression !== null) await stage.emit(regression)
  await stage.emit(patch)
  return patch
}

/** The patch that the journal has, after the regression that was written with it. */
async function repeat(stage: Stage, patch: { kind: string; [field: string]: unknown }): Promise<PatchRecord> {
  const regression = stage.journal.records().findLast((record) => {
    return record.kind === 'regression' && record['item'] === patch['item'] && record['attempt'] === patch['attempt']
  })
  if (regression !== undefined) await stage.passOn(regression)
  await stage.passOn(patch)
  return patchRecord.parse(patch)
}

function earlierPatch(stage: Stage, { item, attempt }: BuildRecord): PatchRecord | null {
  const found = stage.journal.records().findLast((record) => {
    return record.kind === 'patch' && record['item'] === item && record['attempt'] === attempt
  })
  return found === undefined ? null : patchRecord.parse(found)
}

/** What can be wrong with one attempt's work; anything else is the tool's own failure. */
const itemFailures: ReadonlySet<string> = new Set([
  'attempt-gone',
  'nested-repository',
  'uncollectable',
  'pack-unusable',
  'object-unusable',
])

function failureOf(stage: Stage, { item, attempt }: BuildRecord, error: UserError): FailureRecord {
  return {
    kind: 'failure',
    v: 1,
    run: stage.run.run,
    item,
    attempt,
    at: new Date().toISOString(),
    stage: stage.name,
    code: error.code,
    message: error.message,
    hint: error.hint ?? null,
  }
}

function missingRecords({ item }: BuildRecord): UserError {
  return new UserError('missing-records', `'${item}' was built but the input lacks its item or builder record`, {
    hint: 'give the whole stream of bw-watch, or name the run with --run',
  })
}

function nameOf({ item, attempt }: { item: string; attempt: number }): string {
  return `${item}/${attempt}`
}
