/** A user's repository, the store of a run, and attempts at items as the stages before bw-merge would have left them. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { IntegrationRecord, ItemRecord, MergeRecord, PatchRecord, RunRecord } from '@buildwave/core'
import {
  changedFiles,
  importCommit,
  initStore,
  inspectSource,
  patchDigest,
  readFileAt,
  type Store,
} from '@buildwave/git'
import { callTool } from '@buildwave/stdio'
import { onTestFinished } from 'vitest'
import { itemRecord, lines, runRecord } from '../../../test/support/records.ts'
import { git } from '../../../test/support/repository.ts'
import { tool } from '../src/tool.ts'

export const runId = 'plan-00000000'
const at = '2026-03-04T05:06:07.000Z'

type Files = Readonly<Record<string, string | null>>

export interface Scene {
  repo: string
  base: string
  store: Store
  state: string
  run: RunRecord
  /** A commit of these files (null: removed) on top of `start`, in the store as bw-collect leaves it. */
  commit(files: Files, start?: string): Promise<string>
  /** The patch record of an attempt. */
  patch(item: string, commit: string, change?: Partial<PatchRecord>): Promise<PatchRecord>
  /** Runs bw-merge on these records (without `run` and `end`). */
  merge(records: readonly object[], args?: readonly string[], options?: { cut?: boolean }): Promise<Result>
  /** What `--preview` shows of these records on a terminal. */
  preview(records: readonly object[], args?: readonly string[]): Promise<Result>
  /** Runs it from the journal. */
  replay(...args: string[]): Promise<Result>
  journal(): Record<string, unknown>[]
  /** The text of a file at a commit, null when there is none. */
  read(commit: string, path: string): Promise<string | null>
  git(...args: string[]): string
  /** Damages an object of the store: other bytes in its file, or (null) no file. */
  damage(oid: string, bytes: Buffer | null): void
}

export interface Result {
  status: number
  stdout: string
  stderr: string
  records: Record<string, unknown>[]
  merges: MergeRecord[]
  /** The last answer of each item. */
  answers: Record<string, string>
  integration: IntegrationRecord | undefined
}

export async function openScene(files: Files = { 'a.txt': 'a\n' }, change: Partial<RunRecord> = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'bw merge ü,'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const repo = join(folder, 'repo')
  const state = join(folder, 'state')
  mkdirSync(repo)
  git(repo, 'init', '-q', '-b', 'main')
  git(repo, 'config', 'user.name', 'Ada')
  git(repo, 'config', 'user.email', 'ada@example.org')
  git(repo, 'config', 'core.autocrlf', 'false')
  const base = write(repo, files, 'base')
  const source = await inspectSource(repo)
  const dir = join(state, 'runs', runId)
  const store = await initStore(join(dir, 'repo.git'))
  await importCommit(store, source, base)
  const run = runRecord({ repo, base, identity: { name: 'Ada', email: 'ada@example.org' }, ...change })
  const end = (stage: string) => ({ kind: 'end', v: 1, run: runId, stage, complete: true, counts: {} })
  const call = async (input: string, argv: readonly string[], isTTY = false): Promise<Result> => {
    const [stdout, stderr] = [Object.assign(new PassThrough(), { isTTY }), new PassThrough()]
    const said = Promise.all([text(stdout), text(stderr)])
    const env = { PATH: process.env['PATH'], BW_STATE_DIR: state }
    const io = { argv, env, cwd: '/', stdin: Readable.from([input]), stdout, stderr, onSignal: () => () => undefined }
    const status = await callTool(tool, { ...io, startedAt: Date.now() })
    stdout.end()
    stderr.end()
    const [out, err] = await said
    return readResult({ status, stdout: out, stderr: err })
  }
  return {
    repo,
    base,
    store,
    state,
    run,
    async commit(changed, start = base) {
      if (spawnSync('git', ['-C', repo, 'cat-file', '-e', start]).status !== 0)
        git(repo, 'fetch', '-q', store.gitDir, start)
      git(repo, 'checkout', '-q', '--detach', start)
      const oid = write(repo, changed, 'work')
      await importCommit(store, source, oid)
      return oid
    },
    async patch(item, commit, more = {}) {
      const start = git(store.gitDir, 'rev-parse', `${commit}^`)
      return {
        kind: 'patch',
        v: 1,
        run: runId,
        item,
        attempt: 1,
        key: '0123456789abcdef',
        at,
        commit,
        start,
        tree: git(store.gitDir, 'rev-parse', `${commit}^{tree}`),
        digest: await patchDigest(store, commit),
        files: await changedFiles(store, start, commit),
        outOfScope: [],
        tests: null,
        changes: null,
        verdict: 'ok',
        blockedBy: [],
        ...more,
      }
    },
    merge(records, args = [], { cut = false } = {}) {
      recordUpstream(join(dir, 'journal.ndjson'), records)
      return call(lines(run, ...records, ...(cut ? [] : [end('bw-scan')])), args)
    },
    preview: (records, args = []) => call(lines(run, ...records), ['--preview', ...args], true),
    replay: (...args) => call('', ['--run', runId, ...args]),
    journal: () =>
      readLines(existsSync(join(dir, 'journal.ndjson')) ? readFileSync(join(dir, 'journal.ndjson'), 'utf8') : ''),
    read: async (commit, path) => (await readFileAt(store, commit, path))?.toString('latin1') ?? null,
    git: (...args) => git(store.gitDir, ...args),
    damage(oid, bytes) {
      unpackAll(store.gitDir)
      const path = join(store.gitDir, 'objects', oid.slice(0, 2), oid.slice(2))
      chmodSync(path, 0o644)
      if (bytes === null) rmSync(path)
      else writeFileSync(path, bytes)
    },
  }
}

