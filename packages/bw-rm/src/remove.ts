import { type Engine, listOwned, type OwnedThing, reap } from '@buildwave/engine'
import {
  diskSize,
  type History,
  isExpired,
  listRuns,
  liveLeases,
  ofKind,
  readHistory,
  type Uncollected,
  uncollectedOf,
} from '@buildwave/runs'
import { type RunPaths, runPaths } from '@buildwave/store'

/** What goes, or has gone. */
export interface Removal {
  kind: 'removal'
  v: 1
  run: string
  /** False in a preview. */
  removed: boolean
  /** Null when only the engine holds something of the run. */
  folder: string | null
  bytes: number
  containers: string[]
  volumes: string[]
  /** What stays on the engine, and why. */
  kept: { name: string; reason: string }[]
  /** Attempts whose work goes with it. May hold words of a builder. */
  uncollected: { item: string; attempt: number; reason: string }[]
  /** Items with a commit that was never delivered, which goes with it. */
  undelivered: string[]
}

export interface RemovalPlan {
  removal: Removal
  uncollected: readonly Uncollected[]
}

/** What removing a run would take away. `engine` is null when none answers. Changes nothing. */
export async function planRemoval(state: string, paths: RunPaths, engine: Engine | null): Promise<RemovalPlan> {
  const history = readHistory(paths)
  const things = engine === null ? [] : await listOwned(engine, { run: paths.id })
  const uncollected = uncollectedOf(history, things)
  const keep = keeper(state, paths.id)
  return {
    uncollected,
    removal: {
      ...describe(paths.id, things, keep),
      folder: paths.dir,
      bytes: diskSize(paths.dir),
      uncollected: uncollected.map(({ item, attempt, reason }) => ({ item, attempt, reason })),
      undelivered: undelivered(history),
    },
  }
}

/** Removes from the engine what was planned and nothing that came up since; says what has gone and what stays. */
export async function removeFromEngine(
  engine: Engine,
  state: string,
  { run, containers, volumes }: Pick<Removal, 'run' | 'containers' | 'volumes'>,
): Promise<Pick<Removal, 'containers' | 'volumes' | 'kept'>> {
  const planned = new Set([...containers, ...volumes])
  const must = keeper(state, run)
  const keep = (thing: OwnedThing) => must(thing) ?? (planned.has(thing.name) ? null : 'it was made just now')
  const removed = await reap(engine, { run, keep: (thing) => keep(thing) !== null })
  const left = await listOwned(engine, { run })
  return {
    ...names(removed),
    kept: left.map((thing) => ({ name: thing.name, reason: keep(thing) ?? 'a container still uses it' })),
  }
}

/** What the engine holds of runs that have no folder any more and whose time is over, one removal a run. */
export function planLeftovers(
  state: string,
  byRun: ReadonlyMap<string, readonly OwnedThing[]>,
  now: number,
): Removal[] {
  const runs = new Set(listRuns(state))
  return [...byRun].flatMap(([run, things]) => {
    if (runs.has(run) || !isExpired(things, now)) return []
    return [{ ...describe(run, things, keeper(state, run)), folder: null, bytes: 0, uncollected: [], undelivered: [] }]
  })
}

/**
 * Why a thing must stay, null when it may go. Runs on the same base share layers, and between two containers of another run at work
 * nothing shows that it needs them.
 */
function keeper(state: string, run: string): (thing: OwnedThing) => string | null {
  const other = listRuns(state).find((each) => each !== run && liveLeases(runPaths(state, each)).length > 0)
  return ({ role }) =>
    other !== undefined && (role === 'layer' || role === 'seal') ? `run '${other}' is at work and may need it` : null
}

function describe(
  run: string,
  things: readonly OwnedThing[],
  keep: (thing: OwnedThing) => string | null,
): Omit<Removal, 'folder' | 'bytes' | 'uncollected' | 'undelivered'> {
  const kept = things.flatMap((thing) => {
    const reason = keep(thing)
    return reason === null ? [] : [{ name: thing.name, reason }]
  })
  const going = things.filter((thing) => keep(thing) === null)
  return { kind: 'removal', v: 1, run, removed: false, ...names(going), kept }
}

function names(things: readonly OwnedThing[]): Pick<Removal, 'containers' | 'volumes'> {
  const of = (type: OwnedThing['type']) => things.filter((thing) => thing.type === type).map(({ name }) => name)
  return { containers: of('container'), volumes: of('volume') }
}

/** Items that have a commit and that no delivery names. */
function undelivered(history: History): string[] {
  const delivered = new Set(ofKind(history, 'delivery').flatMap((delivery) => delivery.delivered))
  const committed = ofKind(history, 'patch').filter(({ commit }) => commit !== null)
  return [...new Set(committed.map(({ item }) => item))].filter((item) => !delivered.has(item))
}
