/** Which items of a plan are taken, and what the command line says better than the text. */
import { distinctSlugs, UserError } from '@buildwave/core'
import { isDone, type PlannedItem, type PlanOptions } from './plan.ts'
import type { Diagnostic, Reading } from './read/plan-item.ts'
import { maxEdges } from './read/wave-graph.ts'

/** By item id or slug, as the flags have it. */
export interface Correction {
  /** From the project's configuration: for whatever items of these names there are. */
  configured?: ReadonlyMap<string, readonly string[]>
  owns?: ReadonlyMap<string, readonly string[]>
  /** Replaces what the text says. */
  after?: ReadonlyMap<string, readonly string[]>
  type?: ReadonlyMap<string, 'feature' | 'bugfix'>
}

/** The items of a plan's text with their slugs, not yet placed. */
export function toPlannedItems({ items }: Pick<Reading, 'items'>): PlannedItem[] {
  const slugs = distinctSlugs(items.map(({ id }) => id))
  const slugOf = new Map(items.map(({ id }, at) => [id, slugs[at] ?? id]))
  return items.map((item, at) => ({
    ...item,
    item: slugs[at] ?? item.id,
    after: item.after.flatMap((id) => slugOf.get(id) ?? []),
    wave: null,
    waitsFor: [],
    done: isDone(item),
    position: at,
  }))
}

/** The items, corrected. Throws UserError `unknown-item` for a flag that names none of them. */
export function correctItems(
  items: readonly PlannedItem[],
  groups: Reading['groups'],
  correction: Correction,
): PlannedItem[] {
  const { find, has } = finder(items, groups)
  const changes = new Map<string, Partial<PlannedItem>>()
  const change = (name: string, change: Partial<PlannedItem>) => {
    for (const { item } of find(name)) changes.set(item, { ...changes.get(item), ...change })
  }
  for (const [name, owns] of correction.configured ?? []) {
    if (has(name)) change(name, { owns: [...owns], ownsFrom: 'option' })
  }
  for (const [name, owns] of correction.owns ?? []) change(name, { owns: [...owns], ownsFrom: 'option' })
  let edges = 0
  for (const [name, names] of correction.after ?? []) {
    const after = [...new Set(names.flatMap((other) => find(other).map(({ item }) => item)))]
    edges += after.length * find(name).length
    if (edges > maxEdges)
      throw new UserError('too-many-dependencies', `'--after ${name}=' is more than ${maxEdges} in all`)
    change(name, { after, group: null })
  }
  for (const [name, type] of correction.type ?? []) change(name, { type })
  return keepNextSibling(
    items,
    items.map((item) => ({ ...item, ...changes.get(item.item) })),
  )
}

/** An item taken out of the order of its siblings no longer waits; the one behind it still waits for it. */
function keepNextSibling(before: readonly PlannedItem[], items: PlannedItem[]): PlannedItem[] {
  const last = new Map<string, PlannedItem>()
  return items.map((item, at) => {
    const group = before[at]?.group ?? null
    if (group === null) return item
    const sibling = last.get(group)
    last.set(group, item)
    const isLifted = sibling !== undefined && sibling.group === null && item.group !== null
    return isLifted ? { ...item, after: [...new Set([...item.after, sibling.item])] } : item
  })
}

/** What is told of the plan's text, less what is wrong with dependencies that the command line replaces. */
export function withoutReplaced(
  diagnostics: readonly Diagnostic[],
  { items, groups, after }: Pick<Reading, 'groups'> & { items: readonly PlannedItem[]; after: Correction['after'] },
): Diagnostic[] {
  if (after === undefined || after.size === 0) return [...diagnostics]
  const { find } = finder(items, groups)
  const replaced = new Set([...after.keys()].flatMap((name) => find(name).map(({ id }) => id)))
  for (const name of groups.keys()) {
    if (membersOf(name, groups).every((id) => replaced.has(id))) replaced.add(name)
  }
  return diagnostics.filter(({ id, kind }) => id === undefined || !aboutDependencies.has(kind) || !replaced.has(id))
}

const aboutDependencies = new Set(['unknown-dependency', 'self-dependency', 'loose-id-match', 'external-reference'])

function membersOf(name: string, groups: Reading['groups']): string[] {
  return groups.get(name)?.flatMap((id) => membersOf(id, groups)) ?? [name]
}

/** Dependencies on nothing that is there: only edited records can have them. */
export function strayDependencies(items: readonly PlannedItem[]): Diagnostic[] {
  const known = new Set(items.map(({ item }) => item))
  return items.flatMap(({ id, line, after, done }): Diagnostic[] => {
    const stray = done ? undefined : after.find((name) => !known.has(name))
    if (stray === undefined) return []
    const text = `item '${id}' depends on '${stray}', which is not among these records (--after ${id}= says otherwise)`
    return [{ level: 'error', kind: 'unknown-dependency', line, text, id, about: stray }]
  })
}

export interface Chosen {
  items: PlannedItem[]
  diagnostics: Diagnostic[]
}

/** The items that are taken; a dependency on one that is left out counts as met, and is told. */
export function chooseItems(
  items: readonly PlannedItem[],
  groups: Reading['groups'],
  { chosen = [], skipOptional = false }: Pick<PlanOptions, 'chosen' | 'skipOptional'>,
): Chosen {
  const { find } = finder(items, groups)
  const names = new Set(chosen.flatMap((name) => find(name).map(({ item }) => item)))
  const taken = items.filter(
    ({ item, optional }) => (chosen.length === 0 || names.has(item)) && !(skipOptional && optional && !names.has(item)),
  )
  const kept = new Map(taken.map((item) => [item.item, item]))
  const byName = new Map(items.map((item) => [item.item, item]))
  const diagnostics: Diagnostic[] = []
  const result = taken.map((item) => {
    const left = item.after.filter((name) => !kept.has(name))
    for (const name of left) {
      const other = byName.get(name)
      if (other === undefined || other.done || item.done) continue
      const text = `item '${item.id}' depends on '${other.id}', which is open and not chosen`
      diagnostics.push({
        level: 'warning',
        kind: 'dependency-not-chosen',
        line: item.line,
        text,
        id: item.id,
        about: other.id,
      })
    }
    return { ...item, after: item.after.filter((name) => kept.has(name)) }
  })
  for (const { id, line, done } of result) {
    if (chosen.length === 0 || !done) continue
    diagnostics.push({ level: 'warning', kind: 'chosen-item-done', line, text: `item '${id}' is done already`, id })
  }
  return { items: result, diagnostics }
}

interface Finder {
  has(name: string): boolean
  /** The item of that id or slug, or all of that group. Throws UserError `unknown-item`. */
  find(name: string): PlannedItem[]
}

function finder(items: readonly PlannedItem[], groups: Reading['groups']): Finder {
  const byName = new Map<string, PlannedItem>()
  for (const item of items) byName.set(item.item, item)
  for (const item of items) byName.set(item.id.toLowerCase(), item)
  function lookUp(name: string): PlannedItem[] {
    const key = name.toLowerCase()
    const found = byName.get(key) ?? byName.get(`#${key}`)
    return found === undefined ? (groups.get(name) ?? []).flatMap(lookUp) : [found]
  }
  return {
    has: (name) => lookUp(name).length > 0,
    find(name) {
      const found = lookUp(name)
      if (found.length > 0) return found
      const known = items.slice(0, 12).map(({ id }) => id)
      throw new UserError('unknown-item', `the plan has no item '${name}'`, {
        hint: `its items are ${known.join(', ')}${items.length > known.length ? ', …' : ''}`,
      })
    },
  }
}
