import { join } from 'node:path'
import {
  type AttemptId,
  type BuilderEnd,
  type BuilderRequest,
  baseImage,
  followBuilder,
  makeBuilderFolder,
  startBuilder,
} from '../../src/index.ts'
import { someLimits, theEngine } from './engine.ts'
import { newFolder } from './folder.ts'

/** A host folder whose path has what often breaks a path: a space, a comma, a colon, an umlaut. */
export async function makeOut(): Promise<string> {
  const out = join(newFolder(), 'a folder, with: ümläut')
  await makeBuilderFolder(out)
  return out
}

export type BuildWishes = Partial<BuilderRequest> & Pick<BuilderRequest, 'layer' | 'argv'> & AttemptId

export async function start(wishes: BuildWishes): Promise<{ builder: string; holder: string; work: string }> {
  return startBuilder(theEngine(), {
    image: baseImage,
    env: {},
    mounts: [],
    limits: someLimits,
    ttlSeconds: 120,
    ...wishes,
  })
}

/** Starts a builder and waits for its end. */
export async function build(wishes: BuildWishes): Promise<BuilderEnd> {
  return followBuilder(theEngine(), (await start(wishes)).builder)
}
