/**
 * The records that stages exchange, one zod schema a kind. `packages/core/README.md` is the normative text; this file is
 * its machine form: types, validation at a stage's door, and the JSON Schemas of `bw-schema` all come from here.
 *
 * Envelope order: kind, v, run, item (exactly when about one item), attempt, then the rest. Schemas are loose: unknown
 * fields pass, since a newer stage may have written them.
 */
import * as z from 'zod'

const oid = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/)
const slug = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,79}$/)
const digest = z.string().regex(/^[0-9a-f]{64}$/)
const key = z.string().regex(/^[0-9a-f]{16}$/)
const at = z.iso.datetime()
const attempt = z.int().positive()
const count = z.int().nonnegative()

const envelope = { v: z.literal(1), run: slug }
const aboutItem = { ...envelope, item: slug }
const aboutAttempt = { ...aboutItem, attempt }

/** One test's outcome, keyed by the runner's own name for it. */
export const testOutcome = z.enum(['passed', 'failed', 'skipped'])

/** What one run of the test command showed. `tests` is null when the runner's per-test results are unknown. */
export const testRun = z.looseObject({
  verdict: z.enum(['green', 'red', 'timed-out', 'error']),
  exit: z.int().nullable(),
  runner: z.string(),
  tests: z.record(z.string(), testOutcome).nullable(),
  log: z.string(),
  seconds: z.number(),
})

/** Differences of a test run against the baseline, names sorted. */
export const testChanges = z.looseObject({
  verdict: z.enum(['ok', 'worse']),
  newlyFailing: z.array(z.string()),
  fixed: z.array(z.string()),
  newlySkipped: z.array(z.string()),
  vanished: z.array(z.string()),
  added: z.array(z.string()),
  flaky: z.array(z.string()),
})

export const runRecord = z.looseObject({
  kind: z.literal('run'),
  ...envelope,
  repo: z.string(),
  base: oid,
  branch: z.string().nullable(),
  identity: z.looseObject({ name: z.string(), email: z.string() }).nullable(),
  test: z.string(),
  testFrom: z.string(),
  setup: z.string().nullable(),
  image: z.string(),
  shared: z.array(z.string()),
  limits: z.looseObject({
    memoryMiB: z.int().positive(),
    pids: z.int().positive(),
    cpus: z.number().positive(),
    minutes: z.number().positive(),
    testMinutes: z.number().positive(),
    tmpMiB: z.int().positive(),
    homeMiB: z.int().positive(),
    workMiB: z.int().positive(),
    outMiB: z.int().positive(),
  }),
  plan: z.string(),
  planDigest: digest,
})

export const waitReason = z.enum(['dependency', 'file', 'unknown-files', 'phase', 'order', 'marker', 'slots'])

export const itemRecord = z.looseObject({
  kind: z.literal('item'),
  ...aboutItem,
  id: z.string(),
  title: z.string(),
  text: z.string(),
  type: z.enum(['feature', 'bugfix']),
  owns: z.array(z.string()),
  ownsFrom: z.enum(['declared', 'mentioned', 'unknown', 'option']),
  after: z.array(slug),
  wave: z.int().positive().nullable(),
  waitsFor: z.array(z.looseObject({ item: slug, reason: waitReason, witness: z.string().optional() })),
  priority: z.int().nullable(),
  done: z.boolean(),
  line: z.int().positive(),
})

export const baselineRecord = z.looseObject({
  kind: z.literal('baseline'),
  ...envelope,
  key,
  at,
  base: oid,
  image: z.string(),
  result: testRun,
})

export const builderRecord = z.looseObject({
  kind: z.literal('builder'),
  ...aboutAttempt,
  key,
  at,
  start: oid,
  container: z.string(),
  holder: z.string(),
  work: z.string(),
  out: z.string(),
  image: z.string(),
  agent: z.string(),
  model: z.string().nullable(),
})

export const deferredRecord = z.looseObject({
  kind: z.literal('deferred'),
  ...aboutItem,
  at,
  waitsFor: z.array(slug),
  reason: z.enum(['dependency-pending', 'dependency-failed', 'attempts-used', 'interrupted']),
  message: z.string(),
})

export const progressRecord = z.looseObject({
  kind: z.literal('progress'),
  ...aboutAttempt,
  at,
  turns: count,
  lastTool: z.string().nullable(),
  tokens: count,
  costUsd: z.number().nullable(),
  files: z.array(z.string()),
})

export const buildOutcome = z.enum([
  'done',
  'empty',
  'failed',
  'stalled',
  'timed-out',
  'rate-limited',
  'budget',
  'auth',
  'refused',
  'stopped',
  'killed',
  'limit',
])

export const buildRecord = z.looseObject({
  kind: z.literal('build'),
  ...aboutAttempt,
  key,
  at,
  outcome: buildOutcome,
  /** Which bound was met, for outcome `limit`. */
  limit: z.enum(['memory', 'pids', 'disk']).nullable(),
  exit: z.int().nullable(),
  /** False when the end says nothing about the work, so that the next run makes the next attempt. */
  aboutWork: z.boolean().optional(),
  seconds: z.number(),
  turns: count,
  tokens: z.looseObject({ input: count, output: count, cacheRead: count, cacheWrite: count }),
  costUsd: z.number().nullable(),
  resetsAt: at.nullable(),
  message: z.string(),
})

export const changedFile = z.looseObject({
  path: z.string(),
  status: z.enum(['added', 'modified', 'deleted', 'type-changed']),
  mode: z.string(),
})

