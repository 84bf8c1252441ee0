import { type ExitStatus, exit, UserError } from '@buildwave/core'
import { findState, pickRun, refuseRest } from '@buildwave/runs'
import { defineTool, runTool } from '@buildwave/stdio'
import { stateId } from '@buildwave/store'
import { readLog } from './log-file.ts'
import { chooseLog, endOf, missingLog } from './logs.ts'
import { printSafely } from './print.ts'

const tool = defineTool({
  name: 'bw-logs',
  summary: 'prints what a builder said, without secrets and without control characters',
  usage: ['bw-logs [RUN] ITEM [--attempt N] [--follow] [--tests|--stderr|--prompt]'],
  examples: [
    ['bw-logs mathkit-1a2b3c4d 2 --follow', "an item's events until its builder ends"],
    ['bw-logs 2 --tests | tail', 'how its tests went, where there is one run only'],
  ],
  flags: {
    attempt: { type: 'count', byDefault: 'the latest', help: 'which attempt at the item' },
    follow: { type: 'boolean', short: 'f', help: 'go on until the builder has ended' },
    tests: { type: 'boolean', help: 'what the tests said when they were run again on its work' },
    stderr: { type: 'boolean', help: "the agent's error output" },
    prompt: { type: 'boolean', help: 'what the agent was told' },
  },
  reads: "the attempt's files in the run store",
  writes: 'the file, secrets masked and control characters escaped',
  async run({ flags, args, io }) {
    const state = findState(io)
    const { paths, rest } = pickRun(state, args)
    const [name, ...more] = rest
    if (name === undefined)
      throw new UserError('bad-arguments', 'no item is given', { hint: `bw-ls ${paths.id} lists them` })
    refuseRest(more, 'second item')
    const chosen = chooseLog(paths, name, flags)
    const stopping = new AbortController()
    let status: ExitStatus = exit.ok
    const stopListening = io.onSignal((signal) => {
      status = signal === 'SIGINT' ? exit.interrupted : exit.terminated
      stopping.abort()
    })
    const end = flags.follow ? await endOf(paths, chosen, stateId(state)) : null
    const following = end === null ? null : { isOver: end.isOver, signal: stopping.signal }
    try {
      await printSafely(readLog(chosen.path, following), { stdout: io.stdout, signal: stopping.signal })
    } catch (error) {
      if (error instanceof UserError && error.code === 'no-log') throw missingLog(chosen, error)
      if (!stopping.signal.aborted) throw error
    } finally {
      stopListening()
      end?.close()
    }
    return status
  },
})

await runTool(tool)
