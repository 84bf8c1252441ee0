import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UserError } from '@buildwave/core'
import type Docker from 'dockerode'
import { openBoundedLog } from './bounded-log.ts'
import { checkReport } from './check-report.ts'
import {
  confinement,
  environment,
  guardExit,
  guarded,
  hostname,
  type Limits,
  layerFolder,
  ownNamespaces,
  volumeAt,
} from './confinement.ts'
import type { Engine } from './connect.ts'
import { createContainer, killContainer, removeContainer, startContainer, untilEnded } from './container.ts'
import { frames } from './frames.ts'
import { expiry, type Identity, labelled, type Role } from './labels.ts'
import { requireLayer, type StartLayer } from './layer.ts'
import { program } from './program.ts'
import { statusOf } from './status.ts'
import { builderGid } from './uid.ts'
import { makeOverlay, makeVolume, populate, removeVolume } from './volume.ts'

export interface CheckRequest {
  run: string
  /** The `stage` label. */
  stage: string
  /** What the check is for, in its container's name: an item, a head. */
  name: string
  layer: StartLayer
  /** The commit that is checked out on top of the layer. */
  commit: string
  /** A git bundle of `commit` less what the layer's start reaches; null when they are the same. */
  bundle: ((commit: string, not: readonly string[]) => Promise<Readable>) | null
  image: string
  /** Started in `/work` as the builder's uid. */
  command: readonly string[]
  env: Readonly<Record<string, string>>
  limits: Limits
  ttlSeconds: number
  /** Absolute paths in the container to give back when the command has ended, each up to 64 MiB; missing ones are left out. */
  wants: readonly string[]
  /** Paths below `/work` to remove after the checkout, before the command. */
  removePaths?: readonly string[]
  /** Made anew: stdout and stderr in order of arrival, bounded by `logMiB`. */
  logFile: string
  /** 16 unless said. Of a longer log the first half and the last are kept. */
  logMiB?: number
  signal?: AbortSignal
}

export interface CheckResult {
  /** The command's exit status; null when a limit of time or disk ended it. */
  exit: number | null
  timedOut: boolean
  oomKilled: boolean
  /** True when it wrote more in `/work` than it may, or the engine's disk was nearly full. */
  diskFull: boolean
  files: Map<string, Buffer>
  /** How long the command itself ran. */
  seconds: number
}

/**
 * Runs a command on a commit in one fresh container: no network, no capability, its own namespaces, the same places and
 * bounds as a builder. What the command leaves running is killed with it. Everything is removed afterwards, also when
 * `signal` aborts (then it rejects with its reason). Throws UserError `no-image`, and `bad-commit` when the commit cannot
 * be laid out.
 */
export async function runCheck(engine: Engine, request: CheckRequest): Promise<CheckResult> {
  request.signal?.throwIfAborted()
  await requireLayer(engine, request.layer)
  const name = `bw-check-${request.name.slice(0, 40)}-${randomBytes(6).toString('hex')}`
  const volumes = { upper: `${name}-upper`, work: `${name}-work` }
  const log = await openBoundedLog(request.logFile, (request.logMiB ?? logMiB) * 1024 * 1024)
  let container: Docker.Container | undefined
  let following: Promise<CheckResult> | undefined
  const aborted = whenAborted(request.signal)
  try {
    const identity = identityOf(request)
    const upper = await makeVolume(engine, volumes.upper, labelled(engine, identity('upper')))
    await populate(engine, upper, identity('filler'))
    const overlay = { lower: request.layer.lower, upper, labels: labelled(engine, identity('work')) }
    await makeOverlay(engine, volumes.work, overlay)
    container = await createContainer(engine, name, containerOptions(engine, request, volumes))
    request.signal?.throwIfAborted()
    await startContainer(engine, container)
    // Never while a start is under way: the engine may refuse a removal then, and the check would go on to its time limit.
    request.signal?.throwIfAborted()
    following = follow(engine, container, { request, write: log.write })
    return await Promise.race([following, aborted.promise])
  } catch (error) {
    request.signal?.throwIfAborted()
    throw error
  } finally {
    aborted.forget()
    if (container) await removeContainer(engine, container.id)
    await following?.catch(() => undefined)
    await log.close()
    await removeVolume(engine, volumes.work)
    await removeVolume(engine, volumes.upper)
  }
}

