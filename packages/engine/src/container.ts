import { UserError } from '@buildwave/core'
import type Docker from 'dockerode'
import type { ContainerCreateOptions } from 'dockerode'
import type { Engine } from './connect.ts'
import { statusOf } from './status.ts'

/**
 * Creates a container without a word of it in the request's URL, which proxies and engines log. A missing image is
 * UserError `no-image`; a name in use rejects with status 409.
 */
export async function createContainer(
  engine: Engine,
  name: string,
  options: ContainerCreateOptions,
): Promise<Docker.Container> {
  const request = { _query: { name }, _body: options } as unknown as ContainerCreateOptions
  try {
    return await engine.limited(() => engine.docker.createContainer(request))
  } catch (cause) {
    if (statusOf(cause) === 404 && /no such image/i.test(String(cause))) throw noImage(options.Image ?? '', cause)
    throw cause
  }
}

/** The error for an image that is not on the engine. */
export function noImage(name: string, cause?: unknown): UserError {
  const make = name.startsWith('buildwave/project-') ? 'run bw-image --project REPO' : 'run bw-image, or scripts/setup'
  return new UserError('no-image', `the engine has no image '${name}'`, { hint: make, cause })
}

/** Starts a created container. */
export async function startContainer(engine: Engine, container: Docker.Container): Promise<void> {
  await engine.limited(() => container.start())
}

/** Kills and removes a container. No error when it is gone already or someone else removes it just now. */
export async function removeContainer(engine: Engine, id: string): Promise<void> {
  try {
    await engine.limited(() => engine.docker.getContainer(id).remove({ force: true, v: false }))
  } catch (error) {
    if (statusOf(error) === 404) return
    // 409: another removal of it is under way.
    if (statusOf(error) !== 409) throw error
    await engine.docker
      .getContainer(id)
      .wait({ condition: 'removed' })
      .catch(() => undefined)
  }
}

/** Kills a container. No error when it has ended or is gone. */
export async function killContainer(engine: Engine, id: string): Promise<void> {
  try {
    await engine.limited(() => engine.docker.getContainer(id).kill({ signal: 'SIGKILL' }))
  } catch (error) {
    const status = statusOf(error)
    if (status !== 404 && status !== 409) throw error
  }
}

/** Waits until a started container has ended; at once when it has or is gone. Rejects with the signal's reason. */
export async function untilEnded(engine: Engine, id: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  try {
    await engine.docker.getContainer(id).wait({ condition: 'not-running', ...(signal && { abortSignal: signal }) })
  } catch (error) {
    signal?.throwIfAborted()
    if (statusOf(error) !== 404) throw error
  }
}

/** What the engine knows about a container, or null when there is none of that id. */
export async function inspectContainer(engine: Engine, id: string): Promise<Docker.ContainerInspectInfo | null> {
  try {
    return await engine.docker.getContainer(id).inspect()
  } catch (error) {
    if (statusOf(error) === 404) return null
    throw error
  }
}
