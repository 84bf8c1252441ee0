import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import {
  compareTests,
  ensureBaseline,
  openSuiteOf,
  runTests,
  type Suite,
  splitFlaky,
  suiteKey,
  withPatches,
} from '@buildwave/checks'
import {
  type BaselineRecord,
  type ExitStatus,
  exit,
  type IntegrationRecord,
  integrationRecord,
  type TestChanges,
  type TestRun,
  UserError,
  type VerificationRecord,
} from '@buildwave/core'
import type { Engine } from '@buildwave/engine'
import type { Stage } from '@buildwave/stage'
import type { AnyRecord } from '@buildwave/stdio'
import { workKey } from '@buildwave/store'
import { blame } from './blame.ts'
import { type Layer, readLayers, unionGlobs } from './stack-sets.ts'

export interface VerifySettings {
  /** How many sets of items are tested at once while culprits are sought. */
  parallel: number
}

export interface VerifyDoors {
  engine: () => Promise<Engine>
  /** Told of the verdict, whether made now or found. */
  show: (record: VerificationRecord) => void
}

/**
 * Runs the whole suite on the head of the stack and writes the `verification` record, once the stages before have finished.
 * A verdict holds for a tree, an image and a command: where the journal has it, nothing is run.
 */
export async function verifyHead(stage: Stage, settings: VerifySettings, doors: VerifyDoors): Promise<ExitStatus[]> {
  const { integration, history } = await readInput(stage)
  const suite = await openSuiteOf(stage, await doors.engine())
  const baseline = await ensureBaseline(suite, stage)
  const record = await verdictOn(stage, { suite, baseline, integration, history, settings })
  doors.show(record)
  return [record.verdict === 'green' ? exit.ok : exit.problem]
}

interface Input {
  integration: IntegrationRecord
  /** What the journal and the input tell of the merged patches. */
  history: readonly AnyRecord[]
}

async function readInput(stage: Stage): Promise<Input> {
  let integration: IntegrationRecord | undefined
  const read: AnyRecord[] = []
  for await (const record of stage.input()) {
    if (record.kind === 'integration') integration = integrationRecord.parse(record)
    if (record.kind === 'patch' || record.kind === 'merge') read.push(record)
  }
  if (integration !== undefined) return { integration, history: [...stage.journal.records(), ...read] }
  throw new UserError('nothing-to-verify', 'no integration record in the input', {
    hint: 'pipe bw-merge into it, or run bw-merge --run RUN first',
  })
}

interface Question {
  suite: Suite
  baseline: BaselineRecord
  integration: IntegrationRecord
  history: readonly AnyRecord[]
  settings: VerifySettings
}

async function verdictOn(stage: Stage, question: Question): Promise<VerificationRecord> {
  const { suite, baseline, integration } = question
  const { head, tree } = integration
  const key = workKey('verification', tree, suiteKey(suite), baseline.key)
  const known = stage.findByKey('verification', key) as VerificationRecord | undefined
  if (known?.head === head) {
    await stage.passOn(known)
    return known
  }
  const evidence = known ?? (await gatherEvidence(stage, question))
  const record: VerificationRecord = {
    kind: 'verification',
    v: 1,
    run: stage.run.run,
    key,
    at: new Date().toISOString(),
    head,
    tree,
    verdict: evidence.verdict,
    result: evidence.result,
    changes: evidence.changes,
    culprits: evidence.culprits,
  }
  await stage.emit(record)
  return record
}

type Evidence = Pick<VerificationRecord, 'verdict' | 'result' | 'changes' | 'culprits'>

async function gatherEvidence(stage: Stage, question: Question): Promise<Evidence> {
  const { suite, baseline, integration, history, settings } = question
  await mkdir(stage.paths.verify, { recursive: true, mode: 0o700 })
  const layers = await readLayers(suite, integration, history)
  const request = {
    stage: stage.name,
    name: 'head',
    commit: integration.head,
    log: relative(stage.paths.dir, join(stage.paths.verify, `${integration.tree}.log`)),
    signal: stage.interrupt.now,
  }
  const result = integration.head === suite.run.base ? baseline.result : await runTests(suite, request)
  const reference = { commit: suite.run.base, result: baseline.result }
  const compared = compareStack({ baseline: baseline.result, layers, now: result })
  const changes = await splitFlaky(suite, {
    reference,
    now: result,
    changes: compared,
    request,
    slots: settings.parallel,
  })
  if (changes.verdict === 'ok') return { verdict: 'green', result, changes, culprits: [] }
  const culprits = await blame(suite, {
    stage: stage.name,
    layers,
    shared: unionGlobs(stage.run, integration),
    baseline: baseline.result,
    changes,
    slots: settings.parallel,
    signal: stage.interrupt.now,
  })
  return { verdict: 'red', result, changes, culprits }
}

/** Compared with the baseline; a test that an item added and that is gone or skipped in the whole is a loss as well. */
function compareStack(given: { baseline: TestRun; layers: readonly Layer[]; now: TestRun }): TestChanges {
  const { baseline, layers, now } = given
  const changes = compareTests(baseline, now)
  const alone = compareTests(
    withPatches(
      baseline,
      layers.map(({ patch }) => patch),
    ),
    now,
  )
  const { newlySkipped, vanished } = alone
  return { ...changes, newlySkipped, vanished, verdict: alone.verdict === 'worse' ? 'worse' : changes.verdict }
}
