import { readFileSync } from 'node:fs'
import { UserError } from '@buildwave/core'
import { baseImage, buildImage, type Engine, fileContext, inspectImage, ownFile, pullImage } from '@buildwave/engine'
import { importBootstrapped } from './bootstrap.ts'
import { isUpToDate, recipeLabel, recipeOf } from './recipe.ts'

export interface BaseRequest {
  /** From the distribution's packages instead of a registry's image. */
  bootstrap: boolean
  cacheDir: string
  note: (text: string) => void
}

/** Makes `buildwave/base` unless it is there from the same recipe. Both ways give the same programs. */
export async function makeBase(engine: Engine, request: BaseRequest): Promise<void> {
  const dockerfile = readFileSync(ownFile('packages/engine/images/base/Dockerfile'))
  const recipe = recipeOf(dockerfile)
  if (await isUpToDate(engine, baseImage, recipe)) return
  if (request.bootstrap) await importBootstrapped(engine, { ...request, recipe })
  else await buildFromRegistry(engine, dockerfile, { recipe, note: request.note })
}

/** What the Dockerfile starts from. Fetched beforehand, so that "no registry" is told apart from a step that failed. */
const distribution = 'debian:bookworm-slim'
const pullMilliseconds = 300_000

async function buildFromRegistry(
  engine: Engine,
  dockerfile: Buffer,
  { recipe, note }: { recipe: string; note: (text: string) => void },
): Promise<void> {
  if ((await inspectImage(engine, distribution)) === null) {
    note(`fetching '${distribution}'`)
    await pullImage(engine, distribution, AbortSignal.timeout(pullMilliseconds)).catch((cause: Error) => {
      throw new UserError('no-registry', `cannot fetch '${distribution}': ${cause.message.trim()}`, {
        hint: "bw-image --bootstrap makes the image from the distribution's packages instead",
        cause,
      })
    })
  }
  note(`building '${baseImage}'`)
  await buildImage(engine, fileContext(new Map([['Dockerfile', dockerfile]])), {
    tag: baseImage,
    dockerfile: 'Dockerfile',
    args: { DEBIAN: distribution },
    labels: { [recipeLabel]: recipe },
    onOutput: () => undefined,
  }).catch((cause: Error) => {
    throw new UserError('image-failed', `cannot build '${baseImage}': ${cause.message.trim()}`, { cause })
  })
}
