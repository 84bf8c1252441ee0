/** Containers of our own image that run one program of ours to its end, fed and read through its standard streams. */
import { randomBytes } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import type { HostConfig } from 'dockerode'
import { sealed } from './confinement.ts'
import type { Engine } from './connect.ts'
import { createContainer, removeContainer, startContainer } from './container.ts'
import { frames } from './frames.ts'
import { expiry, type Identity, labelled } from './labels.ts'

export interface OneShot {
  identity: Identity
  image: string
  argv: readonly string[]
  user: string
  /** Added to `sealed` and no network. */
  host: HostConfig
  /**
   * What it reads; asked for when the container runs. A child process's stdout must be read as soon as it is there: Node
   * throws away what nobody has read when the child ends.
   */
  stdin?: () => Promise<Readable>
  ttlSeconds: number
}

/** The program in a one-shot container ended with another status than 0. */
export class ProgramFailure extends Error {
  readonly exit: number
  /** The last of what it said on stderr. */
  readonly stderr: string

  constructor(role: string, exit: number, stderr: string) {
    super(`the ${role} ended with ${exit}: ${stderr.trim() || 'it said nothing'}`)
    this.name = 'ProgramFailure'
    this.exit = exit
    this.stderr = stderr
  }
}

/**
 * Starts it and gives back its stdout, which must be read or returned: it ends when the program ended with 0 and throws
 * `ProgramFailure` otherwise. The container is gone when it is over, however it ends.
 */
export async function runOnce(engine: Engine, shot: OneShot): Promise<AsyncGenerator<Buffer>> {
  const container = await createContainer(engine, `bw-${shot.identity.role}-${randomBytes(6).toString('hex')}`, {
    Image: shot.image,
    Cmd: ['timeout', '-k', '5', String(shot.ttlSeconds), ...shot.argv],
    User: shot.user,
    WorkingDir: '/',
    Labels: labelled(engine, { ...shot.identity, expires: expiry(shot.ttlSeconds) }),
    AttachStdin: true,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdout: true,
    AttachStderr: true,
    // Nothing is kept by the engine: what goes through these streams can be a whole history.
    HostConfig: { ...sealed, NetworkMode: 'none', Init: true, LogConfig: { Type: 'none', Config: {} }, ...shot.host },
  })
  try {
    const attached = (await container.attach({
      stream: true,
      stdin: true,
      stdout: true,
      stderr: true,
      hijack: true,
    })) as Duplex
    await startContainer(engine, container)
    return output(engine, container, attached, shot)
  } catch (error) {
    await removeContainer(engine, container.id)
    throw error
  }
}

async function* output(
  engine: Engine,
  container: Docker.Container,
  attached: Duplex,
  { identity, stdin }: OneShot,
): AsyncGenerator<Buffer> {
  const stderr = lastOf(stderrBytes)
  let feedError: unknown
  try {
    if (stdin === undefined) attached.end()
    else {
      const source = await stdin()
      source.once('error', (error) => {
        feedError = error
      })
      // A program that ends early breaks this pipe; its exit status says why.
      pipeline(source, attached).catch(() => undefined)
    }
    for await (const { from, data } of frames(attached)) {
      if (from === 'stdout') yield data
      else stderr.add(data)
    }
    const { StatusCode: exit } = (await container.wait()) as { StatusCode: number }
    if (feedError !== undefined) throw feedError
    if (exit !== 0) throw new ProgramFailure(identity.role, exit, stderr.text())
  } catch (error) {
    throw feedError ?? error
  } finally {
    // The loop above has let go of the output by now: while some waits to be read the engine cannot end a container.
    await removeContainer(engine, container.id)
  }
}

/** More of a program's complaints than this is not kept. */
const stderrBytes = 16 * 1024

function lastOf(bytes: number): { add: (data: Buffer) => void; text: () => string } {
  let kept = Buffer.alloc(0)
  return {
    add: (data) => {
      kept = Buffer.concat([kept, data]).subarray(-bytes)
    },
    text: () => kept.toString('utf8'),
  }
}
