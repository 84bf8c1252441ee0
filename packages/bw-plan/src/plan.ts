/** From what a plan's text says to items with waves. Pure. */
import {
  emptyTree,
  findCycles,
  globProblem,
  type Placeable,
  placeItems,
  resolveClaim,
  type Schedule,
  type Tree,
  type Wait,
  type WavePolicies,
} from '@buildwave/core'
import {
  type Correction,
  chooseItems,
  correctItems,
  strayDependencies,
  toPlannedItems,
  withoutReplaced,
} from './choose.ts'
import { foresee, type Rerun } from './foresight.ts'
import { patternErrors } from './pattern-count.ts'
import type { Diagnostic, ItemState, PlanItem, Reading } from './read/plan-item.ts'

export interface PlanOptions {
  maxParallel: number
  /** Ids or slugs; none means all. */
  chosen?: readonly string[]
  corrections?: Correction
  unknown?: 'alone' | 'parallel' | 'error'
  phases?: boolean
  trustMarkers?: boolean
  skipOptional?: boolean
  shared?: readonly string[]
  tree?: Tree
}

/** An item with its place; the fields of an `item` record under their names, less the envelope. */
export interface PlannedItem extends Placeable {
  id: string
  title: string
  text: string
  type: 'feature' | 'bugfix'
  owns: string[]
  ownsFrom: 'declared' | 'mentioned' | 'unknown' | 'option'
  after: string[]
  wave: number | null
  waitsFor: Wait[]
  done: boolean
  line: number
  state: ItemState
  optional: boolean
  labels: string[]
  /** Where it stands in the plan, from 0: placing goes by this, whatever order the records are in. */
  position: number
}

export interface Planned {
  /** In wave order, finished items last; empty when a diagnostic is an error. */
  items: PlannedItem[]
  waves: number
  /** The format has its items run one after the other. */
  sequential: boolean
  diagnostics: Diagnostic[]
}

/** Plans the items of a plan's text. Throws UserError for a chosen or corrected item that is not there. */
export function planItems(reading: Reading, options: PlanOptions): Planned {
  return planCorrected(toPlannedItems(reading), { ...reading, options })
}

interface Context {
  groups: Reading['groups']
  sequential: boolean
  diagnostics: readonly Diagnostic[]
  options: PlanOptions
}

/** Corrects, chooses, checks and places items; those of `--from` come in here. */
export function planCorrected(given: readonly PlannedItem[], context: Context): Planned {
  const { groups, sequential, options } = context
  const corrected = correctItems(given, groups, options.corrections ?? {})
  const chosen = chooseItems(corrected, groups, options)
  const tree = options.tree ?? emptyTree
  const tooMany = patternErrors(chosen.items, tree)
  const claimed = tooMany.length > 0 ? [] : chosen.items.map((item) => withClaims(item, tree))
  const items = claimed.map(({ item }) => item)
  const { after } = options.corrections ?? {}
  const diagnostics = [
    ...withoutReplaced(context.diagnostics, { items: given, groups, after }),
    ...strayDependencies(corrected),
    ...chosen.diagnostics,
    ...claimed.flatMap(({ problems }) => problems),
    ...tooMany,
  ]
  diagnostics.push(...cycles(corrected.filter(({ done }) => !done)))
  if (options.unknown === 'error') diagnostics.push(...unknownErrors(items))
  if (diagnostics.some(({ level }) => level === 'error')) {
    return { items: [], waves: 0, sequential, diagnostics: inOrder(diagnostics) }
  }
  return place(items, { options, sequential, diagnostics })
}

interface Placing {
  options: PlanOptions
  sequential: boolean
  diagnostics: Diagnostic[]
}

