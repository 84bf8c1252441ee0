import { exit, UserError } from '@buildwave/core'
import { connect } from '@buildwave/engine'
import { findItem, findState, liveLeases, pickRun, readHistory } from '@buildwave/runs'
import { type AnyRecord, defineTool, recordWriter, runTool } from '@buildwave/stdio'
import { type RunPaths, stateId } from '@buildwave/store'
import { stopBuilders } from './stop.ts'

const tool = defineTool({
  name: 'bw-stop',
  summary: 'stops builders of a run; what they have written so far stays',
  usage: ['bw-stop [RUN] ITEM…', 'bw-stop [RUN] --all'],
  examples: [
    ['bw-stop mathkit-1a2b3c4d 2 3', 'stop these two; the next call of the pipeline makes the next attempt at them'],
    ['bw-stop --all', 'stop every builder, where there is one run only'],
  ],
  flags: {
    all: { type: 'boolean', help: 'stop every builder of the run' },
    json: { type: 'boolean', help: 'write records even when stdout is a terminal' },
  },
  reads: "the run's journal and the engine",
  writes: 'stop records; ends containers',
  async run({ flags, args, io, say }) {
    const state = findState(io)
    const { paths, rest } = pickRun(state, args)
    const items = chosenItems(paths, rest, flags.all)
    const engine = await connect({ state: stateId(state) })
    const isText = io.stdout.isTTY === true && !flags.json
    const writer = recordWriter(io.stdout, isText ? stopAsText : undefined)
    const onStop = async (stop: object) => void (await writer.write(stop as AnyRecord))
    const stopped = await stopBuilders(engine, paths, { items, onStop })
    await writer.drained()
    if (stopped.length === 0)
      say.note(`no builder ${items === null ? '' : 'of these items '}is at work on '${paths.id}'`)
    if (items === null && liveLeases(paths).some(({ stage }) => stage === 'bw-spawn')) {
      say.warn('bw-spawn is at work on this run and may start other items: interrupt it too')
    }
    return exit.ok
  },
})

/** Slugs of the items, null for all. Every name is looked up before anything is stopped. */
function chosenItems(paths: RunPaths, names: readonly string[], all: boolean): string[] | null {
  if (all && names.length > 0) throw new UserError('bad-arguments', `'--all' and '${names[0]}' do not go together`)
  if (all) return null
  if (names.length === 0) {
    throw new UserError('bad-arguments', `nothing is chosen of run '${paths.id}'`, {
      hint: 'name items, or give --all',
    })
  }
  const history = readHistory(paths)
  return names.map((name) => findItem(history, name).item)
}

function stopAsText({ item, attempt }: AnyRecord): string {
  return `${String(item)}: stopped, attempt ${String(attempt)}`
}

await runTool(tool)