/** Rejects with the signal's reason once it aborts. */
function whenAborted(signal: AbortSignal | undefined): { promise: Promise<never>; forget(): void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const abort = () => reject(signal?.reason)
  signal?.addEventListener('abort', abort)
  return { promise, forget: () => signal?.removeEventListener('abort', abort) }
}

const logMiB = 16

function identityOf({ run, stage, name, ttlSeconds }: CheckRequest): (role: Role) => Identity {
  const expires = expiry(ttlSeconds)
  return (role) => ({ role, stage, run, item: name, expires })
}

function containerOptions(
  engine: Engine,
  request: CheckRequest,
  { upper, work }: { upper: string; work: string },
): Docker.ContainerCreateOptions {
  const { image, ttlSeconds, env, limits, layer } = request
  return {
    Image: image,
    Entrypoint: [],
    // Root without a capability: what it ends runs as another uid, which can neither signal nor trace it.
    Cmd: guarded(['sleep', 'infinity'], { ttlSeconds, workMiB: limits.workMiB }),
    User: '0:0',
    Env: environment(env),
    WorkingDir: '/',
    Hostname: hostname,
    Labels: labelled(engine, identityOf(request)('check')),
    HostConfig: {
      ...confinement(limits, layer.uid),
      ...ownNamespaces,
      Mounts: [
        volumeAt(work, '/work', false),
        volumeAt(upper, layerFolder, true),
        ...layer.volumes.map(({ name, target }) => volumeAt(name, target, true)),
      ],
    },
  }
}

async function follow(
  engine: Engine,
  container: Docker.Container,
  { request, write }: { request: CheckRequest; write: (data: Buffer) => Promise<void> },
): Promise<CheckResult> {
  const { layer, commit, bundle, wants, removePaths = [], command } = request
  const exec = await container.exec({
    Cmd: program(
      'check',
      commit === layer.start ? '' : commit,
      bundle ? 'yes' : 'no',
      wants.join('\n'),
      String(removePaths.length),
      ...removePaths,
      ...command,
    ),
    User: `${layer.uid}:${builderGid()}`,
    WorkingDir: '/work',
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
  })
  const attached = await exec.start({ hijack: true, stdin: true })
  const fed = bundle ? pipeline(await bundle(commit, [layer.start]), attached) : pipeline([], attached)
  // A program that ends early breaks this pipe; its report says why.
  fed.catch(() => undefined)
  const report = checkReport(wants)
  for await (const { from, data } of frames(attached)) {
    if (from === 'stdout') await write(data)
    else report.add(data)
  }
  const ended = await end(engine, container, exec)
  const { started, seconds, message, files } = report.take()
  if (!started && ended.exit !== null) {
    throw new UserError('bad-commit', `cannot lay out commit '${commit}' for a check: ${message || 'no reason given'}`)
  }
  return { ...ended, files, seconds }
}

/** How the exec ended: by itself, or because the guard ended the container. */
async function end(
  engine: Engine,
  container: Docker.Container,
  exec: Docker.Exec,
): Promise<Pick<CheckResult, 'exit' | 'timedOut' | 'oomKilled' | 'diskFull'>> {
  const { ExitCode: exit } = await exec.inspect()
  // The engine may hear of the exec's end before it hears that the container itself has ended.
  if (exit === killed && !(await isAlive(container))) await untilEnded(engine, container.id)
  const { State } = await container.inspect()
  const timedOut = !State.Running && State.ExitCode === guardExit.time
  const diskFull = !State.Running && State.ExitCode === guardExit.disk
  // The engine tells of kills for memory only when a container has ended.
  await killContainer(engine, container.id)
  await untilEnded(engine, container.id)
  const { OOMKilled: oomKilled } = (await container.inspect()).State
  return { exit: timedOut || diskFull ? null : exit, timedOut, oomKilled, diskFull }
}

/** The exit status of what SIGKILL ended. */
const killed = 137

/** Whether the container's first process lives: without it nothing can be started. */
async function isAlive(container: Docker.Container): Promise<boolean> {
  try {
    const exec = await container.exec({ Cmd: ['true'], AttachStdout: true })
    for await (const _ of await exec.start({ hijack: true }));
    return (await exec.inspect()).ExitCode === 0
  } catch (error) {
    if (statusOf(error) === null) throw error
    return false
  }
}
