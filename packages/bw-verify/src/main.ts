import type { VerificationRecord } from '@buildwave/core'
import { connect } from '@buildwave/engine'
import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, type Messages, runTool } from '@buildwave/stdio'
import { verifyHead } from './verify.ts'

const defaultParallel = 3

const tool = defineTool({
  name: 'bw-verify',
  summary: 'runs the whole suite on the merged head and names who broke it',
  usage: ['… | bw-merge | bw-verify | bw-deliver', 'bw-verify --run RUN'],
  examples: [
    ['bw-verify --run mathkit-1a2b3c4d', 'verify what bw-merge made'],
    ['bw-merge --run R --drop ITEM && bw-verify --run R', 'verify again without a culprit'],
  ],
  flags: {
    ...stageFlags,
    parallel: {
      type: 'count',
      value: 'N',
      byDefault: String(defaultParallel),
      help: 'how many sets of items to test at once while culprits are sought',
    },
  },
  reads: 'integration records; the head of the stack',
  writes: 'a verification record; exit 5 when it is red',
  run(call) {
    const settings = { parallel: call.flags.parallel ?? defaultParallel }
    return runStage(call, { after: 'bw-merge' }, (stage) =>
      verifyHead(stage, settings, { engine: connect, show: (record) => explain(call.say, record) }),
    )
  },
})

function explain(say: Messages, { run, verdict, changes, culprits }: VerificationRecord): void {
  const flaky = changes.flaky.length
  if (flaky > 0) say.warn(`flaky, blamed on nobody: ${changes.flaky.join(', ')}`)
  if (verdict === 'green') return
  const lost = [...changes.newlyFailing, ...changes.newlySkipped, ...changes.vanished]
  const what = lost.length === 0 ? 'the test command fails' : lost.slice(0, 5).join(', ')
  const more = lost.length > 5 ? ` and ${lost.length - 5} more` : ''
  const who = culprits.length === 1 ? culprits[0] : `${culprits.join(' and ')} together`
  say.error(`red because of ${who}: ${what}${more}`, `bw-merge --run ${run} --drop ${culprits.at(-1)} takes it out`)
}

await runTool(tool)
