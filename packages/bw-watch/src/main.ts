import { type ExitStatus, exit } from '@buildwave/core'
import { connect, type Engine } from '@buildwave/engine'
import { runStage, stageFlags } from '@buildwave/stage'
import { defineTool, type Io, runTool } from '@buildwave/stdio'
import { type RunPaths, runPaths, stateDir } from '@buildwave/store'
import { isFollowed, lookOn } from './look.ts'
import { openView, type View } from './view.ts'
import { watchBuilders } from './watch.ts'

const tool = defineTool({
  name: 'bw-watch',
  summary: 'follows the builders of a run and says how each attempt ended',
  usage: ['… | bw-spawn | bw-watch [--timeout S] [--events] | …', 'bw-watch --run RUN'],
  examples: [
    ['bw-plan PLAN.md | bw-spawn | bw-watch > built.ndjson', 'build the first wave and keep its records'],
    ['bw-watch --run mathkit-1a2b3c4d', 'look at a run from another terminal while its pipe works'],
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
      const paths = flags.run === undefined ? undefined : runPaths(stateDir(io.env), flags.run)
      if (paths !== undefined && isFollowed(paths)) return await lookBeside(io, paths, view)
      return await runStage(call, {}, (stage) =>
        watchBuilders(stage, settings, { engine: () => (engine ??= connect(stage)), view }),
      )
    } finally {
      view.close()
    }
  },
})

/** Another bw-watch writes the records; this one only shows. */
async function lookBeside(io: Io, paths: RunPaths, view: View): Promise<ExitStatus> {
  const stop = new AbortController()
  let signalled: ExitStatus = exit.ok
  const forget = io.onSignal((signal) => {
    signalled = signal === 'SIGINT' ? exit.interrupted : exit.terminated
    stop.abort()
  })
  await lookOn(paths, view, stop.signal)
  forget()
  return signalled
}

await runTool(tool)