export const patchRecord = z.looseObject({
  kind: z.literal('patch'),
  ...aboutAttempt,
  key,
  at,
  /** Null when the builder changed nothing. Its only parent is `start`. */
  commit: oid.nullable(),
  start: oid,
  tree: oid,
  /** sha256 over the commit's raw object and the sorted list of its changed blobs; checked before each later use. */
  digest: digest.nullable(),
  files: z.array(changedFile),
  outOfScope: z.array(z.looseObject({ path: z.string(), ownedBy: slug.nullable() })),
  tests: testRun.nullable(),
  changes: testChanges.nullable(),
  verdict: z.enum(['ok', 'blocked']),
  blockedBy: z.array(z.string()),
})

export const regressionRecord = z.looseObject({
  kind: z.literal('regression'),
  ...aboutAttempt,
  key,
  at,
  verdict: z.enum(['proven', 'unproven', 'no-tests', 'unknown']),
  testFiles: z.array(z.string()),
  failedWithoutFix: z.array(z.string()),
  log: z.string().nullable(),
})

export const findingRecord = z.looseObject({
  kind: z.literal('finding'),
  ...aboutAttempt,
  at,
  rule: z.string(),
  confidence: z.enum(['exact', 'verified', 'format', 'heuristic']),
  surface: z.string(),
  file: z.string(),
  line: z.int().positive().nullable(),
  via: z.array(z.string()),
  masked: z.string(),
  fingerprint: z.string(),
  allowed: z.boolean(),
})

export const scanRecord = z.looseObject({
  kind: z.literal('scan'),
  ...aboutAttempt,
  key,
  at,
  verdict: z.enum(['clean', 'blocked', 'incomplete']),
  findings: count,
  incomplete: z.array(z.looseObject({ file: z.string(), reason: z.string() })),
  bytes: count,
})

export const mergeRecord = z.looseObject({
  kind: z.literal('merge'),
  ...aboutItem,
  /** Absent when the item never had an attempt. */
  attempt: attempt.optional(),
  key,
  at,
  outcome: z.enum(['applied', 'conflict', 'skipped', 'dropped']),
  /** Why an item was skipped or dropped; kebab-case. */
  reason: z.string().nullable(),
  message: z.string(),
  head: oid,
  /** The commit on the stack, for `applied`. */
  commit: oid.nullable(),
  conflicts: z.array(
    z.looseObject({ path: z.string(), base: oid.nullable(), ours: oid.nullable(), theirs: oid.nullable() }),
  ),
})

export const integrationRecord = z.looseObject({
  kind: z.literal('integration'),
  ...envelope,
  at,
  branch: z.string(),
  head: oid,
  tree: oid,
  items: z.array(z.looseObject({ item: slug, attempt, commit: oid })),
})

export const verificationRecord = z.looseObject({
  kind: z.literal('verification'),
  ...envelope,
  key,
  at,
  head: oid,
  tree: oid,
  verdict: z.enum(['green', 'red']),
  result: testRun,
  changes: testChanges,
  culprits: z.array(slug),
})

export const deliveryRecord = z.looseObject({
  kind: z.literal('delivery'),
  ...envelope,
  at,
  ref: z.string(),
  oid,
  base: oid,
  delivered: z.array(slug),
  left: z.array(z.looseObject({ item: slug, reason: z.string() })),
  evidence: z.string(),
})

export const failureRecord = z.looseObject({
  kind: z.literal('failure'),
  ...aboutItem,
  attempt: attempt.optional(),
  at,
  stage: z.string(),
  code: z.string(),
  message: z.string(),
  hint: z.string().nullable(),
})

export const endRecord = z.looseObject({
  kind: z.literal('end'),
  ...envelope,
  at: at.optional(),
  stage: z.string(),
  complete: z.boolean(),
  counts: z.record(z.string(), count),
})

/** Every kind with its schema, in the order of the protocol's table. */
export const schemas = {
  run: runRecord,
  item: itemRecord,
  baseline: baselineRecord,
  builder: builderRecord,
  deferred: deferredRecord,
  progress: progressRecord,
  build: buildRecord,
  patch: patchRecord,
  regression: regressionRecord,
  finding: findingRecord,
  scan: scanRecord,
  merge: mergeRecord,
  integration: integrationRecord,
  verification: verificationRecord,
  delivery: deliveryRecord,
  failure: failureRecord,
  end: endRecord,
} as const

export type Kind = keyof typeof schemas
export type RecordOf<K extends Kind> = z.infer<(typeof schemas)[K]>
export type KnownRecord = { [K in Kind]: RecordOf<K> }[Kind]

export type RunRecord = RecordOf<'run'>
export type ItemRecord = RecordOf<'item'>
export type BaselineRecord = RecordOf<'baseline'>
export type BuilderRecord = RecordOf<'builder'>
export type DeferredRecord = RecordOf<'deferred'>
export type BuildRecord = RecordOf<'build'>
export type PatchRecord = RecordOf<'patch'>
export type RegressionRecord = RecordOf<'regression'>
export type FindingRecord = RecordOf<'finding'>
export type ScanRecord = RecordOf<'scan'>
export type MergeRecord = RecordOf<'merge'>
export type IntegrationRecord = RecordOf<'integration'>
export type VerificationRecord = RecordOf<'verification'>
export type DeliveryRecord = RecordOf<'delivery'>
export type FailureRecord = RecordOf<'failure'>
export type EndRecord = RecordOf<'end'>
export type TestRun = z.infer<typeof testRun>
export type TestOutcome = z.infer<typeof testOutcome>
export type TestChanges = z.infer<typeof testChanges>
export type BuildOutcome = z.infer<typeof buildOutcome>
export type ChangedFile = z.infer<typeof changedFile>

/** True when `kind` is one of ours; other kinds pass through every stage untouched. */
export function isKnownKind(kind: string): kind is Kind {
  return Object.hasOwn(schemas, kind)
}
