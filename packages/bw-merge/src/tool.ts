import { type RunRecord, UserError } from '@buildwave/core'
import {
  commitTreeOid,
  importCommit,
  initStore,
  inspectSource,
  objectReader,
  openStore,
  refWriter,
  type Store,
} from '@buildwave/git'
import { runStage, type Stage, stageFlags } from '@buildwave/stage'
import { defineTool } from '@buildwave/stdio'
import { mergeItems } from './merge.ts'
import { showPreview } from './show-preview.ts'
import type { Ground } from './stack.ts'

export const tool = defineTool({
  name: 'bw-merge',
  summary: 'merges the items that passed their checks, one commit an item, in a repository of the run',
  usage: [
    '… | bw-scan | bw-merge [--union GLOB] | …',
    'bw-merge --run RUN [--continue ITEM | --skip ITEM | --drop ITEM]',
  ],
  examples: [
    [
      'bw-scan < patches.ndjson | bw-merge --union CHANGELOG.md > merged.ndjson',
      'keep the lines that both sides added to CHANGELOG.md',
    ],
    ['bw-merge --run mathkit-1a2b3c4d --drop 3', 'make the branch again without item 3'],
  ],
  flags: {
    ...stageFlags,
    union: {
      type: 'strings',
      value: 'GLOB',
      help: 'files in which both sides’ added lines are kept, besides the shared ones',
    },
    preview: { type: 'boolean', help: 'only show how each pair of items would meet, before or after building' },
    drop: { type: 'strings', value: 'ITEM', help: 'take this item out, and whatever needs it' },
    continue: {
      type: 'strings',
      value: 'ITEM',
      help: 'lay out the conflict of this item in a folder; given again, take what the folder holds then',
    },
    skip: { type: 'strings', value: 'ITEM', help: 'leave this item out for good; it then does not count as missing' },
  },
  reads: 'item, build, patch, regression, scan, deferred and failure records',
  writes: 'one merge record an attempt, an integration record; refs/heads/builders/RUN in the run’s own repository',
  run(call) {
    const { union, drop, skip, preview, run, json } = call.flags
    if (preview) return showPreview(call.io, { run, json, union })
    const tellFolder = (folder: string | null, item: string) => {
      if (folder !== null) call.say.note(`edit the files in '${folder}', then give --continue ${item} again`)
    }
    const settings = { drop, skip, continue: call.flags.continue, isReplay: run !== undefined, tellFolder }
    return runStage(call, {}, async (stage) => {
      const ground = await openGround(stage, union)
      try {
        return await mergeItems(stage, ground, settings)
      } finally {
        ground.reader.close()
        ground.refs.close()
      }
    })
  },
})

/** What was once said with --union holds for the run: an item must be merged again as it was merged before. */
async function openGround({ run, paths, journal }: Stage, added: readonly string[]): Promise<Ground> {
  const last = journal.records().findLast(({ kind }) => kind === 'integration')?.['union']
  const before = Array.isArray(last) ? last.map(String) : []
  const union = [...new Set([...run.shared, ...before, ...added])]

  if (run.identity === null) {
    throw new UserError('no-identity', `no name to sign commits with in '${run.repo}'`, {
      hint: 'git config user.name NAME and user.email ADDRESS there, then bw-plan again',
    })
  }
  const store = await openRunStore(run, paths.repo)
  return { store, reader: objectReader(store), refs: refWriter(store), identity: run.identity, union }
}

/** The repository of the run with the base in it; made now when no stage before did. */
async function openRunStore(run: RunRecord, dir: string): Promise<Store> {
  const store = openStore(dir)
  const hasBase = await commitTreeOid(store, run.base).then(
    () => true,
    () => false,
  )
  if (hasBase) return store
  const source = await inspectSource(run.repo)
  const made = await initStore(dir, source.objectFormat)
  await importCommit(made, source, run.base)
  return made
}
