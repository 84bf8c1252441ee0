/** Which items of a plan are taken, and what the command line says better than the text. */
import { UserError } from '@buildwave/core'
import { isDone, type PlannedItem, type PlanOptions } from './plan.ts'
import type { Diagnostic, Reading } from './read/plan-item.ts'

/** By item id or slug, as the flags have it. */
export interface Correction {
  owns?: ReadonlyMap<string, readonly string[]>
  /** Replaces what the text says. */
  after?: ReadonlyMap<string, readonly string[]>
  type?: ReadonlyMap<string, 'feature' | 'bugfix'>
}

/** All items with their slugs, corrected. Throws UserError `unknown-item` for a name that no item has. */
export function correctItems(reading: Reading, slugs: readonly string[], correction: Correction): PlannedItem[] {
  const slugOf = new Map(reading.items.map(({ id }, at) => [id, slugs[at] ?? id]))
  const items = reading.items.map(
    (item, at): PlannedItem => ({
      ...item,
      item: slugs[at] ?? item.id,
      after: item.after.flatMap((id) => slugOf.get(id) ?? []),
      wave: null,
      waitsFor: [],
      done: isDone(item),
      position: at,
    }),
  )
  const find = finder(items, reading.groups)
  for (const [name, globs] of correction.owns ?? []) {
    for (const item of find(name)) Object.assign(item, { owns: [...globs], ownsFrom: 'option' })
  }
  for (const [name, names] of correction.after ?? []) {
    const after = names.flatMap((other) => find(other).map(({ item }) => item))
    for (const item of find(name)) Object.assign(item, { after: [...new Set(after)] })
  }
  for (const [name, type] of correction.type ?? []) for (const item of find(name)) Object.assign(item, { type })
  return items
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
  const find = finder(items, groups)
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

function finder(items: readonly PlannedItem[], groups: Reading['groups']): (name: string) => PlannedItem[] {
  const byName = new Map<string, PlannedItem>()
  for (const item of items) byName.set(item.item, item)
  for (const item of items) byName.set(item.id.toLowerCase(), item)
  return function find(name): PlannedItem[] {
    const key = name.toLowerCase()
    const found = byName.get(key) ?? byName.get(`#${key}`)
    if (found !== undefined) return [found]
    const members = groups.get(name)
    if (members !== undefined) return members.flatMap(find)
    const known = items.slice(0, 12).map(({ id }) => id)
    throw new UserError('unknown-item', `the plan has no item '${name}'`, {
      hint: `its items are ${known.join(', ')}${items.length > known.length ? ', …' : ''}`,
    })
  }
}
