import { exit } from '@buildwave/core'
import { logOneline } from '@buildwave/git'
import { runStage, stageFlags } from '@buildwave/stage'
import { type Call, defineTool, escapeControls, type Flags } from '@buildwave/stdio'
import { type Delivered, deliverHead } from './deliver.ts'

export const tool = defineTool({
  name: 'bw-deliver',
  summary: 'adds the verified branch to your repository: its objects and one ref, nothing else',
  usage: ['… | bw-verify | bw-deliver [--partial] [--dry-run]', 'bw-deliver --run RUN'],
  examples: [
    ['bw-verify < merged.ndjson | bw-deliver', 'verify a merged branch and deliver it'],
    ['bw-deliver --run mathkit-1a2b3c4d --dry-run', 'say what would be delivered, and what is missing'],
    ['bw-deliver --run mathkit-1a2b3c4d --partial', 'deliver although items are missing'],
  ],
  flags: {
    ...stageFlags,
    partial: { type: 'boolean', help: 'deliver although a chosen item is missing' },
    'dry-run': { type: 'boolean', help: 'check everything, write nothing' },
  },
  reads: 'merge, integration, verification, patch and scan records; the run’s own repository',
  writes: 'a delivery record, the evidence file of the run; refs/heads/builders/RUN in your repository',
  run(call) {
    const { partial, dryRun } = call.flags
    return runStage(call, { after: 'bw-verify' }, async (stage) => {
      const delivered = await deliverHead(stage, { partial, dryRun })
      await show(call, delivered, dryRun)
      return [exit.ok]
    })
  },
})

/** The branch, its commits and how to review it, for a person: on stderr, since stdout holds records. */
async function show({ io, say }: Call<Flags>, { plan, store, isNew }: Delivered, dryRun: boolean): Promise<void> {
  const { branch, base, oid, left } = plan
  const did = dryRun ? 'would deliver' : isNew ? 'delivered' : 'delivered before:'
  say.note(`${did} ${branch} to ${plan.source.top}`)
  for (const { item, reason } of left) say.note(`without ${item}: ${reason}`)
  const commits = await logOneline(store, base, oid)
  const review = `git diff ${base.slice(0, 10)}..${branch}`
  for (const line of [...commits, review]) io.stderr.write(`  ${escapeControls(line)}\n`)
}
