import { createHash, randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { UserError } from '@buildwave/core'
import { freshLayer, volumeAt } from './confinement.ts'
import type { Engine } from './connect.ts'
import { holderImage } from './image.ts'
import { labelled, labels } from './labels.ts'
import { runOnce } from './one-shot.ts'
import { program } from './program.ts'
import { builderGid, builderUid } from './uid.ts'
import { makeOverlay, makeVolume, populate, removeVolume, type Volume, volumeLabels } from './volume.ts'

export interface StartRequest {
  run: string
  /** The commit that a builder or check starts from. */
  start: string
  /** The run's base, from which `start` differs by a thin layer; the same oid as `start` for the first wave. */
  base: string
  /** A git bundle of `commit` and its history, less what `not` reaches. Called only for what is not there yet. */
  bundle: (commit: string, not: readonly string[]) => Promise<Readable>
}

/**
 * A start commit, laid out in engine-managed volumes: a bare repository with only what is reachable from it, and a
 * checkout that borrows its objects from there. Plain data: it may be kept and passed on.
 */
export interface StartLayer {
  start: string
  base: string
  uid: number
  /** Volumes with the objects, mounted read-only at `target` wherever the checkout is used; base first. */
  volumes: { name: string; target: string }[]
  /** Folders on the engine's host, topmost first, for an overlay's `lowerdir`. */
  lower: string[]
}

/**
 * Makes the layer of a start commit, once per (commit, base, uid) on this engine: later and concurrent calls find it. A
 * layer whose filling was cut off is never taken for a full one. Costs one container for the base and one more for a
 * start commit that is not the base.
 */
export async function prepareStart(engine: Engine, request: StartRequest): Promise<StartLayer> {
  const { start, base } = request
  const below = await sharedFill(engine, request, null)
  const layer = { start, base, uid: builderUid() }
  if (start === base) return { ...layer, volumes: [at(below, '/base.git')], lower: [`${below.path}/upper`] }
  const thin = await sharedFill(engine, request, below)
  return {
    ...layer,
    volumes: [at(below, '/base.git'), at(thin, '/start.git')],
    lower: [`${thin.path}/upper`, `${below.path}/upper`],
  }
}

function at(volume: Volume, target: string): { name: string; target: string } {
  return { name: volume.name, target }
}

/** Fills under way in this process, so that builders that start together wait for one filling. */
const underWay = new WeakMap<Engine, Map<string, Promise<Volume>>>()

function sharedFill(engine: Engine, request: StartRequest, below: Volume | null): Promise<Volume> {
  const seal = sealName(engine, request, below)
  const fills = underWay.get(engine) ?? new Map<string, Promise<Volume>>()
  underWay.set(engine, fills)
  const known = fills.get(seal)
  if (known) return known
  const fill = findOrFill(engine, request, { seal, below }).finally(() => fills.delete(seal))
  fills.set(seal, fill)
  return fill
}

/** Changes when the layout of a layer does: a layer of another layout is not found. */
const layout = 1

/** A thin layer is bound to the very volume below it: made again, that one's files have other inodes and times. */
function sealName(engine: Engine, { start, base }: StartRequest, below: Volume | null): string {
  const what = JSON.stringify([layout, engine.owner, builderUid(), below ? start : base, below?.name ?? null])
  return `bw-layer-${createHash('sha256').update(what).digest('hex').slice(0, 16)}`
}

/**
 * A layer is an ordinary volume and a second, empty one, the seal, whose label names the first. The seal is made last, so
 * a filling that was cut off has none; and since making a volume that exists changes nothing, the first of two fillings
 * that end together wins and both use it.
 */
async function findOrFill(
  engine: Engine,
  request: StartRequest,
  { seal, below }: { seal: string; below: Volume | null },
): Promise<Volume> {
  const found = await sealedLayer(engine, seal)
  if (found) return found
  const volume = await makeVolume(engine, `${seal}-${randomBytes(4).toString('hex')}`, layerLabels(engine, request))
  try {
    await fill(engine, request, { volume, below })
    await makeVolume(engine, seal, {
      ...labelled(engine, { role: 'seal', stage: 'layer', run: request.run }),
      [sealedVolume]: volume.name,
    })
    const winner = await sealedLayer(engine, seal)
    if (winner === null) throw new Error(`the layer '${volume.name}' was removed while it was made`)
    if (winner.name !== volume.name) await removeVolume(engine, volume.name)
    return winner
  } catch (error) {
    await removeVolume(engine, volume.name)
    throw error
  }
}

/** The seal's label that names the sealed volume. */
export const sealedVolume = 'dev.buildwave.layer'

async function sealedLayer(engine: Engine, seal: string): Promise<Volume | null> {
  const name = (await volumeLabels(engine, seal))?.[sealedVolume]
  if (name === undefined) return null
  // Someone may have removed the volume by hand; then its seal vouches for nothing.
  if ((await volumeLabels(engine, name))?.[labels.role] === 'layer') return makeVolume(engine, name, {})
  await removeVolume(engine, seal)
  return null
}

/**
 * Makes sure that a layer is still there: a mount of a missing volume would make an empty one of that name. Throws
 * UserError `layer-gone`.
 */
export async function requireLayer(engine: Engine, { start, volumes }: StartLayer): Promise<void> {
  const found = await Promise.all(volumes.map(({ name }) => volumeLabels(engine, name)))
  if (found.some((of) => of?.[labels.role] !== 'layer')) {
    throw new UserError('layer-gone', `the checkout of commit '${start}' is no longer on the engine`, {
      hint: 'run the same command again',
    })
  }
}

function layerLabels(engine: Engine, request: StartRequest): Record<string, string> {
  return labelled(engine, { role: 'layer', stage: 'layer', run: request.run })
}

async function fill(
  engine: Engine,
  { run, start, base, bundle }: StartRequest,
  { volume, below }: { volume: Volume; below: Volume | null },
): Promise<void> {
  const commit = below ? start : base
  const overlay = below ? `${volume.name}-work` : null
  if (below && overlay) {
    // The image's folders must be in the volume before the engine can mount what lies in it.
    await populate(engine, volume, { stage: 'layer', run })
    await makeOverlay(engine, overlay, {
      lower: [`${below.path}/upper`],
      upper: volume,
      labels: labelled(engine, { role: 'work', stage: 'layer', run }),
    })
  }
  try {
    const said = await runOnce(engine, {
      identity: { role: 'filler', stage: 'layer', run },
      image: holderImage(),
      argv: program('fill', commit, below ? 'yes' : 'no'),
      user: `${builderUid()}:${builderGid()}`,
      host: {
        Tmpfs: { '/tmp': 'rw,nosuid,nodev,size=1g,mode=1777' },
        Mounts: [
          freshLayer(volume.name),
          ...(below && overlay
            ? [
                volumeAt(below.name, '/base.git', true),
                volumeAt(volume.name, '/start.git', true),
                volumeAt(overlay, '/work', false),
              ]
            : [volumeAt(volume.name, '/base.git', true)]),
        ],
      },
      stdin: () => bundle(commit, below ? [base] : []),
      ttlSeconds: fillSeconds,
    })
    for await (const _ of said);
  } finally {
    if (overlay) await removeVolume(engine, overlay)
  }
}

/** A checkout of 20,000 files took 19 s on a busy disk; a filler that takes this long is stuck. */
const fillSeconds = 3600
