import { UserError } from '@buildwave/core'
import type { ContainerInspectInfo } from 'dockerode'
import { type AttemptId, attemptContainers, attemptFilter, attemptNames } from './attempt-id.ts'
import { guardExit } from './confinement.ts'
import type { Engine } from './connect.ts'
import { inspectContainer, killContainer, removeContainer, untilEnded } from './container.ts'
import { labels } from './labels.ts'
import { removeVolume } from './volume.ts'

export interface BuilderEnd {
  /** The main process's exit status; 137 when it was killed. */
  exit: number
  /** True when the kernel killed anything of the builder for memory, even if the main process ended with 0. */
  oomKilled: boolean
  /** True when the attempt's TTL ended it. */
  timedOut: boolean
  /** True when it was ended because it wrote more in `/work` than it may, or the engine's disk was nearly full. */
  diskFull: boolean
  /** ISO 8601, the engine's clock. */
  startedAt: string
  finishedAt: string
}

/** What the engine has of an attempt. `absent`: nothing, or a start that was cut off before the builder ran. */
export type AttemptState =
  | { state: 'absent' }
  | { state: 'running' | 'ended'; holder: string; builder: string; work: string; image: string; expires: string }

/**
 * Waits until a builder ends, kills whatever it left in its namespaces, and tells how it ended. `builder` is a container
 * id. May be called at any time after the start, by several at once, and again after the end. Rejects with the signal's
 * reason when aborted (the builder goes on); UserError `attempt-gone` when the container does not exist.
 */
export async function followBuilder(engine: Engine, builder: string, signal?: AbortSignal): Promise<BuilderEnd> {
  await untilEnded(engine, builder, signal)
  const { State, HostConfig } = await existing(engine, builder)
  // The namespaces are the holder's, so its end is the end of everything in them.
  const holderId = HostConfig.PidMode?.replace(/^container:/, '') ?? ''
  await killContainer(engine, holderId)
  await untilEnded(engine, holderId, signal)
  const holder = await inspectContainer(engine, holderId)
  const byHolder = State.ExitCode === killed && !State.OOMKilled && holder !== null
  const diskFull = byHolder && holder.State.ExitCode === guardExit.disk
  return {
    exit: State.ExitCode,
    oomKilled: State.OOMKilled,
    timedOut: byHolder && !diskFull && outlived(holder, State.FinishedAt),
    diskFull,
    startedAt: State.StartedAt,
    finishedAt: State.FinishedAt,
  }
}

/** The exit status of a main process that SIGKILL ended. */
const killed = 137

/** Whether that moment is past the holder's TTL. Both are the engine's clock, and nobody needs to have been watching. */
function outlived({ State, Config }: ContainerInspectInfo, at: string): boolean {
  return Date.parse(at) >= Date.parse(State.StartedAt) + Number(Config.Labels[labels.ttl]) * 1000
}

async function existing(engine: Engine, id: string): Promise<ContainerInspectInfo> {
  const info = await inspectContainer(engine, id)
  if (info === null) throw new UserError('attempt-gone', `the builder '${id.slice(0, 12)}' is no longer on the engine`)
  return info
}

/** Kills the builder, everything left in its namespaces, and the holder. Its work stays. No error when already ended. */
export async function stopAttempt(engine: Engine, id: AttemptId): Promise<void> {
  const { holder, builder } = await attemptContainers(engine, id)
  if (holder) await killContainer(engine, holder.Id)
  if (builder) await killContainer(engine, builder.Id)
  if (holder) await untilEnded(engine, holder.Id)
  if (builder) await untilEnded(engine, builder.Id)
}

/** What the engine has of an attempt, for adopting it after a restart. */
export async function attemptState(engine: Engine, id: AttemptId): Promise<AttemptState> {
  const { holder, builder } = await attemptContainers(engine, id)
  if (holder === undefined || builder === undefined || builder.State === 'created') return { state: 'absent' }
  return {
    state: builder.State === 'exited' || builder.State === 'dead' ? 'ended' : 'running',
    holder: holder.Id,
    builder: builder.Id,
    work: attemptNames(engine, id).work,
    image: builder.ImageID,
    expires: builder.Labels[labels.expires] ?? '',
  }
}

/** Removes an attempt's containers and volumes, its uncollected work included. No error when there are none. */
export async function removeAttempt(engine: Engine, id: AttemptId): Promise<void> {
  const containers = await engine.docker.listContainers({ all: true, filters: attemptFilter(engine, id) })
  // The builder first: its processes live in the holder's namespaces.
  const order = ['builder', 'holder']
  containers.sort((a, b) => order.indexOf(a.Labels[labels.role] ?? '') - order.indexOf(b.Labels[labels.role] ?? ''))
  for (const container of containers) await removeContainer(engine, container.Id)
  const { Volumes } = await engine.docker.listVolumes({ filters: attemptFilter(engine, id) })
  // The overlay before what it lies on.
  const overlayFirst = (Volumes ?? []).sort(
    (a, b) => Number(b.Labels?.[labels.role] === 'work') - Number(a.Labels?.[labels.role] === 'work'),
  )
  for (const volume of overlayFirst) await removeVolume(engine, volume.Name)
}
