import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { openRunRepo } from '@buildwave/checks'
import type { PatchRecord, RunRecord, TestRun, VerificationRecord } from '@buildwave/core'
import { connect, reap } from '@buildwave/engine'
import { commitTree, commitTreeOid, mergeTree, type Repo, treeWithFiles, writeBlob } from '@buildwave/git'
import { runPaths, stateId } from '@buildwave/store'
import { root } from '../../../test/support/pipeline.ts'
import { itemRecord, lines, runRecord } from '../../../test/support/records.ts'
import { git, makeRepository, temporaryFolder } from '../../../test/support/repository.ts'

const identity = { name: 'A', email: 'a@example.com' }
const date = '2026-01-01T00:00:00Z'

/** One item of a stack: the files it changes (null: takes away), and the items whose merged head it starts from. */
export interface Piece {
  item: string
  files: Record<string, string | null>
  /** Starts from the head after this many pieces; 0, the base, unless said. */
  startsAfter?: number
  /** The tests that its patch showed when it was collected, by name. */
  tests?: Record<string, 'passed' | 'failed'>
}

export interface StackRun {
  run: RunRecord
  head: string
  /** Runs `bw-verify` on the stack's records. */
  verify(...args: string[]): Promise<{ status: number | null; stderr: string; verifications: VerificationRecord[] }>
  /** The kinds in the journal, in order. */
  journal(): string
  close(): Promise<void>
}

let runs = 0

/** Lays out a repository, the run's own one with the pieces stacked on it in order, and the records that say so. */
export async function openStack(
  files: Readonly<Record<string, string>>,
  pieces: readonly Piece[],
  change: Partial<RunRecord> = {},
): Promise<StackRun> {
  const source = makeRepository(files)
  const state = temporaryFolder('bw-state-')
  const base = git(source, 'rev-parse', 'HEAD')
  const test = 'python3 -m pytest -q'
  const run = runRecord({ run: `verify-${process.pid}-${runs++}`, repo: source, base, test, ...change })
  const paths = runPaths(state, run.run)
  mkdirSync(paths.dir, { recursive: true })
  const repo = await openRunRepo(run, paths)
  const heads = [base]
  const records: object[] = []
  const merged: { item: string; attempt: number; commit: string }[] = []
  for (const piece of pieces) {
    const start = heads[piece.startsAfter ?? 0] as string
    const commit = await commitPiece(repo, start, piece)
    const ours = heads.at(-1) as string
    const { tree, conflicts } = await mergeTree(repo, { base: start, ours, theirs: commit })
    if (conflicts.length > 0) throw new Error(`conflict in ${conflicts.map(({ path }) => path)}`)
    const head = await commitTree(repo, { tree, parents: [ours], message: piece.item, identity, date })
    heads.push(head)
    merged.push({ item: piece.item, attempt: 1, commit: head })
    const about = { run: run.run, item: piece.item }
    records.push(
      { ...itemRecord(piece.item), ...about },
      patchOf(run, piece, { commit, start, tree: await commitTreeOid(repo, commit) }),
      {
        kind: 'merge',
        v: 1,
        ...about,
        attempt: 1,
        key: '0'.repeat(16),
        at: date,
        outcome: 'applied',
        reason: null,
        message: '',
        head,
        commit: head,
        conflicts: [],
      },
    )
  }
  const head = heads.at(-1) as string
  const integration = {
    kind: 'integration',
    v: 1,
    run: run.run,
    at: date,
    branch: `refs/heads/builders/${run.run}`,
    head,
    tree: await commitTreeOid(repo, head),
    items: merged,
  }
  const end = { kind: 'end', v: 1, run: run.run, stage: 'bw-merge', complete: true, counts: {} }
  return {
    run,
    head,
    async verify(...args) {
      const child = spawn(process.execPath, [join(root, 'packages/bw-verify/src/main.ts'), ...args], {
        env: { PATH: process.env['PATH'] ?? '', HOME: state, BW_STATE_DIR: state },
      })
      child.stdin.on('error', () => undefined)
      child.stdin.end(lines(run, ...records, integration, end))
      const [stdout, stderr, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ])
      const read = stdout.split('\n').filter((line) => line !== '')
      const verifications = read.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'verification')
      return { status, stderr, verifications }
    },
    journal: () => paths.journal,
    async close() {
      await reap(await connect({ state: stateId(state) }), { run: run.run, keep: () => false })
      for (const folder of [state, dirname(source)]) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function commitPiece(repo: Repo, start: string, { item, files }: Piece): Promise<string> {
  const changed = Object.entries(files).map(async ([path, content]) => {
    const file = content === null ? null : { mode: '100644', oid: await writeBlob(repo, Buffer.from(content)) }
    return [path, file] as const
  })
  const tree = await treeWithFiles(repo, start, new Map(await Promise.all(changed)))
  return commitTree(repo, { tree, parents: [start], message: item, identity, date })
}

function patchOf(run: RunRecord, piece: Piece, given: { commit: string; start: string; tree: string }): PatchRecord {
  const tests: TestRun = {
    verdict: 'green',
    exit: 0,
    runner: 'pytest',
    tests: piece.tests ?? {},
    log: 'x.log',
    seconds: 1,
  }
  return {
    kind: 'patch',
    v: 1,
    run: run.run,
    item: piece.item,
    attempt: 1,
    key: '0'.repeat(16),
    at: date,
    ...given,
    digest: null,
    files: [],
    outOfScope: [],
    tests,
    changes: null,
    verdict: 'ok',
    blockedBy: [],
  }
}
