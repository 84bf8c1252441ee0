import { connect, type Engine } from '@buildwave/engine'
import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, runTool } from '@buildwave/stdio'
import { openView } from './view.ts'
import { watchBuilders } from './watch.ts'

const tool = defineTool({
  name: 'bw-watch',
  summary: 'follows the builders of a run and says how each attempt ended',
  usage: ['… | bw-spawn | bw-watch [--timeout S] [--events] | …', 'bw-watch --run RUN'],
  examples: [
    ['bw-plan PLAN.md | bw-spawn | bw-watch > built.ndjson', 'build the first wave and keep its records'],
    ['bw-watch --run mathkit-1a2b3c4d --timeout 600', 'wait at most ten minutes; exit 2 means it still runs'],
  ],
  flags: {
    ...stageFlags,
    timeout: { type: 'number', value: 'S', help: 'give up waiting after S seconds, exit 2; the builders go on' },
    stall: { type: 'number', value: 'MIN', byDefault: '15', help: 'stop an attempt that says nothing for MIN minutes' },
    events: { type: 'boolean', help: 'write progress records too, at most one a second and item' },
  },
  reads: 'builder records; the event files of the builders',
  writes: 'build records; the live table on stderr',
  async run(call) {
    const { flags, io } = call
    const view = openView(io, call.tool)
    let engine: Promise<Engine> | undefined
    const settings = { stallMinutes: flags.stall ?? 15, timeoutSeconds: flags.timeout ?? null, events: flags.events }
    try {
      return await runStage(call, {}, (stage) =>
        watchBuilders(stage, settings, { engine: () => (engine ??= connect(stage)), view }),
      )
    } finally {
      view.close()
    }
  },
})

await runTool(tool)
