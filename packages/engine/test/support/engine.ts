import { randomBytes } from 'node:crypto'
import { afterAll, describe } from 'vitest'
import { baseImage, holderImage } from '../../src/image.ts'
import { connect, type Engine, imageDigest, listOwned, reap } from '../../src/index.ts'

const found: Engine | Error = await usable().catch((error: Error) => error)

async function usable(): Promise<Engine> {
  const engine = await connect()
  await Promise.all([baseImage, holderImage()].map((image) => imageDigest(engine, image)))
  return engine
}

/** The real engine; asked for inside of `withEngine` only. */
export function theEngine(): Engine {
  if (found instanceof Error) throw found
  return found
}

/** A block of tests that needs the real engine. Without one it is skipped, or fails under `BW_REQUIRE=engine`. */
export function withEngine(title: string, body: () => void): void {
  if (!(found instanceof Error) || required()) describe(title, body)
  else describe.skip(`${title} (skipped: ${found.message})`, body)
}

function required(): boolean {
  return (process.env.BW_REQUIRE ?? '').split(',').includes('engine')
}

/** A run id that no other test has; what carries it is removed when the file's tests are over. */
export function ownRun(): string {
  const run = `t-${randomBytes(5).toString('hex')}`
  afterAll(async () => {
    if (found instanceof Error) return
    await reap(found, { run, keep: () => false })
    const left = await listOwned(found, { run })
    if (left.length > 0) throw new Error(`left behind: ${left.map(({ name }) => name).join(', ')}`)
  })
  return run
}

export const someLimits = { memoryMiB: 256, pids: 64, cpus: 1, tmpMiB: 32, homeMiB: 16, workMiB: 64 }
