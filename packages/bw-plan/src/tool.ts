import { defineTool } from '@buildwave/stdio'
import { planFlags } from './flags.ts'

export const planTool = defineTool({
  name: 'bw-plan',
  summary: 'reads a plan and says which of its items may run together',
  usage: ['bw-plan PLAN [ITEM…]', 'bw-plan - < PLAN', 'bw-plan --from ITEMS.ndjson', 'bw-plan --lint PLAN'],
  examples: [
    [
      'bw-plan PLAN.md | bw-baseline | bw-spawn | bw-watch | bw-collect | bw-scan | bw-merge | bw-verify | bw-deliver',
      'the whole job',
    ],
    ['bw-plan PLAN.md', 'on a terminal: the waves, who owns which files, who waits for whom'],
    ['bw-plan PLAN.md 2 3 5 --owns 3=src/api/,docs/api.md --after 5=2', 'three items, one of them better known'],
    [
      'bw-plan PLAN.md --json | jq -c \'select(.kind != "item" or .type == "bugfix")\' | bw-plan --from - | bw-spawn',
      'only the bugs, placed anew',
    ],
  ],
  flags: planFlags,
  reads: 'the plan; the repository, where it changes nothing',
  writes: 'one run record, item records in wave order, one end record; nothing on disk',
  async run(call) {
    const { planCommand } = await import('./command.ts')
    return planCommand(call)
  },
})
