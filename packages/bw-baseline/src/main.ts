import type { BaselineRecord } from '@buildwave/core'
import { connect } from '@buildwave/engine'
import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, type Messages, runTool } from '@buildwave/stdio'
import { writeBaseline } from './baseline.ts'

const tool = defineTool({
  name: 'bw-baseline',
  summary: 'runs the tests at the base, in a fresh container without a network',
  usage: ['bw-plan PLAN.md | bw-baseline | …', 'bw-baseline --run RUN'],
  examples: [
    ['bw-plan PLAN.md | bw-baseline > planned.ndjson', 'see what fails before anything is built'],
    ['bw-baseline --run mathkit-1a2b3c4d --again', 'run the tests at the base once more'],
  ],
  flags: { ...stageFlags },
  reads: 'run and item records; the base commit',
  writes: 'a baseline record; baseline.log of the run',
  run: (call) =>
    runStage(call, {}, (stage) =>
      writeBaseline(stage, { engine: () => connect(stage), show: (record) => warnOfFailures(call.say, record) }),
    ),
})

function warnOfFailures(say: Messages, { result }: BaselineRecord): void {
  if (result.verdict !== 'red') return
  const failed = Object.values(result.tests ?? {}).filter((outcome) => outcome === 'failed').length
  const what = failed === 0 ? 'the test command fails' : failed === 1 ? '1 test fails' : `${failed} tests fail`
  say.warn(`${what} at the base already; no item is blamed for it`)
}

await runTool(tool)
