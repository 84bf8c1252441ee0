import { mkdir } from 'node:fs/promises'
import { relative } from 'node:path'
import { checkRegression, type Suite, suiteKey } from '@buildwave/checks'
import type { BaselineRecord, BuildOutcome, PatchRecord, RegressionRecord } from '@buildwave/core'
import { type Change, changedFiles, listChanges, patchDigest } from '@buildwave/git'
import type { Stage } from '@buildwave/stage'
import { workKey } from '@buildwave/store'
import { type Attempt, type Gathered, gather } from './gather.ts'
import { type Judgement, judge, testBlocks } from './judge.ts'
import { escapingLinks } from './links.ts'
import { oversizeFiles } from './oversize.ts'
import { outOfScope } from './scope.ts'

export interface CollectSettings {
  /** What a file outside of an item's scope does: `flag` reports it, `block` stops the item too. */
  scope: 'flag' | 'block'
}

/** What every patch of a run is judged on. */
export interface Ground {
  suite: Suite
  baseline: BaselineRecord
}

export interface Made {
  patch: PatchRecord
  /** For bugfix items with something to test. */
  regression: RegressionRecord | null
}

interface Means {
  ground: Ground
  settings: CollectSettings
}

/** Outcomes after which the agent may have finished its work: these are tested, after the others the work is only kept. */
const tested: ReadonlySet<BuildOutcome> = new Set(['done', 'empty', 'failed', 'stalled', 'timed-out', 'limit'])

/** Outcomes that leave the verdict to the evidence; after any other the patch is shown and blocked. */
const unblamed: ReadonlySet<BuildOutcome> = new Set(['done', 'empty'])

/** What a patch rests on besides the builder's files. */
export function patchKey({ suite, baseline }: Ground, settings: CollectSettings, attempt: Attempt): string {
  const { item, builder, build } = attempt
  const work = [item, builder.start, build.attempt, build.key, build.at]
  return workKey('patch', ...work, settings.scope, suite.run.shared, suiteKey(suite), baseline.key)
}

/**
 * Collects an attempt, runs its tests and says what stands against it. `blockedBy` holds, in this order: `build-failed`,
 * `no-changes`, `nested-repository`, `file-too-large`, `out-of-scope`, `tests-worse` (or `tests-timed-out`,
 * `tests-unrunnable`), `tests-edited`, `regression-unproven` (or `-untested`, `-unknown`). Throws UserError when the work cannot be collected.
 */
export async function makePatch(stage: Stage, { ground, settings }: Means, attempt: Attempt): Promise<Made> {
  const { suite } = ground
  const { item, builder, build } = attempt
  const { tree, commit } = await gather(suite, attempt)
  const changes = commit === null ? [] : await listChanges(suite.repo, builder.start, commit)
  const paths = changes.map(({ path }) => path)
  const work: Work = {
    commit,
    tree,
    changes,
    outOfScope: outOfScope(paths, { item, items: stage.items(), run: stage.run }),
    oversize: await oversizeFiles(suite.repo, changes),
  }
  const evidence = await gatherEvidence(stage, ground, { attempt, work })
  const blockedBy = [...workBlocks(attempt, work, settings), ...evidence.blocks]
  const patch: PatchRecord = {
    kind: 'patch',
    v: 1,
    run: stage.run.run,
    item: build.item,
    attempt: build.attempt,
    key: patchKey(ground, settings, attempt),
    at: new Date().toISOString(),
    commit,
    start: builder.start,
    tree,
    digest: commit === null ? null : await patchDigest(suite.repo, commit),
    files: commit === null ? [] : await changedFiles(suite.repo, builder.start, commit),
    outOfScope: work.outOfScope,
    tests: evidence.judgement?.tests ?? null,
    changes: evidence.judgement?.changes ?? null,
    verdict: blockedBy.length === 0 ? 'ok' : 'blocked',
    blockedBy,
    restored: evidence.judgement?.restored ?? null,
    rewritten: evidence.judgement?.rewritten ?? null,
    oversize: work.oversize,
    escapingLinks: await escapingLinks(suite.repo, changes),
  }
  return { patch, regression: evidence.regression }
}

/** An attempt's work as it was collected. */
interface Work extends Gathered {
  changes: readonly Change[]
  outOfScope: PatchRecord['outOfScope']
  oversize: string[]
}

function workBlocks({ build }: Attempt, work: Work, { scope }: CollectSettings): string[] {
  const hasRepository = work.changes.some(({ to }) => to?.mode === '160000')
  return [
    ...(unblamed.has(build.outcome) ? [] : ['build-failed']),
    ...(work.commit === null ? ['no-changes'] : []),
    ...(hasRepository ? ['nested-repository'] : []),
    ...(work.oversize.length > 0 ? ['file-too-large'] : []),
    ...(scope === 'block' && work.outOfScope.length > 0 ? ['out-of-scope'] : []),
  ]
}

interface Evidence {
  judgement: Judgement | null
  regression: RegressionRecord | null
  blocks: string[]
}

async function gatherEvidence(
  stage: Stage,
  { suite, baseline }: Ground,
  { attempt: { item, builder, build }, work }: { attempt: Attempt; work: Work },
): Promise<Evidence> {
  const { commit } = work
  if (commit === null || !tested.has(build.outcome)) return { judgement: null, regression: null, blocks: [] }
  const files = stage.paths.attempt(build.item, build.attempt)
  await mkdir(files.dir, { recursive: true, mode: 0o700 })
  const common = { stage: stage.name, signal: stage.interrupt.now }
  // What was merged meanwhile belongs to what a later start is compared with.
  stage.journal.refresh()
  const proposed = { item: build.item, attempt: build.attempt, commit, start: builder.start }
  const judgement = await judge(suite, {
    baseline: baseline.result,
    patch: { ...proposed, outOfScope: work.outOfScope },
    changes: work.changes,
    journal: stage.journal.records(),
    request: { ...common, name: build.item, commit, log: relative(stage.paths.dir, files.testsLog) },
  })
  const regression =
    item.type === 'bugfix'
      ? await checkRegression(suite, {
          ...common,
          item,
          patch: { ...proposed, tests: judgement.tests, changes: judgement.changes },
          testGlobs: [],
          log: relative(stage.paths.dir, files.regressionLog),
        })
      : null
  return { judgement, regression, blocks: [...testBlocks(judgement), ...regressionBlocks(regression?.verdict)] }
}

/** A bug fix that does not prove itself is no fix that we vouch for: `--type ITEM=feature` says that it is none. */
function regressionBlocks(verdict: RegressionRecord['verdict'] | undefined): string[] {
  if (verdict === undefined || verdict === 'proven') return []
  return [verdict === 'no-tests' ? 'regression-untested' : `regression-${verdict}`]
}
