/**
 * An attempt's two containers. The holder owns the namespaces: no network, a process 1 that reaps, and a time limit that
 * runs as another uid than the builder, so that nothing the builder starts can signal, stop or trace it, and that holds
 * when everything of ours on the host is dead. The builder joins them.
 */
import { UserError } from '@buildwave/core'
import type { ContainerCreateOptions } from 'dockerode'
import { attemptState, removeAttempt } from './attempt.ts'
import { type AttemptId, attemptContainers, attemptNames } from './attempt-id.ts'
import {
  confinement,
  environment,
  freshLayer,
  guarded,
  hostFolder,
  hostname,
  type Limits,
  type Mount,
  ownNamespaces,
  sealed,
  volumeAt,
} from './confinement.ts'
import type { Engine } from './connect.ts'
import { createContainer, startContainer } from './container.ts'
import { holderImage, imageDigest } from './image.ts'
import { expiry, labelled, labels, type Role } from './labels.ts'
import { requireLayer, type StartLayer } from './layer.ts'
import { statusOf } from './status.ts'
import { builderGid } from './uid.ts'
import { makeOverlay, makeVolume } from './volume.ts'

export interface BuilderRequest extends AttemptId {
  layer: StartLayer
  image: string
  /** The main process, started in `/work` as the builder's uid. */
  argv: readonly string[]
  /** Added to the image's own environment and HOME, USER; nothing of the host's environment gets in. */
  env: Readonly<Record<string, string>>
  /** `out/` (writable) and the prompt's folder (read-only); nothing else of the host should be here. */
  mounts: readonly Mount[]
  limits: Limits
  /** From the holder's start; then everything in the attempt's namespaces is killed, whoever is alive to notice. */
  ttlSeconds: number
  /** Mounted only in the holder: the gateway's socket folder. */
  holderMounts?: readonly Mount[]
  /** What the holder runs under its time limit instead of sleeping: the relay. */
  holderArgv?: readonly string[]
  labels?: Readonly<Record<string, string>>
}

/** Container ids, and the name of the volume that is the builder's `/work`. */
export interface StartedBuilder {
  holder: string
  builder: string
  work: string
}

/**
 * Starts an attempt's holder and builder. An attempt starts once: UserError `attempt-exists` when its builder was ever
 * started (adopt it through `attemptState`); what a cut-off start left is removed first. A start that fails leaves nothing.
 */
export async function startBuilder(engine: Engine, request: BuilderRequest): Promise<StartedBuilder> {
  await imageDigest(engine, request.image)
  await requireLayer(engine, request.layer)
  const { holder, builder } = await attemptContainers(engine, request)
  if ((await attemptState(engine, request)).state !== 'absent') throw attemptExists(request)
  if (holder || builder) await removeAttempt(engine, request)
  try {
    return await start(engine, request)
  } catch (error) {
    // Another process has this attempt in hand: what is there is its.
    if (statusOf(error) === 409) throw attemptExists(request, error)
    await removeAttempt(engine, request)
    throw error
  }
}

function attemptExists({ run, item, attempt }: AttemptId, cause?: unknown): UserError {
  return new UserError('attempt-exists', `attempt ${attempt} at '${item}' of run '${run}' was started before`, {
    cause,
  })
}

async function start(engine: Engine, request: BuilderRequest): Promise<StartedBuilder> {
  const names = attemptNames(engine, request)
  const expires = expiry(request.ttlSeconds)
  const labelsOf = (role: Role) => ({
    ...request.labels,
    ...labelled(engine, { role, stage: 'bw-spawn', expires, ...onlyId(request) }),
    [labels.ttl]: String(request.ttlSeconds),
  })
  const upper = await makeVolume(engine, names.upper, labelsOf('upper'))
  const overlay = makeOverlay(engine, names.work, { lower: request.layer.lower, upper, labels: labelsOf('work') })
  const holder = await createContainer(engine, names.holder, holderOptions(request, names.upper, labelsOf('holder')))
  await overlay
  const [builder] = await Promise.all([
    createContainer(
      engine,
      names.builder,
      builderOptions(request, { holder: holder.id, work: names.work, labels: labelsOf('builder') }),
    ),
    startContainer(engine, holder),
  ])
  await startContainer(engine, builder)
  return { holder: holder.id, builder: builder.id, work: names.work }
}

function onlyId({ run, item, attempt }: AttemptId): AttemptId {
  return { run, item, attempt }
}

function holderOptions(
  { ttlSeconds, limits, holderArgv, holderMounts }: BuilderRequest,
  upper: string,
  holderLabels: Record<string, string>,
): ContainerCreateOptions {
  return {
    Image: holderImage(),
    Cmd: guarded(holderArgv ?? ['sleep', 'infinity'], { ttlSeconds, workMiB: limits.workMiB }),
    User: '0:0',
    WorkingDir: '/',
    Hostname: hostname,
    Labels: holderLabels,
    HostConfig: {
      ...sealed,
      ...ownNamespaces,
      ...holderBounds,
      Mounts: [freshLayer(upper), ...(holderMounts ?? []).map(hostFolder)],
    },
  }
}

/** The relay holds up to 256 connections with a few 64 KiB buffers each; what a builder sends must not grow it further. */
const holderBounds = { Memory: 256 * 1024 * 1024, MemorySwap: 256 * 1024 * 1024, PidsLimit: 64 }

function builderOptions(
  { layer, image, argv, env, mounts, limits }: BuilderRequest,
  of: { holder: string; work: string; labels: Record<string, string> },
): ContainerCreateOptions {
  return {
    Image: image,
    Entrypoint: [],
    Cmd: [...argv],
    Env: environment(env),
    User: `${layer.uid}:${builderGid()}`,
    WorkingDir: '/work',
    Labels: of.labels,
    HostConfig: {
      ...confinement(limits, layer.uid),
      NetworkMode: `container:${of.holder}`,
      PidMode: `container:${of.holder}`,
      Mounts: [
        volumeAt(of.work, '/work', false),
        ...layer.volumes.map(({ name, target }) => volumeAt(name, target, true)),
        ...mounts.map(hostFolder),
      ],
    },
  }
}
