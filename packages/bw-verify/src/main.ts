import { connect } from '@buildwave/engine'
import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, runTool } from '@buildwave/stdio'
import { recheckFile } from './recheck-file.ts'
import { explain } from './say-verdict.ts'
import { verifyHead } from './verify.ts'

const defaultParallel = 3

const tool = defineTool({
  name: 'bw-verify',
  summary: 'runs the whole suite on the merged head and names who broke it',
  usage: ['… | bw-merge | bw-verify | bw-deliver', 'bw-verify --run RUN', 'bw-verify --evidence FILE [--repo DIR]'],
  examples: [
    ['bw-merge < scanned.ndjson | bw-verify > verified.ndjson', 'merge from a saved stream and verify the result'],
    ['bw-merge --run R --drop ITEM && bw-verify --run R', 'verify again without a culprit'],
    ['bw-verify --evidence evidence.json --repo ~/clone', 'check a delivered branch elsewhere, without the run'],
  ],
  flags: {
    ...stageFlags,
    parallel: {
      type: 'count',
      value: 'N',
      byDefault: String(defaultParallel),
      help: 'how many sets of items to test at once while culprits are sought',
    },
    evidence: {
      type: 'string',
      value: 'FILE',
      help: "check a delivery again from bw-deliver's evidence file: history, then tests; exit 4 when it is not what was verified",
    },
    repo: { type: 'string', value: 'DIR', byDefault: 'the current folder', help: 'with --evidence: the repository' },
  },
  reads: 'integration records; the head of the stack; or an evidence file and a repository',
  writes: 'a verification record; exit 5 when it is red',
  run(call) {
    const { flags, io, say } = call
    if (flags.evidence !== undefined) return recheckFile(call, { file: flags.evidence, repo: flags.repo ?? io.cwd })
    const settings = { parallel: flags.parallel ?? defaultParallel }
    return runStage(call, { after: 'bw-merge' }, (stage) =>
      verifyHead(stage, settings, { engine: () => connect(stage), show: (record) => explain(say, record) }),
    )
  },
})

await runTool(tool)
