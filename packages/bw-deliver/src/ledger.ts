import type {
  BaselineRecord,
  BuilderRecord,
  IntegrationRecord,
  MergeRecord,
  PatchRecord,
  RegressionRecord,
  ScanRecord,
  VerificationRecord,
} from '@buildwave/core'
import type { Stage } from '@buildwave/stage'

/** The last word of each stage, by attempt where it is about one. */
export interface Ledger {
  baseline: BaselineRecord | undefined
  integration: IntegrationRecord | undefined
  verifications: VerificationRecord[]
  builders: Map<string, BuilderRecord>
  patches: Map<string, PatchRecord>
  scans: Map<string, ScanRecord>
  regressions: Map<string, RegressionRecord>
  /** Of each attempt, and of items that never had one. */
  merges: Map<string, MergeRecord>
}

/** Reads the whole input. Throws UserError when it broke off: EOF after a crash looks like EOF after success. */
export async function readLedger(stage: Pick<Stage, 'input'>): Promise<Ledger> {
  const ledger: Ledger = {
    baseline: undefined,
    integration: undefined,
    verifications: [],
    builders: new Map(),
    patches: new Map(),
    scans: new Map(),
    regressions: new Map(),
    merges: new Map(),
  }
  for await (const record of stage.input()) {
    const name = attemptName(String(record['item']), record['attempt'] as number | undefined)
    if (record.kind === 'baseline') ledger.baseline = record as BaselineRecord
    if (record.kind === 'integration') ledger.integration = record as IntegrationRecord
    if (record.kind === 'verification') ledger.verifications.push(record as VerificationRecord)
    if (record.kind === 'builder') ledger.builders.set(name, record as BuilderRecord)
    if (record.kind === 'patch') ledger.patches.set(name, record as PatchRecord)
    if (record.kind === 'scan') ledger.scans.set(name, record as ScanRecord)
    if (record.kind === 'regression') ledger.regressions.set(name, record as RegressionRecord)
    if (record.kind === 'merge') ledger.merges.set(name, record as MergeRecord)
  }
  return ledger
}

export function attemptName(item: string, attempt: number | undefined): string {
  return `${item}/${attempt ?? '-'}`
}

/** The answer to an item's latest attempt. */
export function lastMerge(ledger: Ledger, item: string): MergeRecord | undefined {
  const merges = [...ledger.merges.values()].filter((merge) => merge.item === item)
  return merges.sort((a, b) => (b.attempt ?? 0) - (a.attempt ?? 0))[0]
}
