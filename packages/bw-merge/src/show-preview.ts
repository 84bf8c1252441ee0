import { existsSync } from 'node:fs'
import {
  type ExitStatus,
  exit,
  type ItemRecord,
  itemRecord,
  type PatchRecord,
  patchRecord,
  type RunRecord,
  runRecord,
  UserError,
} from '@buildwave/core'
import { objectReader, openStore, refWriter } from '@buildwave/git'
import { type AnyRecord, escapeControls, type Io, readRecords, recordWriter } from '@buildwave/stdio'
import { openJournal, runPaths, stateDir } from '@buildwave/store'
import { previewPairs, previewTable } from './preview.ts'

interface Known {
  run: RunRecord
  items: ItemRecord[]
  patches: Map<string, PatchRecord>
}

/**
 * Shows how all pairs of items meet: a table on a terminal, one `pair` record a pair in a pipe. Takes no lease and leaves the
 * journal and every ref alone, so it may be asked at any time. Exit 3 when two built items are in conflict.
 */
export async function showPreview(
  io: Io,
  flags: { run: string | undefined; json: boolean; union: readonly string[] },
): Promise<ExitStatus> {
  const state = stateDir(io.env)
  const { run, items, patches } = await readKnown(
    flags.run === undefined ? fromPipe(io) : fromRun(runPaths(state, flags.run).journal),
  )
  const { repo } = runPaths(state, run.run)
  const union = [...run.shared, ...flags.union]
  const identity = run.identity ?? { name: 'preview', email: 'preview@localhost' }
  const store = openStore(repo)
  const ground = existsSync(repo)
    ? { store, reader: objectReader(store), refs: refWriter(store), identity, union }
    : null
  const pairs = await previewPairs({ items, patches, union, ground })
  if (io.stdout.isTTY === true && !flags.json) io.stdout.write(escapeControls(previewTable(items, pairs)))
  else await writePairs(io, run, pairs)
  return pairs.some(({ meeting }) => meeting === 'conflict') ? exit.conflict : exit.ok
}

async function writePairs(io: Io, { run }: RunRecord, pairs: readonly object[]): Promise<void> {
  const writer = recordWriter(io.stdout)
  for (const pair of pairs) await writer.write({ kind: 'pair', v: 1, run, ...pair })
  await writer.drained()
}

/** The last of each counts. */
async function readKnown(records: AsyncIterable<AnyRecord>): Promise<Known> {
  let run: RunRecord | undefined
  const items = new Map<string, ItemRecord>()
  const patches = new Map<string, PatchRecord>()
  for await (const record of records) {
    if (record.kind === 'run') run = runRecord.parse(record)
    if (record.kind === 'item') items.set(String(record['item']), itemRecord.parse(record))
    if (record.kind === 'patch') patches.set(String(record['item']), patchRecord.parse(record))
  }
  if (run !== undefined) return { run, items: [...items.values()], patches }
  throw new UserError('no-input', 'no run record in the input', {
    hint: 'pipe bw-plan into it, or name a run with --run RUN',
  })
}

async function* fromPipe(io: Io): AsyncGenerator<AnyRecord> {
  if (io.stdin.isTTY === true) {
    throw new UserError('no-input', 'nothing to read: stdin is a terminal', {
      hint: 'bw-plan PLAN.md | bw-merge --preview',
    })
  }
  for await (const { record } of readRecords(io.stdin)) yield record
}

async function* fromRun(path: string): AsyncGenerator<AnyRecord> {
  const journal = openJournal(path, { create: false })
  try {
    yield* journal.records()
  } finally {
    journal.close()
  }
}
