import { type PatchRecord, UserError } from '@buildwave/core'
import { connect } from '@buildwave/engine'
import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, type Messages, runTool } from '@buildwave/stdio'
import { collectBuilds } from './collect.ts'

/** Checks are short and use every core; more of them at once only make each slower. */
const defaultParallel = 2

const tool = defineTool({
  name: 'bw-collect',
  summary: 'turns what builders left into commits and tests them in fresh containers',
  usage: ['… | bw-watch | bw-collect [--scope flag|block] | …', 'bw-collect --run RUN'],
  examples: [
    ['bw-collect < built.ndjson | bw-scan > patches.ndjson', 'collect and scan from a saved stream'],
    ['bw-collect --scope block --run mathkit-1a2b3c4d', 'refuse items that changed files they do not own'],
  ],
  flags: {
    ...stageFlags,
    scope: {
      type: 'string',
      value: 'flag|block',
      env: 'BW_SCOPE',
      byDefault: 'flag',
      help: 'whether a changed file outside of what an item owns is only reported or blocks the item',
    },
    parallel: {
      type: 'count',
      value: 'N',
      byDefault: String(defaultParallel),
      help: 'how many attempts to collect and test at once',
    },
  },
  reads: 'build records; what the builders left',
  writes: "patch records, regression records for bugfix items; commits in the run's own repository",
  run(call) {
    const { flags } = call
    const settings = { scope: readScope(flags.scope), parallel: flags.parallel ?? defaultParallel }
    return runStage(call, {}, (stage) =>
      collectBuilds(stage, settings, { engine: () => connect(stage), show: (patch) => explain(call.say, patch) }),
    )
  },
})

function readScope(value: string | undefined): 'flag' | 'block' {
  if (value === undefined || value === 'flag') return 'flag'
  if (value === 'block') return 'block'
  throw new UserError('bad-arguments', `'--scope' is 'flag' or 'block', not '${value}'`)
}

/** Only words of ours: paths and names of tests are a builder's text, and in the record. */
function explain(say: Messages, patch: PatchRecord & { rewritten?: unknown }): void {
  const { item, blockedBy, outOfScope } = patch
  if (blockedBy.length > 0) say.warn(`'${item}' is blocked: ${blockedBy.join(', ')}`)
  if (outOfScope.length > 0) say.warn(`'${item}' changed ${outOfScope.length} files outside of its scope`)
  const failing = newlyFailing(patch.rewritten)
  if (failing > 0) say.warn(`'${item}' rewrote tests of its own: ${failing} would fail as they were`)
}

function newlyFailing(rewritten: unknown): number {
  const { changes } = (rewritten ?? {}) as { changes?: { newlyFailing?: unknown[] } }
  return changes?.newlyFailing?.length ?? 0
}

await runTool(tool)
