import { type ExitStatus, exit, type MergeRecord } from '@buildwave/core'
import type { Stage } from '@buildwave/stage'

export interface Verdict {
  item: string
  attempt: number | undefined
  key: string
  outcome: MergeRecord['outcome']
  reason: string | null
  message: string
  head: string
  commit?: string
  conflicts?: MergeRecord['conflicts']
  /** The commits whose difference was put on the stack. */
  sides?: { base: string; theirs: string }
  /** The globs with which it was in conflict. */
  union?: readonly string[]
}

export function mergeRecordOf(stage: Pick<Stage, 'run'>, verdict: Verdict): MergeRecord {
  const { item, attempt, key, outcome, reason, message, head, commit = null, conflicts = [], sides, union } = verdict
  return {
    kind: 'merge',
    v: 1,
    run: stage.run.run,
    item,
    ...(attempt === undefined ? {} : { attempt }),
    key,
    at: new Date().toISOString(),
    outcome,
    reason,
    message,
    head,
    commit,
    conflicts,
    ...sides,
    ...(union === undefined ? {} : { union }),
  }
}

/** Reasons that a person gave, or that a later run settles by itself. */
const harmless: ReadonlySet<string> = new Set([
  'dependency-pending',
  'skipped-by-user',
  'dropped-by-user',
  'superseded',
])

/** Reasons of a skip that mean a commit or object could not be used. */
const unusable: ReadonlySet<string> = new Set(['patch-changed', 'object-unusable', 'pack-unusable'])

/** What an item's answer does to the exit status. */
export function statusOf({ outcome, reason }: MergeRecord): ExitStatus {
  if (outcome === 'applied' || harmless.has(reason ?? '')) return exit.ok
  if (outcome === 'conflict') return exit.conflict
  return unusable.has(reason ?? '') ? exit.unusable : exit.problem
}
