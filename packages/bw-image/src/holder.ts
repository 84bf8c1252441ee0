import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'
import {
  baseImage,
  builderGid,
  builderUid,
  buildImage,
  type Engine,
  fileContext,
  holderImage,
  imageDigest,
  ownFile,
} from '@buildwave/engine'
import { isUpToDate, recipeLabel, recipeOf } from './recipe.ts'

/** Makes this user's holder image on top of the base image, unless it is there from the same files. */
export async function makeHolder(engine: Engine, note: (text: string) => void): Promise<void> {
  const files = contextFiles()
  const args = { UID: String(builderUid()), GID: String(builderGid()), BASE: baseImage }
  const recipe = recipeOf(await imageDigest(engine, baseImage), ...Object.values(args), ...[...files].flat())
  const image = holderImage()
  if (await isUpToDate(engine, image, recipe)) return
  note(`building '${image}'`)
  await buildImage(engine, fileContext(files), {
    tag: image,
    dockerfile: 'Dockerfile',
    args,
    labels: { [recipeLabel]: recipe },
    onOutput: () => undefined,
  }).catch((cause: Error) => {
    throw new UserError('image-failed', `cannot build '${image}': ${cause.message.trim()}`, { cause })
  })
}

/** The holder's Dockerfile and the relay that joins a builder's loopback to the gateway's socket. */
function contextFiles(): Map<string, Buffer> {
  const relay = ownFile('packages/gateway/relay')
  const names = existsSync(relay) ? readdirSync(relay).filter((name) => name.endsWith('.py')) : []
  return new Map([
    ['Dockerfile', readFileSync(ownFile('packages/engine/images/holder/Dockerfile'))],
    ...names.sort().map((name): [string, Buffer] => [`relay/${name}`, readFileSync(join(relay, name))]),
  ])
}
