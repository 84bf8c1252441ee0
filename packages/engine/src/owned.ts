import type { Engine } from './connect.ts'
import { removeContainer } from './container.ts'
import { labels } from './labels.ts'
import { sealedVolume } from './layer.ts'
import { removeVolume } from './volume.ts'

/** A container or volume of ours, as its labels tell. */
export interface OwnedThing {
  type: 'container' | 'volume'
  /** Container id or volume name. */
  id: string
  name: string
  /** builder, holder, upper, work, check, collector, filler, canary, layer, seal. */
  role: string
  run: string | null
  item: string | null
  attempt: number | null
  stage: string | null
  /** For containers: created, running, exited, …; null for volumes. */
  state: string | null
  /** ISO 8601; null for what does not expire by itself. */
  expires: string | null
}

/** Everything on the engine that carries our labels and this user's uid, by name; of one run if said. */
export async function listOwned(engine: Engine, of: { run?: string } = {}): Promise<OwnedThing[]> {
  const things = (await listLabelled(engine, of)).map(({ thing }) => thing)
  return things.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Removes a run's containers and volumes except those that `keep` answers true for (an attempt's containers and volumes
 * stay or go together) and layers that a container still uses. Gives back what was removed.
 */
export async function reap(
  engine: Engine,
  { run, keep }: { run: string; keep: (thing: OwnedThing) => boolean },
): Promise<OwnedThing[]> {
  const all = await listLabelled(engine, { run })
  const keptAttempts = new Set(
    all.filter(({ thing }) => thing.attempt !== null && keep(thing)).map(({ thing }) => attemptOf(thing)),
  )
  const doomed = all.filter(({ thing }) =>
    thing.attempt === null ? !keep(thing) : !keptAttempts.has(attemptOf(thing)),
  )
  const removed: OwnedThing[] = []
  for (const rank of Map.groupBy(doomed, ({ thing }) => order(thing))
    .entries()
    .toArray()
    .sort(([a], [b]) => a - b)) {
    const gone = await Promise.all(rank[1].map(async (one) => ((await remove(engine, one)) ? [one.thing] : [])))
    removed.push(...gone.flat())
  }
  return removed
}

/** False when it is still used. */
async function remove(engine: Engine, { thing, seals }: { thing: OwnedThing; seals: string | null }): Promise<boolean> {
  if (thing.type === 'container') {
    await removeContainer(engine, thing.id)
    return true
  }
  // A seal goes only after the layer that it vouches for, which the engine refuses to remove while it is used.
  if (seals !== null && !(await removeVolume(engine, seals))) return false
  return removeVolume(engine, thing.id)
}

function attemptOf({ item, attempt }: OwnedThing): string {
  return JSON.stringify([item, attempt])
}

/** Containers before volumes, a builder before its holder, an overlay before what it lies on, a layer with its seal last. */
function order({ role, type }: OwnedThing): number {
  const at = ['builder', 'holder', 'work', 'upper', 'seal', 'layer'].indexOf(role)
  return at >= 0 ? at : type === 'container' ? 0 : 2
}

async function listLabelled(
  engine: Engine,
  { run }: { run?: string },
): Promise<{ thing: OwnedThing; seals: string | null }[]> {
  const label = [
    `${labels.owner}=${engine.owner}`,
    ...(run === undefined ? [] : [`${labels.state}=${engine.state}`, `${labels.run}=${run}`]),
  ]
  const [containers, { Volumes }] = await Promise.all([
    engine.docker.listContainers({ all: true, filters: { label } }),
    engine.docker.listVolumes({ filters: { label } }),
  ])
  return [
    ...containers.map(({ Id, Names, State, Labels }) =>
      labelledThing({ type: 'container', id: Id, name: Names[0]?.slice(1) ?? Id, state: State }, Labels),
    ),
    ...(Volumes ?? []).map(({ Name, Labels }) =>
      labelledThing({ type: 'volume', id: Name, name: Name, state: null }, Labels ?? {}),
    ),
  ]
}

function labelledThing(
  what: Pick<OwnedThing, 'type' | 'id' | 'name' | 'state'>,
  of: Readonly<Record<string, string>>,
): { thing: OwnedThing; seals: string | null } {
  const attempt = Number(of[labels.attempt] ?? Number.NaN)
  const thing = {
    ...what,
    role: of[labels.role] ?? '',
    run: of[labels.run] ?? null,
    item: of[labels.item] ?? null,
    attempt: Number.isInteger(attempt) ? attempt : null,
    stage: of[labels.stage] ?? null,
    expires: of[labels.expires] ?? null,
  }
  return { thing, seals: of[sealedVolume] ?? null }
}
