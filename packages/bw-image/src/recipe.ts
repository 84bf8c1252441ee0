import { createHash } from 'node:crypto'
import { type Engine, inspectImage } from '@buildwave/engine'

/** The label that tells what an image was made from. */
export const recipeLabel = 'dev.buildwave.recipe'

/** A short digest of everything that decides what an image holds. */
export function recipeOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest('hex').slice(0, 16)
}

/** Whether the engine has the image, made from just this. */
export async function isUpToDate(engine: Engine, image: string, recipe: string): Promise<boolean> {
  return (await inspectImage(engine, image))?.labels[recipeLabel] === recipe
}
