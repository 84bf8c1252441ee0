import { exit, UserError } from '@buildwave/core'
import { findState, pickRun, readHistory, refuseRest } from '@buildwave/runs'
import { type AnyRecord, defineTool, type Io, recordWriter, runTool, wantsColour } from '@buildwave/stdio'
import { colourDiff, safeDiff } from './diff.ts'
import { patchText, showAttempt } from './show.ts'
import { attemptText } from './text.ts'

const tool = defineTool({
  name: 'bw-show',
  summary: 'shows an item: its patch, tests, findings and verdicts',
  usage: ['bw-show [RUN] ITEM [--attempt N]', 'bw-show [RUN] ITEM --patch'],
  examples: [
    ['bw-show mathkit-1a2b3c4d 2 --text | less -R', 'what an item did and what was found out about it'],
    ['bw-show 2 | jq \'select(.kind == "patch") | .files\'', 'its changed files, where there is one run only'],
    ['bw-show mathkit-1a2b3c4d 2 --patch', 'the patch, secrets masked'],
  ],
  flags: {
    attempt: { type: 'count', byDefault: 'the latest', help: 'which attempt at the item' },
    patch: { type: 'boolean', help: 'the patch alone, as text; for reading, since what is masked cannot be applied' },
    text: { type: 'boolean', help: 'write text even when stdout is no terminal' },
    json: { type: 'boolean', help: 'write records even when stdout is a terminal' },
  },
  reads: "the run's journal and its repository",
  writes:
    "the journal's records about the attempt; on a terminal text and the patch, secrets masked and control characters escaped",
  async run({ flags, args, io }) {
    if (flags.json && (flags.text || flags.patch)) {
      throw new UserError('bad-arguments', `'--json' and '--${flags.text ? 'text' : 'patch'}' do not go together`)
    }
    const { paths, rest } = pickRun(findState(io), args)
    const [name, ...more] = rest
    if (name === undefined)
      throw new UserError('bad-arguments', 'no item is given', { hint: `bw-ls ${paths.id} lists them` })
    refuseRest(more, 'second item')
    const shown = showAttempt(readHistory(paths), name, flags.attempt)
    const isText = flags.text || (io.stdout.isTTY === true && !flags.json)
    if (!isText && !flags.patch) {
      const writer = recordWriter(io.stdout)
      for (const record of shown.records) await writer.write(record as AnyRecord)
      await writer.drained()
      return exit.ok
    }
    const isCollected = shown.patch !== null || flags.patch
    const diff = isCollected ? safeDiff(await patchText(paths, shown)) : ''
    const about = flags.patch ? '' : `${attemptText(shown).join('\n')}\n${diff === '' ? '' : '\n'}`
    await write(io, about + (wantsColour(io.stdout, io.env) ? colourDiff(diff) : diff))
    return exit.ok
  },
})

async function write({ stdout }: Io, text: string): Promise<void> {
  // Whoever has seen enough closes the pipe.
  stdout.on('error', () => undefined)
  if (text !== '') await new Promise<void>((resolve) => stdout.write(text, () => resolve()))
}

await runTool(tool)
