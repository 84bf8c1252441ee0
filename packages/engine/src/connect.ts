import { readFile } from 'node:fs/promises'
import { UserError } from '@buildwave/core'
import type Docker from 'dockerode'
import type { DockerOptions } from 'dockerode'
import { endpoint } from './endpoint.ts'
import { places } from './places.ts'

/** An engine that answered, opaque to everything outside this package. */
export interface Engine {
  readonly docker: Docker
  /** The host user's uid; the `owner` label of everything made through this engine. */
  readonly owner: string
  /** Whose runs these are: the id of a state folder, the `state` label. Run ids are unique only within one. */
  readonly state: string
  /** Runs a life-cycle call when one of the 8 places is free. */
  readonly limited: <T>(call: () => Promise<T>) => Promise<T>
}

/** 50 unbounded starts took 2.2 times as long for each container as 8 at a time did. */
const lifeCycleCalls = 8

/** A busy engine answers within seconds; one that hangs never does. */
const answerMilliseconds = 30_000

/**
 * Speaks, for the runs of one state folder, to the engine that `DOCKER_HOST` or the docker context names and makes sure that it answers.
 * Throws UserError `no-engine` with the next step when none does.
 */
export async function connect({ state = 'none' }: { state?: string } = {}): Promise<Engine> {
  const { address, certificates } = await endpoint()
  try {
    // Half of a tool's start is spent on loading this: only those that need an engine pay for it.
    const { default: Dockerode } = await import('dockerode')
    const docker = new Dockerode(await dockerOptions(address, certificates))
    // Its types do not know that it takes a signal.
    const ping = docker.ping.bind(docker) as unknown as (options: { abortSignal: AbortSignal }) => Promise<unknown>
    await ping({ abortSignal: AbortSignal.timeout(answerMilliseconds) })
    return { docker, owner: String(process.getuid?.() ?? 0), state, limited: places(lifeCycleCalls) }
  } catch (cause) {
    throw new UserError('no-engine', `no container engine answers at '${address}'`, {
      hint: noEngineHint(cause),
      cause,
    })
  }
}

function noEngineHint(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EACCES' || code === 'EPERM')
    return "this user may not use it: join the engine's group (usually 'docker') and log in again"
  return 'run scripts/setup, or start your engine, or set DOCKER_HOST'
}

/** No `version`: an engine refuses what is older than its minimum, so the paths stay without one and it picks its own. */
async function dockerOptions(address: string, certificates: string | null): Promise<DockerOptions> {
  if (address.startsWith('unix://')) return { socketPath: address.slice('unix://'.length) }
  const { protocol, hostname, port, username } = new URL(address)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'ssh:') return { protocol: 'ssh', host, ...(port && { port }), ...(username && { username }) }
  if (protocol !== 'tcp:') throw new Error(`unknown kind of engine address '${protocol}'`)
  if (certificates === null) return { protocol: 'http', host, port: port || 2375 }
  const [ca, cert, key] = await Promise.all(
    ['ca', 'cert', 'key'].map((name) => readFile(`${certificates}/${name}.pem`)),
  )
  return { protocol: 'https', host, port: port || 2376, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}
