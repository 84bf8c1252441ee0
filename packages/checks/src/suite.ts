import type { Readable } from 'node:stream'
import type { RunRecord } from '@buildwave/core'
import { type Engine, imageDigest, prepareStart, reap, type StartLayer } from '@buildwave/engine'
import { bundle, importCommit, initStore, inspectSource, type Repo, readFileAt } from '@buildwave/git'
import { type RunPaths, workKey } from '@buildwave/store'
import { detectRunner, type Runner, runnerFiles } from './runner.ts'

/** A run's test command and all that it takes to run it on any commit of the run. */
export interface Suite {
  run: RunRecord
  paths: RunPaths
  engine: Engine
  /** The run's own repository, which holds the commits that are tested. */
  repo: Repo
  /** The base, laid out; a commit under test is put on top of it. */
  layer: StartLayer
  /** The image's digest, so that every check of the run uses the same bytes. */
  image: string
  runner: Runner
}

export interface SuiteDoors {
  run: RunRecord
  paths: RunPaths
  engine: Engine
  repo: Repo
}

/**
 * Lays out the base (once per engine) and finds the runner from the files of the base commit, never from what a builder
 * made of them. Throws UserError `no-image` and what `prepareStart` throws.
 */
export async function openSuite({ run, paths, engine, repo }: SuiteDoors): Promise<Suite> {
  const image = await imageDigest(engine, run.image)
  const layer = await prepareStart(engine, {
    run: run.run,
    start: run.base,
    base: run.base,
    bundle: bundleFrom(repo),
  })
  const files = new Map<string, string>()
  for (const path of runnerFiles) {
    const bytes = await readFileAt(repo, run.base, path)
    if (bytes !== null) files.set(path, bytes.toString('utf8'))
  }
  const junit = typeof run['junit'] === 'string' ? run['junit'] : null
  return { run, paths, engine, repo, layer, image, runner: detectRunner(run.test, { files, junit }) }
}

/** What a test result rests on besides the commit: image, command, report, set-up and limits. */
export function suiteKey(suite: Suite): string {
  const { run, image } = suite
  return workKey('suite', image, run.test, run['junit'] ?? null, run.setup, run.limits)
}

/**
 * Opens the suite for a stage that holds the run's lease of its name, and removes what an earlier process of that stage left
 * on the engine when it was killed.
 */
export async function openSuiteOf(
  stage: { name: string; run: RunRecord; paths: RunPaths },
  engine: Engine,
): Promise<Suite> {
  const { name, run, paths } = stage
  await reap(engine, { run: run.run, keep: (thing) => thing.stage !== name })
  return openSuite({ run, paths, engine, repo: await openRunRepo(run, paths) })
}

/** A bundle of a commit's history for a container, as the engine asks for it. */
export function bundleFrom(repo: Repo): (commit: string, not: readonly string[]) => Promise<Readable> {
  return async (commit, not) => bundle(repo, [commit], { not }).stdout
}

/** The run's own repository with the base and its history; made now when this is the first stage that needs it. */
export async function openRunRepo(run: RunRecord, paths: RunPaths): Promise<Repo> {
  const source = await inspectSource(run.repo)
  const repo = await initStore(paths.repo, source.objectFormat)
  await importCommit(repo, source, run.base)
  return repo
}
