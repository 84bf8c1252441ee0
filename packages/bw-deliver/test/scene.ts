/** A user's repository and a run in which two items are merged and verified, as the stages before bw-deliver leave it. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ItemRecord } from '@buildwave/core'
import {
  changedFiles,
  commitTree,
  commitTreeOid,
  importCommit,
  initStore,
  inspectSource,
  patchDigest,
  type Store,
  treeWithFiles,
  updateRef,
  writeBlob,
} from '@buildwave/git'
import { callTool } from '@buildwave/stdio'
import { onTestFinished } from 'vitest'
import { itemRecord, lines, runRecord } from '../../../test/support/records.ts'
import { git, makeRepository } from '../../../test/support/repository.ts'
import { tool } from '../src/tool.ts'

export const runId = 'plan-00000000'
export const ref = `refs/heads/builders/${runId}`
const at = '2026-03-04T05:06:07.000Z'
const key = '0123456789abcdef'
const identity = { name: 'Ada', email: 'ada@example.org' }

export type AnyRecord = { kind: string; [field: string]: unknown }

export interface Scene {
  folder: string
  repo: string
  base: string
  head: string
  store: Store
  dir: string
  /** Everything up to and with bw-verify's records, in order. */
  records: AnyRecord[]
  /** Runs bw-deliver on records, with bw-verify's `end` unless `cut`. */
  deliver(records: readonly AnyRecord[], args?: readonly string[], options?: { cut?: boolean }): Promise<Result>
  replay(...args: string[]): Promise<Result>
}

export interface Result {
  status: number
  stderr: string
  records: AnyRecord[]
  delivery: AnyRecord | undefined
}

/** `extra` items are in the plan and not on the branch; `note` is added to titles, `merged` to files only on the branch. */
export async function openScene(extra: readonly ItemRecord[] = [], { note = '', merged = '' } = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'bw deliver ü,'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const repo = makeRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, join(folder, 'repo'))
  const base = git(repo, 'rev-parse', 'HEAD')
  const state = join(folder, 'state')
  const dir = join(state, 'runs', runId)
  const store = await initStore(join(dir, 'repo.git'))
  await importCommit(store, await inspectSource(repo), base)
  const run = runRecord({ repo, base, identity })
  const items = [item('one'), item('two'), ...extra]
  const results: AnyRecord[] = []
  let head = base
  const layers: { item: string; attempt: number; commit: string }[] = []
  for (const name of ['one', 'two']) {
    const patch = await patchOf(store, base, name)
    const blob = await writeBlob(store, Buffer.from(`${name}\n${merged}`))
    const tree = await treeWithFiles(store, head, new Map([[`${name}.txt`, { mode: '100644', oid: blob }]]))
    head = await commitTree(store, { tree, parents: [head], message: `Title of ${name}${note}`, identity, date: at })
    layers.push({ item: name, attempt: 1, commit: head })
    const about = { v: 1, run: runId, item: name, attempt: 1, key, at }
    results.push(patch)
    results.push({ kind: 'scan', ...about, verdict: 'clean', findings: 0, incomplete: [], bytes: 4 })
    results.push({
      kind: 'merge',
      ...about,
      outcome: 'applied',
      reason: null,
      message: '',
      head,
      commit: head,
      conflicts: [],
    })
  }
  await updateRef(store, ref, head, null)
  const tree = await commitTreeOid(store, head)
  const about = { v: 1, run: runId, at, head, tree }
  mkdirSync(join(dir, 'verify'), { recursive: true })
  writeFileSync(join(dir, 'verify', 'head.log'), '2 passed\n')
  const result = {
    verdict: 'green',
    exit: 0,
    runner: 'pytest',
    tests: { t: 'passed' },
    log: 'verify/head.log',
    seconds: 1,
  }
  const changes = { verdict: 'ok', newlyFailing: [], fixed: [], newlySkipped: [], vanished: [], added: [], flaky: [] }
  const records: AnyRecord[] = [
    run,
    ...items,
    ...results,
    { kind: 'integration', ...about, branch: `builders/${runId}`, items: layers },
    { kind: 'verification', ...about, key, verdict: 'green', result, changes, culprits: [] },
  ]
  const end = { kind: 'end', v: 1, run: runId, stage: 'bw-verify', complete: true, counts: {} }
  const journal = join(dir, 'journal.ndjson')
  const call = (input: string, argv: readonly string[]) => callDeliver(state, input, argv)
  return {
    folder,
    repo,
    base,
    head,
    store,
    dir,
    records,
    deliver: (given, args = [], { cut = false } = {}) => call(lines(...given, ...(cut ? [] : [end])), args),
    replay(...args) {
      appendFileSync(journal, lines(...records, end))
      return call('', ['--run', runId, ...args])
    },
  }
}

export function item(name: string, change: Partial<ItemRecord> = {}): ItemRecord {
  return itemRecord(name, { title: `Title of ${name}`, ...change })
}

/** The records with every one of a kind (and item) changed. */
export function changed(
  records: readonly AnyRecord[],
  of: { kind: string; item?: string },
  change: object,
): AnyRecord[] {
  return records.map((record) => {
    const isMeant = record.kind === of.kind && (of.item === undefined || record['item'] === of.item)
    return isMeant ? { ...record, ...change } : record
  })
}

export function readEvidence(scene: Scene): Record<string, unknown> {
  return JSON.parse(readFileSync(join(scene.dir, 'evidence.json'), 'utf8')) as Record<string, unknown>
}

async function patchOf(store: Store, base: string, name: string): Promise<AnyRecord> {
  const oid = await writeBlob(store, Buffer.from(`${name}\n`))
  const tree = await treeWithFiles(store, base, new Map([[`${name}.txt`, { mode: '100644', oid }]]))
  const commit = await commitTree(store, { tree, parents: [base], message: name, identity, date: at })
  const checks = { outOfScope: [], tests: null, changes: null, verdict: 'ok', blockedBy: [] }
  const files = await changedFiles(store, base, commit)
  const digest = await patchDigest(store, commit)
  return {
    kind: 'patch',
    v: 1,
    run: runId,
    item: name,
    attempt: 1,
    key,
    at,
    commit,
    start: base,
    tree,
    digest,
    files,
    ...checks,
  }
}

async function callDeliver(state: string, input: string, argv: readonly string[]): Promise<Result> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const said = Promise.all([text(stdout), text(stderr)])
  const env = { PATH: process.env['PATH'], BW_STATE_DIR: state }
  const io = { argv, env, cwd: '/', stdin: Readable.from([input]), stdout, stderr, onSignal: () => () => undefined }
  const status = await callTool(tool, { ...io, startedAt: Date.now() })
  stdout.end()
  stderr.end()
  const [out, err] = await said
  const rows = out.split('\n').filter((line) => line !== '')
  const records = rows.map((line) => JSON.parse(line) as AnyRecord)
  return { status, stderr: err, records, delivery: records.findLast(({ kind }) => kind === 'delivery') }
}
