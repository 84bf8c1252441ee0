import { connect } from '@buildwave/engine'
import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, runTool } from '@buildwave/stdio'
import { checkPatches } from './regress.ts'

const tool = defineTool({
  name: 'bw-regress',
  summary: "shows that a patch's tests fail without the rest of the patch",
  usage: ['… | bw-collect | bw-regress [--tests GLOB]… [ITEM…] | …', 'bw-regress --run RUN [ITEM…]'],
  examples: [
    ['bw-regress < patches.ndjson | jq \'select(.kind == "regression")\'', 'every patch of a saved stream'],
    ["bw-regress --run mathkit-1a2b3c4d --tests 'tests/*' fix-mean", 'the tests of one item on the base alone'],
  ],
  flags: {
    ...stageFlags,
    tests: {
      type: 'strings',
      value: 'GLOB',
      help: 'which changed files are the tests; else those that look like tests',
    },
    parallel: { type: 'count', value: 'N', byDefault: '2', help: 'how many patches to check at once' },
  },
  reads: 'patch records; the commits that bw-collect made',
  writes: 'regression records; exit 5 when one is not proven',
  run(call) {
    const { flags, args } = call
    const settings = { items: args, testGlobs: flags.tests, parallel: flags.parallel ?? 2 }
    return runStage(call, {}, (stage) => checkPatches(stage, settings, () => connect(stage)))
  },
})

await runTool(tool)