export function item(name: string, change: Partial<ItemRecord> = {}): ItemRecord {
  return itemRecord(name, { title: `Title of ${name}`, ...change })
}

/** The records of an attempt that went well. */
export function passed(patch: PatchRecord): object[] {
  return [...built(patch.item, patch.attempt), patch, scanOf(patch)]
}

export function built(name: string, attempt = 1): object[] {
  const about = { v: 1, run: runId, item: name, attempt, key: '0123456789abcdef', at }
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  const result = { outcome: 'done', limit: null, exit: 0, seconds: 1, turns: 1, tokens, costUsd: null, resetsAt: null }
  return [{ kind: 'build', ...about, ...result, message: '' }]
}

export function scanOf({ item: name, attempt }: { item: string; attempt: number }, verdict = 'clean'): object {
  const about = { v: 1, run: runId, item: name, attempt, key: '0123456789abcdef', at }
  return { kind: 'scan', ...about, verdict, findings: verdict === 'blocked' ? 1 : 0, incomplete: [], bytes: 1 }
}

function write(repo: string, files: Files, title: string): string {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) rmSync(join(repo, path))
    else {
      mkdirSync(dirname(join(repo, path)), { recursive: true })
      writeFileSync(join(repo, path), content, 'latin1')
    }
  }
  git(repo, 'add', '-A')
  git(repo, 'commit', '-q', '--allow-empty', '-m', title)
  return git(repo, 'rev-parse', 'HEAD')
}

/** Makes every packed object a file of its own. */
function unpackAll(gitDir: string): void {
  const folder = join(gitDir, 'objects', 'pack')
  const aside = mkdtempSync(join(tmpdir(), 'bw-packs-'))
  for (const name of readdirSync(folder)) execFileSync('mv', [join(folder, name), aside])
  for (const name of readdirSync(aside).filter((entry) => entry.endsWith('.pack'))) {
    execFileSync('git', [`--git-dir=${gitDir}`, 'unpack-objects', '-q'], { input: readFileSync(join(aside, name)) })
  }
  rmSync(aside, { recursive: true })
}

/** Writes into the journal what the stages before bw-merge would have written there. */
function recordUpstream(journal: string, records: readonly object[]): void {
  const known = existsSync(journal) ? readFileSync(journal, 'utf8') : ''
  const results = records.filter((record) => !('kind' in record) || record.kind !== 'item')
  const fresh = results.filter((record) => !known.includes(JSON.stringify(record)))
  if (fresh.length > 0) appendFileSync(journal, `${known === '' || known.endsWith('\n') ? '' : '\n'}${lines(...fresh)}`)
}

function readResult({ status, stdout, stderr }: { status: number; stdout: string; stderr: string }): Result {
  const records = readLines(stdout)
  const merges = records.filter(({ kind }) => kind === 'merge') as unknown as MergeRecord[]
  return {
    status,
    stdout,
    stderr,
    records,
    merges,
    answers: Object.fromEntries(
      merges.map(({ item: name, outcome, reason }) => [name, reason === null ? outcome : `${outcome}: ${reason}`]),
    ),
    integration: records.findLast(({ kind }) => kind === 'integration') as unknown as IntegrationRecord | undefined,
  }
}

function readLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
