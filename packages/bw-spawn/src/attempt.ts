/** One attempt: its folders, its prompt, its containers. */
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, type AgentSettings, inputFolder, type Located } from '@buildwave/agents'
import type { BuilderRecord, ItemRecord, RunRecord } from '@buildwave/core'
import { type Engine, makeBuilderFolder, prepareStart, type StartedBuilder, startBuilder } from '@buildwave/engine'
import { bundle, readFileAt, type Store } from '@buildwave/git'
import type { AttemptPaths } from '@buildwave/store'
import { entryArgv, entryScript } from './entry.ts'
import { writePrompt } from './prompt.ts'
import type { WayOut } from './way-out.ts'

export interface AttemptRequest {
  run: RunRecord
  item: ItemRecord
  attempt: number
  key: string
  start: string
  imageDigest: string
  agent: Agent
  located: Located
  settings: AgentSettings
  /** Null for agents that need no model API. */
  wayOut: WayOut | null
}

export interface AttemptDoors {
  engine: Engine
  store: Store
  paths: AttemptPaths
}

/** Lays out the attempt and starts its holder and builder. Gives the `builder` record. */
export async function startAttempt(request: AttemptRequest, doors: AttemptDoors): Promise<BuilderRecord> {
  const { run, item, attempt, start, agent, located, settings, wayOut } = request
  const { engine, store, paths } = doors
  const guidance = await layOut(request, doors)
  const layer = await prepareStart(engine, {
    run: run.run,
    start,
    base: run.base,
    bundle: async (commit, not) => bundle(store, [commit], { not }).stdout,
  })
  const command = agent.command({
    settings,
    binary: located.inside,
    promptPath: `${inputFolder}/prompt.md`,
    guidancePath: guidance ? `${inputFolder}/guidance.md` : null,
    gateway: wayOut?.gateway.addressFor(item.item, attempt) ?? null,
  })
  const stdin = command.stdin === 'prompt' ? `${inputFolder}/prompt.md` : '/dev/null'
  const started = await startBuilder(engine, {
    run: run.run,
    item: item.item,
    attempt,
    layer,
    image: run.image,
    argv: entryArgv(command.argv, { bytes: (run.limits.outMiB * 1024 * 1024) / 4, stdin }),
    env: { ...wayOut?.gateway.proxyFor(item.item, attempt), ...command.env },
    mounts: [
      { host: paths.in, target: inputFolder, readOnly: true },
      { host: paths.out, target: '/bw/out', readOnly: false },
      ...(located.mount === null ? [] : [{ host: located.mount.from, target: located.mount.to, readOnly: true }]),
    ],
    limits: run.limits,
    ttlSeconds: Math.ceil(run.limits.minutes * 60),
    ...(wayOut === null ? {} : { holderArgv: wayOut.relayArgv, holderMounts: wayOut.holderMounts }),
  })
  return builderRecord(request, started, paths)
}

/** The record of a builder that has been started. */
export function builderRecord(request: AttemptRequest, started: StartedBuilder, paths: AttemptPaths): BuilderRecord {
  const { run, item, attempt, key, start, imageDigest, agent, settings } = request
  return {
    kind: 'builder',
    v: 1,
    run: run.run,
    item: item.item,
    attempt,
    key,
    at: new Date().toISOString(),
    start,
    container: started.builder,
    holder: started.holder,
    work: started.work,
    out: paths.out,
    image: imageDigest,
    agent: agent.name,
    model: settings.model ?? agent.defaultModel,
  }
}

/** What a repository tells agents, in the order in which it is looked for. */
const guidanceFiles = ['CLAUDE.md', 'AGENTS.md']

/**
 * Folders and files of the attempt; true when the start commit holds guidance for agents. What an attempt that never got
 * a builder left there is removed first.
 */
async function layOut(request: AttemptRequest, { paths, store }: AttemptDoors): Promise<boolean> {
  const { run, item, attempt, agent, settings, start } = request
  rmSync(paths.dir, { recursive: true, force: true })
  mkdirSync(paths.in, { recursive: true, mode: 0o700 })
  await makeBuilderFolder(paths.out)
  writeFileSync(paths.prompt, writePrompt(run, item), { mode: 0o644 })
  writeFileSync(join(paths.in, 'entry.sh'), entryScript, { mode: 0o755 })
  for (const { name, from } of await agent.inputs({ settings, item: item.item, attempt })) {
    copyFileSync(from, join(paths.in, name))
  }
  const guidance = (await Promise.all(guidanceFiles.map((name) => readFileAt(store, start, name)))).find(
    (text) => text !== null,
  )
  if (guidance) writeFileSync(join(paths.in, 'guidance.md'), guidance)
  // A builder of another uid (we are root) must be able to read its input; the folders above stay closed to others.
  for (const name of readdirSync(paths.in)) chmodSync(join(paths.in, name), 0o755)
  chmodSync(paths.in, 0o755)
  return guidance !== undefined
}
