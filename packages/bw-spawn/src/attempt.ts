/** One attempt: its folders, its prompt, its containers. */
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, type AgentSettings, inputFolder, type Located } from '@buildwave/agents'
import type { BuilderRecord, ItemRecord, RunRecord } from '@buildwave/core'
import { type Engine, makeBuilderFolder, prepareStart, type StartedBuilder, startBuilder } from '@buildwave/engine'
import { bundle, type Store } from '@buildwave/git'
import type { AttemptPaths } from '@buildwave/store'
import { entryArgv, entryScript } from './entry.ts'
import { writePrompt } from './prompt.ts'

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
}

export interface AttemptDoors {
  engine: Engine
  store: Store
  paths: AttemptPaths
}

/** Lays out the attempt and starts its holder and builder. Gives the `builder` record. */
export async function startAttempt(request: AttemptRequest, doors: AttemptDoors): Promise<BuilderRecord> {
  const { run, item, attempt, start, agent, located, settings } = request
  const { engine, store, paths } = doors
  await layOut(request, paths)
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
    guidancePath: null,
    gateway: null,
  })
  const stdin = command.stdin === 'prompt' ? `${inputFolder}/prompt.md` : '/dev/null'
  const started = await startBuilder(engine, {
    run: run.run,
    item: item.item,
    attempt,
    layer,
    image: run.image,
    argv: entryArgv(command.argv, { bytes: (run.limits.outMiB * 1024 * 1024) / 4, stdin }),
    env: command.env,
    mounts: [
      { host: paths.in, target: inputFolder, readOnly: true },
      { host: paths.out, target: '/bw/out', readOnly: false },
      ...(located.mount === null ? [] : [{ host: located.mount.from, target: located.mount.to, readOnly: true }]),
    ],
    limits: run.limits,
    ttlSeconds: Math.ceil(run.limits.minutes * 60),
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

/** Folders and files of the attempt. What an attempt that never got a builder left there is removed first. */
async function layOut({ run, item, attempt, agent, settings }: AttemptRequest, paths: AttemptPaths): Promise<void> {
  rmSync(paths.dir, { recursive: true, force: true })
  mkdirSync(paths.in, { recursive: true, mode: 0o700 })
  await makeBuilderFolder(paths.out)
  writeFileSync(paths.prompt, writePrompt(run, item), { mode: 0o644 })
  writeFileSync(join(paths.in, 'entry.sh'), entryScript, { mode: 0o755 })
  for (const { name, from } of await agent.inputs({ settings, item: item.item, attempt })) {
    copyFileSync(from, join(paths.in, name))
  }
  // A builder of another uid (we are root) must be able to read its input; the folders above stay closed to others.
  for (const name of readdirSync(paths.in)) chmodSync(join(paths.in, name), 0o755)
  chmodSync(paths.in, 0o755)
}
