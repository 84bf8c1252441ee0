import type { Readable } from 'node:stream'
import tar from 'tar-stream'
import type { Engine } from './connect.ts'
import { noImage } from './container.ts'
import { statusOf } from './status.ts'
import { builderUid } from './uid.ts'

/** The image that builders and checks run in unless a project brings its own. */
export const baseImage = 'buildwave/base'

/**
 * Our own small image: holders, and the containers that fill, collect and prove. One a uid, since its `/layer` belongs to
 * the uid of the builders: volumes that the engine fills from there are theirs without a `chown`.
 */
export function holderImage(uid: number = builderUid()): string {
  return `buildwave/holder:u${uid}`
}

/**
 * The engine's id of a local image (`sha256:…`), which names its exact content. Nothing is ever pulled.
 * Throws UserError `no-image` with the hint to run `bw-image`.
 */
export async function imageDigest(engine: Engine, name: string): Promise<string> {
  const image = await inspectImage(engine, name)
  if (image === null) throw noImage(name)
  return image.id
}

/** An image's id and labels, or null when the engine does not have it. */
export async function inspectImage(
  engine: Engine,
  name: string,
): Promise<{ id: string; labels: Record<string, string> } | null> {
  try {
    const { Id, Config } = await engine.docker.getImage(name).inspect()
    return { id: Id, labels: Config.Labels ?? {} }
  } catch (error) {
    if (statusOf(error) === 404) return null
    throw error
  }
}

export interface ImageBuild {
  tag: string
  /** Path of the Dockerfile in the context. */
  dockerfile: string
  args: Readonly<Record<string, string>>
  labels: Readonly<Record<string, string>>
  /** Called with each piece of the engine's own output. */
  onOutput: (text: string) => void
}

/**
 * Builds an image from a tar of its context. Rejects with the engine's own message when a step fails. Base images that
 * are here are not looked up elsewhere.
 */
export async function buildImage(engine: Engine, context: Readable, build: ImageBuild): Promise<void> {
  const stream = await engine.docker.buildImage(context as unknown as NodeJS.ReadableStream, {
    t: build.tag,
    dockerfile: build.dockerfile,
    buildargs: { ...build.args },
    labels: { ...build.labels },
    forcerm: true,
  })
  await followImage(engine, stream, build.onOutput)
}

/** Makes an image of one layer from the tar of a root file system. `changes` are Dockerfile lines: ENV, LABEL, CMD. */
export async function importImage(
  engine: Engine,
  tar: Readable,
  { repository, changes }: { repository: string; changes: readonly string[] },
): Promise<void> {
  const stream = await engine.docker.importImage(tar as unknown as NodeJS.ReadableStream, {
    repo: repository,
    tag: 'latest',
    changes: [...changes],
  })
  await followImage(engine, stream, () => undefined)
}

/** Names, ids and sizes (bytes) of the images of ours on this engine, sorted by name. */
export async function listImages(
  engine: Engine,
): Promise<{ name: string; id: string; size: number; created: string }[]> {
  const images = await engine.docker.listImages({ filters: { reference: ['buildwave/*'] } })
  return images
    .flatMap(({ RepoTags, Id, Size, Created }) =>
      (RepoTags ?? []).map((name) => ({
        name: name.replace(/:latest$/, ''),
        id: Id,
        size: Size,
        created: new Date(Created * 1000).toISOString(),
      })),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The engine answers 200 before it starts; whether it worked is in its messages alone. */
function followImage(engine: Engine, stream: NodeJS.ReadableStream, onOutput: (text: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    engine.docker.modem.followProgress(
      stream,
      (error: Error | null) => (error ? reject(error) : resolve()),
      (event: { stream?: string; status?: string; error?: string }) => {
        if (event.error !== undefined) reject(new Error(event.error))
        const text = event.stream ?? event.status
        if (text) onOutput(text)
      },
    )
  })
}

/** The tar of a few files, as the context of a build. */
export function fileContext(files: ReadonlyMap<string, Buffer>): Readable {
  const pack = tar.pack()
  for (const [name, content] of files) pack.entry({ name, mtime: new Date(0) }, content)
  pack.finalize()
  return pack as unknown as Readable
}

/** Fetches an image from its registry. Rejects with the engine's reason, or the signal's when it takes too long. */
export async function pullImage(engine: Engine, name: string, signal: AbortSignal): Promise<void> {
  const stream: NodeJS.ReadableStream = await engine.docker.pull(name, { abortSignal: signal })
  await followImage(engine, stream, () => undefined)
}
