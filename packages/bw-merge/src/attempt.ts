/** What the input says about one attempt at an item, and whether that makes it ready for the stack. */
import type { BuildRecord, FailureRecord, ItemRecord, PatchRecord, ScanRecord } from '@buildwave/core'

export interface Attempt {
  item: ItemRecord
  attempt: number
  build?: BuildRecord
  patch?: PatchRecord
  scan?: ScanRecord
  failure?: FailureRecord
  /** A regression check showed that the tests pass without the fix. */
  isUnproven: boolean
}

/** A patch that may be merged: collected, not blocked, scanned clean. */
export interface ReadyPatch extends PatchRecord {
  commit: string
  digest: string
}

export type Decision = { patch: ReadyPatch } | Skip

export interface Skip {
  /** Stable and kebab-case: the code of the failure, the first thing that blocks the patch, or what never came. */
  reason: string
  message: string
}

/** Null while more is to come about the attempt. */
export function decide(attempt: Attempt): Decision | null {
  const { failure, patch, scan, build } = attempt
  if (failure !== undefined) return { reason: failure.code, message: `${failure.stage}: ${failure.message}` }
  if (patch?.verdict === 'blocked') return blockedPatch(patch, build)
  if (patch === undefined || scan === undefined) return null
  if (attempt.isUnproven) {
    return { reason: 'regression-unproven', message: 'no test of it fails without the fix' }
  }
  if (scan.verdict === 'blocked') return { reason: 'secret-found', message: `${scan.findings} findings in its work` }
  if (scan.verdict === 'incomplete') {
    return { reason: 'scan-incomplete', message: `not all of it could be scanned: ${scan.incomplete[0]?.file ?? ''}` }
  }
  const { commit, digest } = patch
  if (commit === null || digest === null) return { reason: 'no-changes', message: 'it changed nothing' }
  return { patch: { ...patch, commit, digest } }
}

/** Why an attempt is left out when the input ends before it was ready. */
export function decideAtEnd({ build, patch }: Attempt): Skip {
  if (patch !== undefined) return { reason: 'unscanned', message: 'its work was never scanned' }
  if (build !== undefined) {
    return { reason: 'uncollected', message: `its build ended (${build.outcome}), its work was never collected` }
  }
  return { reason: 'never-came', message: 'its build never ended' }
}

export function isSkip(decision: Decision): decision is Skip {
  return 'reason' in decision
}

function blockedPatch({ blockedBy }: PatchRecord, build: BuildRecord | undefined): Skip {
  const [reason = 'blocked'] = blockedBy
  const ended = build === undefined || build.outcome === 'done' ? '' : ` (build ended: ${build.outcome})`
  return { reason, message: `blocked by ${blockedBy.join(', ') || 'bw-collect'}${ended}` }
}
