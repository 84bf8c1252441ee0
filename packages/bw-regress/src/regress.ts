import { mkdir } from 'node:fs/promises'
import { relative } from 'node:path'
import { checkRegression, eachInHand, openSuiteOf, regressionKey, type Suite } from '@buildwave/checks'
import { type ExitStatus, exit, type PatchRecord, patchRecord, type RegressionRecord, UserError } from '@buildwave/core'
import type { Engine } from '@buildwave/engine'
import type { Stage } from '@buildwave/stage'

export interface RegressSettings {
  /** Item slugs to ask about; none: every patch of the input. */
  items: readonly string[]
  /** Which changed files are the tests; none: those that look like tests. */
  testGlobs: readonly string[]
  parallel: number
}

/**
 * Asks of each collected patch whether its tests fail without the rest of it, and writes a `regression` record. Whoever puts
 * this stage into a pipe wants proof: anything but `proven` is a problem (exit 5).
 */
export async function checkPatches(
  stage: Stage,
  settings: RegressSettings,
  engine: () => Promise<Engine>,
): Promise<ExitStatus[]> {
  const statuses: ExitStatus[] = []
  const asked = new Set<string>()
  let opened: Promise<Suite> | undefined
  await eachInHand(patches(stage, settings.items), settings.parallel, async (patch) => {
    asked.add(patch.item)
    opened ??= engine().then((found) => openSuiteOf(stage, found))
    const { verdict } = await checkPatch(stage, { suite: await opened, settings }, patch)
    statuses.push(verdict === 'proven' ? exit.ok : exit.problem)
  })
  const missed = settings.items.find((item) => !asked.has(item))
  if (missed === undefined) return statuses
  throw new UserError('no-such-patch', `no patch of item '${missed}' in the input`, {
    hint: 'items are named by their slug, as in the records',
  })
}

async function* patches(stage: Stage, wanted: readonly string[]): AsyncGenerator<PatchRecord> {
  for await (const record of stage.input()) {
    if (record.kind !== 'patch') continue
    const patch = patchRecord.parse(record)
    if (patch.commit !== null && (wanted.length === 0 || wanted.includes(patch.item))) yield patch
  }
}

async function checkPatch(
  stage: Stage,
  { suite, settings }: { suite: Suite; settings: RegressSettings },
  patch: PatchRecord,
): Promise<Pick<RegressionRecord, 'verdict'>> {
  const item = stage.items().find((known) => known.item === patch.item)
  if (item === undefined) {
    throw new UserError('missing-records', `the input lacks the item record of '${patch.item}'`, {
      hint: 'give the whole stream of bw-collect, or name the run with --run',
    })
  }
  const files = stage.paths.attempt(patch.item, patch.attempt)
  const request = {
    stage: stage.name,
    item,
    patch,
    testGlobs: settings.testGlobs,
    log: relative(stage.paths.dir, files.regressionLog),
    signal: stage.interrupt.now,
  }
  const known = stage.findByKey('regression', regressionKey(suite, request))
  if (known !== undefined) {
    await stage.passOn(known)
    return { verdict: known['verdict'] === 'proven' ? 'proven' : 'unproven' }
  }
  await mkdir(files.dir, { recursive: true, mode: 0o700 })
  const record = await checkRegression(suite, request)
  await stage.emit(record)
  return record
}
