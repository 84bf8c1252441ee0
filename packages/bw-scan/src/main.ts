import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, runTool } from '@buildwave/stdio'
import { readTarget, scanAlone } from './alone.ts'
import { scanPatches } from './scan.ts'

const tool = defineTool({
  name: 'bw-scan',
  summary: 'finds credentials in what builders left, whatever they are wrapped in',
  usage: [
    '… | bw-collect | bw-scan [options] | …',
    'bw-scan --run RUN [options]',
    'git diff --binary | bw-scan --patch -',
    'bw-scan --range A..B',
    'bw-scan FILE…',
  ],
  examples: [
    ['bw-scan < patches.ndjson | jq \'select(.kind == "finding")\'', 'every finding of a saved stream'],
    ['bw-scan --range main..HEAD', 'all that the commits of a branch bring in, removed again or not'],
    ['git ls-files -z | xargs -0 bw-scan', 'a whole project'],
  ],
  flags: {
    ...stageFlags,
    patch: { type: 'string', value: 'FILE|-', help: 'scan this patch, without a run' },
    range: { type: 'string', value: 'A..B', help: 'scan the commits that B has and A has not, without a run' },
    'allow-file': {
      type: 'string',
      value: 'FILE',
      help: 'what to let pass, besides .bwscanignore of the base commit: fingerprints, one a line',
    },
    'allow-incomplete': {
      type: 'strings',
      value: 'KIND',
      help: 'let pass what could not be opened for this reason, say lfs-pointer or opaque:xz',
    },
    'key-file': {
      type: 'string',
      value: 'FILE',
      env: 'BW_SCAN_KEY_FILE',
      byDefault: 'scan.key beside the configuration',
      help: 'the key of fingerprints',
    },
    'token-file': {
      type: 'string',
      value: 'FILE',
      env: 'BW_TOKEN_FILE',
      byDefault: 'token beside the configuration',
      help: "the run's own credential, sought by value",
    },
  },
  reads: 'patch records, their commits, test logs and event streams; or a patch, commits or files',
  writes: 'finding and scan records, without the secrets; exit 5 for a secret or what could not be opened',
  run(call) {
    const { flags, args, io } = call
    const target = readTarget(flags.patch, flags.range, args)
    return target === undefined
      ? runStage(call, { after: 'bw-collect' }, (stage) => scanPatches(stage, io, flags))
      : scanAlone(io, flags, target)
  },
})

await runTool(tool)
