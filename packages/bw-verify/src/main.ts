import type { VerificationRecord } from '@buildwave/core'
import { connect } from '@buildwave/engine'
import { safeText } from '@buildwave/secrets'
import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, type Messages, runTool } from '@buildwave/stdio'
import { verifyHead } from './verify.ts'

const defaultParallel = 3

const shownNames = 5

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

/** A test's name is text of a builder: it is masked and escaped like everything of theirs. */
function explain(say: Messages, { run, verdict, changes, culprits }: VerificationRecord): void {
  if (changes.flaky.length > 0) say.warn(`flaky, blamed on nobody: ${listed(changes.flaky)}`)
  if (verdict === 'green') return
  const lost = [...changes.newlyFailing, ...changes.newlySkipped, ...changes.vanished]
  const who = culprits.length === 1 ? culprits[0] : `${culprits.join(' and ')} together`
  const what = lost.length === 0 ? 'the test command fails' : listed(lost)
  say.error(`red because of ${who}: ${what}`, `bw-merge --run ${run} --drop ${culprits.at(-1)} takes it out`)
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, shownNames).map((name) => safeText(name))
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

await runTool(tool)
