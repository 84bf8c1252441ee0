import type { Engine } from './connect.ts'

/** The image that builders and checks run in unless a project brings its own. */
export const baseImage = 'buildwave/base'

/** Our own small image: holders, and the containers that fill, collect and prove. */
export const holderImage = 'buildwave/holder'

/**
 * The engine's id of a local image (`sha256:…`), which names its exact content. Nothing is ever pulled.
 * Throws UserError `no-image` with the hint to run `bw-image`.
 */
export async function imageDigest(_engine: Engine, _name: string): Promise<string> {
  throw new Error('not written yet')
}
