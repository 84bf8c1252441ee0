import {
  type ExitStatus,
  exit,
  type FailureRecord,
  type FindingRecord,
  type PatchRecord,
  patchRecord,
  type ScanRecord,
  UserError,
} from '@buildwave/core'
import { checkPatch, holdsText, openStore, type Repo, readFileAt } from '@buildwave/git'
import { rules } from '@buildwave/secrets'
import type { Stage } from '@buildwave/stage'
import type { Io } from '@buildwave/stdio'
import { workKey } from '@buildwave/store'
import { attemptSurfaces } from './attempt-surfaces.ts'
import { allowFileName, type Ground, layGround, type ScanFlags } from './ground.ts'
import { type TalliedFinding, tallySurfaces } from './tally.ts'

/** What every attempt is judged by, and a name for it: with other rules or another allow list it is other work. */
interface Bench {
  readonly repo: Repo
  readonly ground: Ground
  readonly name: string
}

/**
 * Scans each collected patch and all that its attempt wrote, and writes a `finding` record for each secret, masked, then one
 * `scan` record. Exit 5 when one is blocked or could not be looked into wholly; 4 when a patch is not what was collected.
 */
export async function scanPatches(stage: Stage, io: Io, flags: ScanFlags): Promise<ExitStatus[]> {
  const statuses: ExitStatus[] = []
  let bench: Bench | undefined
  for await (const record of stage.input()) {
    if (record.kind !== 'patch') continue
    const patch = patchRecord.parse(record)
    bench ??= await layBench(stage, io, flags)
    try {
      statuses.push(await scanPatch(stage, bench, patch))
    } catch (error) {
      if (!(error instanceof UserError) || error.status !== exit.unusable) throw error
      await stage.emit(failureOf(stage, patch, error))
      statuses.push(error.status)
    }
  }
  return statuses
}

async function layBench({ run, paths }: Stage, io: Io, flags: ScanFlags): Promise<Bench> {
  const repo = openStore(paths.repo)
  const allows = await readFileAt(repo, run.base, allowFileName)
  const ground = layGround(io, flags, allows)
  const name = workKey(
    rules.map(({ id, pattern }) => [id, pattern.source]),
    allows?.toString('latin1') ?? null,
    flags.allowFile ?? null,
    [...flags.allowIncomplete].sort(),
  )
  return { repo, ground, name }
}

async function scanPatch(stage: Stage, { repo, ground, name }: Bench, patch: PatchRecord): Promise<ExitStatus> {
  const key = workKey('scan', patch.key, patch.commit, name)
  const known = stage.findByKey('scan', key)
  if (known !== undefined) {
    await repeat(stage, known)
    return statusOf(known['verdict'])
  }
  if (patch.commit !== null && patch.digest !== null) await checkPatch(repo, patch.commit, patch.digest)
  const surfaces = attemptSurfaces(repo, patch, stage.paths.attempt(patch.item, patch.attempt))
  const tally = await tallySurfaces(surfaces, ground, {
    wasThere: (line) => holdsText(repo, patch.start, line),
    signal: stage.interrupt.now,
  })
  const about = { v: 1, run: stage.run.run, item: patch.item, attempt: patch.attempt } as const
  const at = new Date().toISOString()
  for (const [index, finding] of tally.findings.entries()) {
    await stage.emit(findingRecord({ ...about, key: workKey(key, index), at, scan: key }, finding))
  }
  const record: ScanRecord = {
    kind: 'scan',
    ...about,
    key,
    at,
    verdict: tally.verdict,
    findings: tally.findings.length,
    incomplete: tally.incomplete.map(({ file, reason }) => ({ file, reason })),
    bytes: tally.bytes,
  }
  await stage.emit(record)
  return statusOf(tally.verdict)
}

function findingRecord(
  about: { v: 1; run: string; item: string; attempt: number; key: string; at: string; scan: string },
  { preExisting, ...finding }: TalliedFinding,
): FindingRecord {
  return { kind: 'finding', ...about, ...finding, ...(preExisting ? { preExisting } : {}) }
}

/** The scan that the journal has, after its findings. */
async function repeat(stage: Stage, scan: { kind: string; [field: string]: unknown }): Promise<void> {
  for (const record of stage.journal.records()) {
    if (record.kind === 'finding' && record['scan'] === scan['key'] && record['at'] === scan['at'])
      await stage.passOn(record)
  }
  await stage.passOn(scan)
}

function statusOf(verdict: unknown): ExitStatus {
  return verdict === 'clean' ? exit.ok : exit.problem
}

function failureOf(stage: Stage, { item, attempt }: PatchRecord, error: UserError): FailureRecord {
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