function place(items: readonly PlannedItem[], { options, sequential, diagnostics }: Placing): Planned {
  const open = items.filter(({ done }) => !done)
  const policies: WavePolicies = {
    maxParallel: options.maxParallel,
    unknown: options.unknown === 'parallel' ? 'parallel' : 'alone',
    phases: options.phases ?? true,
    trustMarkers: options.trustMarkers ?? false,
    sequential,
    shared: options.shared ?? [],
    tree: options.tree ?? emptyTree,
  }
  const schedule = placeItems(open, policies)
  const byName = new Map(items.map((item) => [item.item, item]))
  const placed = schedule.placements.flatMap(({ item, wave, waitsFor }) => {
    const found = byName.get(item)
    return found === undefined ? [] : [{ ...found, wave, waitsFor }]
  })
  const rerun: Rerun = (changed, fewer) => placeItems(fewer ?? open, { ...policies, ...changed }).waves
  return {
    items: [...placed, ...items.filter(({ done }) => done)],
    waves: schedule.waves,
    sequential,
    diagnostics: inOrder([
      ...diagnostics,
      ...disputes(schedule, byName),
      ...foresee(open, { policies, schedule, rerun }),
    ]),
  }
}

/** An item of the text as one to place; claims that cannot be compared are dropped, and told. */
function withClaims(item: PlannedItem, tree: Tree): { item: PlannedItem; problems: Diagnostic[] } {
  const problems: Diagnostic[] = []
  const owns = item.owns.flatMap((claim) => {
    const bare = claim.replace(/^!/, '')
    const problem = globProblem(bare)
    if (problem === null) return claim.startsWith('!') ? [claim] : resolveClaim(bare, tree)
    const isOutside = problem.startsWith('lies outside')
    problems.push({
      level: isOutside || item.ownsFrom === 'mentioned' ? 'warning' : 'error',
      kind: isOutside ? 'path-outside-repo' : 'bad-claim',
      line: item.line,
      text: `item '${item.id}' names '${claim.slice(0, 80)}', which ${problem}`,
      id: item.id,
    })
    return []
  })
  const known = [...new Set(owns)]
  if (known.length > 0 && known.every((claim) => claim.startsWith('!'))) {
    const text = `item '${item.id}' only says what it leaves alone (${known.slice(0, 4).join(', ')}), not which files it has`
    problems.push({ level: 'warning', kind: 'only-exclusions', line: item.line, text, id: item.id })
    known.length = 0
  }
  return { item: { ...item, owns: known, ownsFrom: known.length === 0 ? 'unknown' : item.ownsFrom }, problems }
}

function cycles(items: readonly PlannedItem[]): Diagnostic[] {
  const at = new Map(items.map(({ item }, position) => [item, position]))
  const edges = items.map(({ after }) => after.flatMap((name) => at.get(name) ?? []))
  return findCycles(edges).flatMap((cycle) => {
    const first = items[cycle[0] ?? 0]
    if (first === undefined) return []
    const about = [...cycle, cycle[0] ?? 0].map((position) => items[position]?.id ?? '').join(' -> ')
    return [
      {
        level: 'error',
        kind: 'dependency-cycle',
        line: first.line,
        text: `the items wait for each other: ${about}`,
        about,
      },
    ]
  })
}

function unknownErrors(items: readonly PlannedItem[]): Diagnostic[] {
  return items
    .filter(({ owns, done }) => owns.length === 0 && !done)
    .map(({ id, line }) => ({
      level: 'error',
      kind: 'unknown-ownership',
      line,
      text: `item '${id}' names no file`,
      id,
    }))
}

function disputes({ disputed }: Schedule, byName: ReadonlyMap<string, PlannedItem>): Diagnostic[] {
  return disputed.flatMap(({ item, other, witness }) => {
    const [mine, theirs] = [byName.get(item), byName.get(other)]
    if (mine === undefined || theirs === undefined) return []
    const text = `item '${mine.id}' is marked as parallel, but it and '${theirs.id}' may both touch ${witness}`
    return [{ level: 'warning', kind: 'parallel-marker-overlap', line: mine.line, text, id: mine.id, about: theirs.id }]
  })
}

function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted((a, b) => a.line - b.line)
}

/** Whether an item of the text counts as finished. */
export function isDone({ state }: Pick<PlanItem, 'state'>): boolean {
  return state === 'done' || state === 'skipped'
}
