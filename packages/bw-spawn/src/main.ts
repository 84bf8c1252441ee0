import { type AgentSettings, agentNames, findAgent } from '@buildwave/agents'
import { ensureBaseline, openRunRepo, openSuite } from '@buildwave/checks'
import { UserError } from '@buildwave/core'
import { canary, connect, type Engine, imageDigest } from '@buildwave/engine'
import type { Api } from '@buildwave/gateway'
import { hasRef, inspectSource } from '@buildwave/git'
import { Interrupted, runStage, type Stage, stageFlags } from '@buildwave/stage'
import { defineTool, runTool } from '@buildwave/stdio'
import { protectedPrefixes, readUserConfig, refuseProtected } from '@buildwave/store'
import { spawnItems, stopRunning } from './spawn.ts'
import { gatewayFlags, openWayOut } from './way-out.ts'

const tool = defineTool({
  name: 'bw-spawn',
  summary: 'starts a builder for each item of a run, as slots and dependencies allow',
  usage: ['… | bw-spawn [--agent NAME] [--max-parallel N] | bw-watch | …', 'bw-spawn --run RUN'],
  examples: [
    ['bw-plan PLAN.md | bw-baseline | bw-spawn --agent claude | bw-watch > built.ndjson', 'build the first wave'],
    ['bw-plan PLAN.md | bw-spawn --agent script --script ./scripts | bw-watch', 'try a plan without spending anything'],
    [
      'bw-plan PLAN.md | bw-spawn --agent command --command my-agent --command --fast | bw-watch',
      'any program that takes a prompt file',
    ],
  ],
  flags: {
    ...stageFlags,
    agent: {
      type: 'string',
      value: 'NAME',
      env: 'BW_AGENT',
      byDefault: 'claude',
      help: `who does the work: ${agentNames.join(', ')}`,
    },
    model: { type: 'string', value: 'MODEL', env: 'BW_MODEL', byDefault: "the agent's own", help: 'the model it uses' },
    script: {
      type: 'string',
      value: 'DIR',
      env: 'BW_SCRIPT',
      help: 'for agent script: a folder with ITEM.sh or default.sh',
    },
    command: { type: 'strings', value: 'WORD', help: 'for agent command: the program, then each argument' },
    'agent-bin': { type: 'string', value: 'FILE', env: 'BW_AGENT_BIN', help: "the agent's program on this host" },
    'max-parallel': { type: 'count', env: 'BW_MAX_PARALLEL', byDefault: '3', help: 'builders at once' },
    attempts: {
      type: 'count',
      env: 'BW_ATTEMPTS',
      byDefault: '2',
      help: 'attempts at an item that ended without a result',
    },
    ...gatewayFlags,
  },
  reads: 'run and item records, to their end; merge records from the journal',
  writes: 'builder, deferred and failure records; starts containers',
  async run(call) {
    const { flags, io, say } = call
    const config = readUserConfig(io.env)
    const agent = findAgent(flags.agent ?? config.agent ?? 'claude')
    const settings: AgentSettings = {
      model: flags.model ?? config.model ?? null,
      agentBin: flags.agentBin ?? config.agentBin ?? null,
      scriptDir: flags.script ?? null,
      command: flags.command,
      maxTurns: flags.maxTurns ?? null,
    }
    const prefixes = protectedPrefixes(config.protectedPaths ?? [], io.env)
    const guard = (path: string) => refuseProtected(path, 'agent program or script folder', { cwd: io.cwd, prefixes })
    let engine: Engine | undefined
    return await runStage(call, { handlesSecondInterrupt: true }, async (stage) => {
      await readAll(stage)
      refuseNoIdentity(stage)
      const located = await agent.locate({ settings, env: io.env, guard })
      await refuseDelivered(stage)
      engine = await connect(stage)
      await refuseWeakEngine(engine)
      const store = await openRunRepo(stage.run, stage.paths)
      const suite = await openSuite({ run: stage.run, paths: stage.paths, engine, repo: store })
      await ensureBaseline(suite, stage)
      const api = apis[agent.name]
      const wayOut =
        api === undefined
          ? null
          : await openWayOut(api, { flags, io, config, paths: stage.paths, prefixes, note: say.note })
      const slots = slotsOf(stage, flags.maxParallel, config.maxParallel)
      if (slots > 3) say.warn(`${slots} builders at once: each spends its own usage`)
      const spawn = {
        agent,
        located,
        settings,
        imageDigest: await imageDigest(engine, stage.run.image),
        slots,
        attempts: flags.attempts ?? 2,
        wayOut,
      }
      try {
        const work = spawnItems(stage, spawn, { engine, store })
        return await (wayOut === null ? work : Promise.race([work, failWhen(wayOut.gateway.lost)]))
      } catch (error) {
        if (error instanceof Interrupted && error.cause === 'SIGINT') await detachOrStop(stage, engine, say.note)
        throw error
      } finally {
        wayOut?.gateway.close()
      }
    })
  },
})

/** Without a gateway builders cannot go on, so neither can we. */
async function failWhen(lost: Promise<UserError>): Promise<never> {
  throw await lost
}

/** Whose model API the agents that need one speak. */
const apis: Readonly<Record<string, Api>> = { claude: 'anthropic', codex: 'openai' }

/** bw-spawn is a gate: it acts only when the whole plan is there. */
async function readAll(stage: Stage): Promise<void> {
  for await (const _ of stage.input());
}

function refuseNoIdentity({ run }: Stage): void {
  if (run.identity !== null) return
  throw new UserError('no-identity', `'${run.repo}' has no git identity to commit with`, {
    hint: 'git config user.name and user.email there, then plan again',
  })
}

/** A branch of this name that no journal of ours knows: building all again would end in a refused delivery. */
async function refuseDelivered({ run, journal }: Stage): Promise<void> {
  const branch = `builders/${run.run}`
  if (journal.records().some(({ kind }) => kind === 'builder' || kind === 'delivery')) return
  if (!(await hasRef(await inspectSource(run.repo), `refs/heads/${branch}`))) return
  throw new UserError(
    'branch-exists',
    `'${branch}' is in the repository, and this state folder does not know the run`,
    {
      hint: `git branch -D ${branch}, or plan under another name: bw-plan --run NAME`,
    },
  )
}

async function refuseWeakEngine(engine: Engine): Promise<void> {
  const { ok, problems } = await canary(engine)
  if (ok) return
  throw new UserError('weak-engine', `this engine does not keep its word: ${problems.join('; ')}`, {
    hint: 'use a rootful engine, or cgroup v2 with systemd for a rootless one',
  })
}

function slotsOf(stage: Stage, flag: number | undefined, configured: number | undefined): number {
  const planned = stage.run['maxParallel']
  return flag ?? configured ?? (typeof planned === 'number' ? planned : 3)
}

/** After the first Ctrl-C the builders go on; a second one within the grace time stops them. */
async function detachOrStop(stage: Stage, engine: Engine, note: (text: string) => void): Promise<void> {
  note('the builders go on and are taken up by the same command line; press Ctrl-C again to stop them')
  const isSecond = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), 3000)
    stage.interrupt.now.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
  if (isSecond) note(`stopped ${await stopRunning(stage, engine)} builders`)
}

await runTool(tool)
