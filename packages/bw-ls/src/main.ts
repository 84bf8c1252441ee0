import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { exit, UserError } from '@buildwave/core'
import { connect } from '@buildwave/engine'
import { findState, type Holdings, holdingsOf, pickRun, refuseRest } from '@buildwave/runs'
import { type AnyRecord, type Call, defineTool, type Flags, recordWriter, runTool } from '@buildwave/stdio'
import { stateId } from '@buildwave/store'
import { leftovers, overviews, standings } from './list.ts'
import { itemTable, leftoverLines, runTable } from './table.ts'

const tool = defineTool({
  name: 'bw-ls',
  summary: 'lists the runs of the state folder, or the items of one',
  usage: ['bw-ls          the runs, and what lies on the engine without one', 'bw-ls RUN      its items'],
  examples: [
    [
      "bw-ls | jq -r 'select(.uncollected != null and .uncollected != []) | .run'",
      'runs with work that nobody collected',
    ],
    ['bw-ls mathkit-1a2b3c4d', 'where each item of a run stands'],
  ],
  flags: { json: { type: 'boolean', help: 'write records even when stdout is a terminal' } },
  reads: 'the state folder and the engine',
  writes: 'overview, leftover or standing records; a table on a terminal; touches nothing',
  async run({ flags, args, io, say }) {
    const state = findState(io)
    const isText = io.stdout.isTTY === true && !flags.json
    const now = Date.now()
    if (args.length > 0) {
      const { paths, rest } = pickRun(state, args)
      refuseRest(rest, 'run')
      const items = standings(paths, await askEngine(state, say))
      await (isText ? writeLines(io.stdout, itemTable(items)) : writeRecords(io.stdout, items))
      return exit.ok
    }
    const holdings = await askEngine(state, say)
    const runs = overviews(state, holdings)
    const left = holdings === null ? [] : leftovers(state, holdings, now)
    if (isText) await writeLines(io.stdout, [...runTable(runs, now), ...leftoverLines(left)])
    else await writeRecords(io.stdout, [...runs, ...left])
    return exit.ok
  },
})

/** Without an engine the runs are listed all the same. Looking must not make a state folder. */
async function askEngine(state: string, say: Call<Flags>['say']): Promise<Holdings | null> {
  try {
    return await holdingsOf(await connect(existsSync(join(state, 'id')) ? { state: stateId(state) } : {}))
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'no-engine') throw error
    say.warn(`${error.message}, so what is uncollected is not known`)
    return null
  }
}

async function writeLines(stdout: NodeJS.WritableStream, lines: readonly string[]): Promise<void> {
  stdout.on('error', () => undefined)
  if (lines.length > 0) await new Promise<void>((resolve) => stdout.write(`${lines.join('\n')}\n`, () => resolve()))
}

async function writeRecords(stdout: Parameters<typeof recordWriter>[0], records: readonly object[]): Promise<void> {
  const writer = recordWriter(stdout)
  for (const record of records) await writer.write(record as AnyRecord)
  await writer.drained()
}

await runTool(tool)
