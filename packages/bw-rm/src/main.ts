import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ExitStatus, exit, UserError } from '@buildwave/core'
import { connect, type Engine } from '@buildwave/engine'
import { findState, holdingsOf, pickRun, refuseRest, type Uncollected } from '@buildwave/runs'
import {
  type AnyRecord,
  type Call,
  defineTool,
  type Flags,
  type RecordWriter,
  recordWriter,
  runTool,
} from '@buildwave/stdio'
import { type RunPaths, stateId } from '@buildwave/store'
import { refuseLive, refuseStrangePlace } from './refuse.ts'
import { planLeftovers, planRemoval, type Removal, removeFromEngine } from './remove.ts'
import { removeFolder } from './remove-folder.ts'
import { removalAsText } from './text.ts'

const tool = defineTool({
  name: 'bw-rm',
  summary: 'removes a run: its folder, its containers and its volumes',
  usage: [
    'bw-rm [RUN] [--force]          show what would go',
    'bw-rm [RUN] [--force] --yes    remove it',
    'bw-rm --engine-leftovers [--yes]',
  ],
  examples: [
    ['bw-rm mathkit-1a2b3c4d', 'what would go; nothing is touched'],
    [
      'bw-ls | jq -r \'select(.state == "delivered") | .run\' | xargs -n 1 bw-rm --yes',
      'remove the runs that were delivered',
    ],
  ],
  flags: {
    yes: { type: 'boolean', help: 'do it' },
    force: { type: 'boolean', help: 'also what nobody has collected, and also when no engine answers' },
    'engine-leftovers': {
      type: 'boolean',
      help: 'remove what the engine holds of runs of this state folder that are gone, and whose time is over',
    },
    json: { type: 'boolean', help: 'write records even when stdout is a terminal' },
  },
  reads: "the run's folder and the engine",
  writes: 'removal records; with --yes removes folders, containers and volumes',
  async run({ flags, args, io, say }) {
    const state = findState(io)
    const isText = io.stdout.isTTY === true && !flags.json
    const out = { writer: recordWriter(io.stdout, isText ? removalAsText : undefined), say, yes: flags.yes }
    if (flags.engineLeftovers) {
      refuseRest(args, "'--engine-leftovers' of a run")
      return removeLeftovers(state, out)
    }
    const { paths, rest } = pickRun(state, args)
    refuseRest(rest, 'run')
    return removeRun(state, paths, { ...out, force: flags.force })
  },
})

interface Out {
  writer: RecordWriter
  say: Call<Flags>['say']
  yes: boolean
}

async function removeRun(state: string, paths: RunPaths, how: Out & { force: boolean }): Promise<ExitStatus> {
  refuseStrangePlace(state, paths)
  refuseLive(paths)
  const engine = await findEngine(state, how)
  const { removal, uncollected } = await planRemoval(state, paths, engine)
  if (!how.yes) await show(how, removal)
  if (!how.force) refuseUncollected(paths, uncollected)
  if (!how.yes) return nothingRemoved(how)
  // Looking and removing take a while, and somebody may have called the pipeline again.
  refuseLive(paths)
  const gone = engine === null ? {} : await removeFromEngine(engine, state, removal)
  refuseLive(paths)
  refuseStrangePlace(state, paths)
  await removeFolder(paths.dir)
  await show(how, { ...removal, ...gone, removed: true })
  return exit.ok
}

/** Null with `--force` when no engine answers: then what it holds stays, for `--engine-leftovers`. */
async function findEngine(state: string, { say, force }: Out & { force: boolean }): Promise<Engine | null> {
  try {
    return await connect({ state: stateId(state) })
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'no-engine') throw error
    if (!force) {
      throw new UserError(error.code, `${error.message}, so what nobody has collected is not known`, {
        hint: 'start the engine; --force removes the folder alone',
      })
    }
    say.warn(`${error.message}: what it holds of this run stays`)
    return null
  }
}

function refuseUncollected({ id }: RunPaths, uncollected: readonly Uncollected[]): void {
  const [first] = uncollected
  if (first === undefined) return
  const more = uncollected.length === 1 ? '' : ` and ${uncollected.length - 1} more`
  throw new UserError('uncollected', `run '${id}' has work that nobody has collected: '${first.item}'${more}`, {
    hint: first.running
      ? `bw-stop ${id} --all ends builders; --force throws their work away`
      : `bw-collect --run ${id} takes it; --force throws it away`,
  })
}

async function removeLeftovers(state: string, how: Out): Promise<ExitStatus> {
  if (!existsSync(join(state, 'id'))) {
    how.say.note(`'${state}' has never had a run`)
    return exit.ok
  }
  const engine = await connect({ state: stateId(state) })
  const plans = planLeftovers(state, (await holdingsOf(engine)).byRun, Date.now())
  for (const plan of plans) {
    if (how.yes) await show(how, { ...plan, ...(await removeFromEngine(engine, state, plan)), removed: true })
    else await show(how, plan)
  }
  if (plans.length === 0) how.say.note('the engine holds nothing of runs that are gone and whose time is over')
  return how.yes || plans.length === 0 ? exit.ok : nothingRemoved(how)
}

function nothingRemoved({ say }: Out): ExitStatus {
  say.note('nothing was removed: --yes does it')
  return exit.ok
}

async function show({ writer }: Out, removal: Removal): Promise<void> {
  await writer.write({ ...removal } as AnyRecord)
  await writer.drained()
}

await runTool(tool)
