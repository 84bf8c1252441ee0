/**
 * The evidence file: what each verdict behind a delivery rests on, by digest, so that it can be checked again elsewhere. It is
 * written before the ref, so that no delivered branch is without it.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { TestRun } from '@buildwave/core'
import { requireGit } from '@buildwave/git'
import type { Stage } from '@buildwave/stage'
import { version } from '@buildwave/stdio'
import type { DeliveryPlan } from './deliver.ts'
import type { Checked, Passed } from './gate.ts'
import { attemptName, type Ledger } from './ledger.ts'

interface EvidenceInput {
  plan: DeliveryPlan
  passed: Passed
  ledger: Ledger
}

/** Writes `evidence.json` of the run, whole or not at all. */
export async function writeEvidence(stage: Stage, input: EvidenceInput): Promise<void> {
  const evidence = await gatherEvidence(stage, input)
  const fresh = `${stage.paths.evidence}.new`
  const file = await open(fresh, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(evidence, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, stage.paths.evidence)
}

async function gatherEvidence(stage: Stage, { plan, passed, ledger }: EvidenceInput) {
  const { run } = stage
  const git = (await requireGit()).join('.')
  return {
    v: 1,
    run: run.run,
    at: new Date().toISOString(),
    tools: { buildwave: version(), git },
    plan: { file: run.plan, digest: run.planDigest },
    repository: { base: run.base, ref: plan.ref, oid: plan.oid, tree: passed.integration.tree },
    test: { command: run.test, image: run.image, setup: run.setup, limits: run.limits },
    baseline: ledger.baseline && {
      ...(await testEvidence(stage, ledger.baseline.result)),
      image: ledger.baseline.image,
    },
    verification: {
      at: passed.verification.at,
      key: passed.verification.key,
      changes: passed.verification.changes,
      ...(await testEvidence(stage, passed.verification.result)),
    },
    items: await Promise.all(passed.items.map((item) => itemEvidence(stage, ledger, item))),
    left: plan.left,
  }
}

async function itemEvidence(stage: Stage, ledger: Ledger, { item, attempt, commit, patch, scan }: Checked) {
  const name = attemptName(item, attempt)
  const [builder, regression] = [ledger.builders.get(name), ledger.regressions.get(name)]
  const merge = ledger.merges.get(name)
  return {
    item,
    attempt,
    title: stage.items().find((known) => known.item === item)?.title ?? null,
    commit,
    builder: builder && { image: builder.image, agent: builder.agent, model: builder.model, start: builder.start },
    patch: {
      commit: patch.commit,
      start: patch.start,
      tree: patch.tree,
      digest: patch.digest,
      files: patch.files,
      outOfScope: patch.outOfScope,
    },
    tests: patch.tests && { ...(await testEvidence(stage, patch.tests)), changes: patch.changes },
    regression: regression && { verdict: regression.verdict, failedWithoutFix: regression.failedWithoutFix },
    scan: { verdict: scan.verdict, findings: scan.findings, bytes: scan.bytes, key: scan.key },
    merge: merge && { key: merge.key, base: merge['base'] ?? null, theirs: merge['theirs'] ?? null },
  }
}

/** The verdict with its numbers and the digest of the log that it was read from. */
async function testEvidence(stage: Stage, result: TestRun) {
  const { verdict, exit, runner, tests, log } = result
  const counts: Record<string, number> = {}
  for (const outcome of Object.values(tests ?? {})) counts[outcome] = (counts[outcome] ?? 0) + 1
  return { verdict, exit, runner, counts, log: { path: log, sha256: await digestOf(join(stage.paths.dir, log)) } }
}

/** sha256 of a file, null when it is gone. */
async function digestOf(path: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(path), hash)
  } catch {
    return null
  }
  return hash.digest('hex')
}
