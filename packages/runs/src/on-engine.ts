/**
 * What the engine holds of the runs of a state folder. A run's id says little by itself (the same plan has the same id in
 * every state folder), so whose a thing is goes by the labels that the engine door asks for.
 */
import { type Engine, listOwned, type OwnedThing } from '@buildwave/engine'
import { type History, lastOf, ofKind } from './history.ts'

export interface Holdings {
  /** Things of this state folder by run, whether or not the run's folder is still there. */
  byRun: ReadonlyMap<string, readonly OwnedThing[]>
  /** Things of this user that are of another state folder, or of no run. */
  elsewhere: readonly OwnedThing[]
}

/** Everything of this user on the engine. `engine` must be connected with the id of the state folder. */
export async function holdingsOf(engine: Engine): Promise<Holdings> {
  const all = await listOwned(engine)
  const runs = [...new Set(all.flatMap(({ run }) => (run === null ? [] : [run])))]
  const lists = await Promise.all(
    runs.map(async (run) => [run, await engine.limited(() => listOwned(engine, { run }))] as const),
  )
  const byRun = new Map(lists.filter(([, things]) => things.length > 0))
  const own = new Set([...byRun.values()].flatMap((things) => things.map(({ id }) => id)))
  return { byRun, elsewhere: all.filter(({ id }) => !own.has(id)) }
}

/** An attempt whose work is on the engine and nowhere else. */
export interface Uncollected {
  item: string
  attempt: number
  /** Its builder is at work. */
  running: boolean
  /** Why nobody has collected it, for people. May hold words of a builder. */
  reason: string
}

/** The attempts of a run that have run, are still on the engine, and have no `patch` record. */
export function uncollectedOf(history: History, things: readonly OwnedThing[]): Uncollected[] {
  const attempts = Map.groupBy(
    things.filter(({ stage, item, attempt }) => stage === 'bw-spawn' && item !== null && attempt !== null),
    ({ item, attempt }) => JSON.stringify([item, attempt]),
  )
  return [...attempts].flatMap(([name, parts]) => {
    const [item, attempt] = JSON.parse(name) as [string, number]
    const about = { item, attempt }
    const builder = parts.find(({ role }) => role === 'builder')
    if (lastOf(history, 'patch', about) !== undefined || !hasRun(history, about, builder)) return []
    return [{ ...about, running: isAtWork(builder), reason: reasonOf(history, about, builder) }]
  })
}

/** The builders of a run that are at work. */
export function runningBuilders(things: readonly OwnedThing[]): { item: string; attempt: number; id: string }[] {
  return things.flatMap((thing) => {
    const { item, attempt, id, role } = thing
    return role === 'builder' && isAtWork(thing) && item !== null && attempt !== null ? [{ item, attempt, id }] : []
  })
}

/** Whether every part of it that expires has done so by `now`, in milliseconds since the epoch. */
export function isExpired(things: readonly OwnedThing[], now: number): boolean {
  return things.every(({ expires }) => expires === null || Date.parse(expires) < now)
}

/** A start that was cut off before the builder ran has left nothing that anybody could want. */
function hasRun(history: History, of: { item: string; attempt: number }, builder: OwnedThing | undefined): boolean {
  if (builder !== undefined && builder.state !== 'created') return true
  return lastOf(history, 'builder', of) !== undefined
}

function isAtWork(builder: OwnedThing | undefined): boolean {
  return builder !== undefined && !['created', 'exited', 'dead'].includes(builder.state ?? 'dead')
}

function reasonOf(history: History, of: { item: string; attempt: number }, builder: OwnedThing | undefined): string {
  if (isAtWork(builder)) return 'its builder is at work'
  if (builder === undefined) return 'its containers are gone, its work is in a volume'
  const refused = ofKind(history, 'failure').findLast(
    ({ stage, item, attempt }) => stage === 'bw-collect' && item === of.item && attempt === of.attempt,
  )
  if (refused !== undefined) return `bw-collect could not take it: ${refused.message}`
  const build = lastOf(history, 'build', of)
  return build === undefined
    ? 'it has ended and nobody has looked at it'
    : `it ended (${build.outcome}) and was not collected`
}
