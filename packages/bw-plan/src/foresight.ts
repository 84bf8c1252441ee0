/** What a plan costs and where it may be wrong, told before anything is spent. */
import type { Schedule, WavePolicies } from '@buildwave/core'
import type { PlannedItem } from './plan.ts'
import type { Diagnostic } from './read/plan-item.ts'

/** How many waves the plan would take under other policies, or with other items. */
export type Rerun = (changed: Partial<WavePolicies>, items?: readonly PlannedItem[]) => number

interface Placed {
  policies: WavePolicies
  schedule: Schedule
  rerun: Rerun
}

export function foresee(items: readonly PlannedItem[], placed: Placed): Diagnostic[] {
  return [
    ...unknownCost(items, placed),
    ...ruleCosts(items, placed),
    ...crowded(items, placed),
    ...caseFolds(items, placed),
    ...lookAlikes(items),
  ]
}

function unknownCost(items: readonly PlannedItem[], { policies, schedule, rerun }: Placed): Diagnostic[] {
  const unknown = items.filter(({ owns }) => owns.length === 0)
  const [first] = unknown
  if (first === undefined) return []
  const who = `${count(unknown.length, 'item')} name${unknown.length === 1 ? 's' : ''} no file (${listIds(unknown)})`
  const about = String(unknown.length)
  const base = { kind: 'unknown-ownership', line: first.line, about, level: 'warning' } as const
  if (policies.unknown === 'parallel') return [{ ...base, text: `${who} and may run beside anything` }]
  const cost = schedule.waves - rerun({ unknown: 'parallel' })
  if (cost <= 0) return [{ ...base, level: 'info', text: `${who} and would be alone anyway` }]
  return [
    {
      ...base,
      text: `${who}: ${waves(cost)}; name ${unknown.length === 1 ? 'its' : 'their'} files or pass --unknown=parallel`,
    },
  ]
}

/** The waves that each rule adds. A rule that adds none is not worth a line. */
function ruleCosts(items: readonly PlannedItem[], { policies, schedule, rerun }: Placed): Diagnostic[] {
  const line = items[0]?.line ?? 1
  const told: Diagnostic[] = []
  const tell = (kind: string, cost: number, text: string) => {
    if (cost > 0) told.push({ level: 'info', kind, line, text: `${text}: ${waves(cost)}`, about: String(cost) })
  }
  if (policies.phases && new Set(items.map(({ phase }) => phase)).size > 1) {
    tell(
      'cost-of-phases',
      schedule.waves - rerun({ phases: false }),
      'each phase waits for the one before (--no-phases)',
    )
  }
  if (items.some(({ marked }) => marked) && items.some(({ marked }) => !marked)) {
    const all = items.map((item) => ({ ...item, marked: false }))
    tell('cost-of-markers', schedule.waves - rerun({}, all), 'items without [P] run alone beside those that have it')
  }
  if (items.some(({ group }) => group !== null)) {
    const all = items.map((item) => ({ ...item, group: null }))
    tell(
      'cost-of-order',
      schedule.waves - rerun({}, all),
      'numbered siblings run in their order (--after ITEM= says otherwise)',
    )
  }
  return told
}

function crowded(items: readonly PlannedItem[], { schedule }: Placed): Diagnostic[] {
  const names = new Set(schedule.crowded)
  const found = items.filter(({ item }) => names.has(item))
  const [first] = found
  if (first === undefined) return []
  const text = `${count(found.length, 'item')} with more wide globs than are compared run alone (${listIds(found)})`
  return [{ level: 'warning', kind: 'too-many-globs', line: first.line, text, about: String(found.length) }]
}

/** Told once, with the first pair: a plan that spells one file in two ways mostly does so everywhere. */
function caseFolds(items: readonly PlannedItem[], { schedule }: Placed): Diagnostic[] {
  const found = schedule.placements.flatMap(({ item, waitsFor }) =>
    waitsFor.flatMap((wait) => (wait.certainty === 'case-fold' ? [{ item, wait }] : [])),
  )
  const [first] = found
  if (first === undefined) return []
  const byName = new Map(items.map((item) => [item.item, item]))
  const [mine, theirs] = [byName.get(first.item), byName.get(first.wait.item)]
  if (mine === undefined || theirs === undefined) return []
  const more = found.length === 1 ? '' : `, and so are ${count(found.length - 1, 'more pair')}`
  const text = `items '${mine.id}' and '${theirs.id}' are kept apart, since where letter case does not count both may touch ${first.wait.witness}${more}`
  return [{ level: 'warning', kind: 'case-fold-overlap', line: mine.line, text, id: mine.id, about: theirs.id }]
}

/** Items whose titles say the same in other order or dress. */
function lookAlikes(items: readonly PlannedItem[]): Diagnostic[] {
  const seen = new Map<string, PlannedItem>()
  return items.flatMap((item): Diagnostic[] => {
    const key = titleKey(item.title)
    const before = key === '' ? undefined : seen.get(key)
    if (before === undefined) {
      seen.set(key, item)
      return []
    }
    const text = `item '${item.id}' looks like '${before.id}' at line ${before.line}`
    return [{ level: 'warning', kind: 'looks-duplicate', line: item.line, text, id: item.id, about: before.id }]
  })
}

const small = new Set(['a', 'an', 'the', 'in', 'to', 'of', 'for', 'and', 'with', 'on'])

function titleKey(title: string): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}/.]+/gu) ?? []
  return [...new Set(words.filter((word) => !small.has(word)))].sort().join(' ')
}

function listIds(items: readonly PlannedItem[]): string {
  const ids = items.slice(0, 8).map(({ id }) => id)
  return `${ids.join(', ')}${items.length > ids.length ? ', …' : ''}`
}

function waves(cost: number): string {
  return `+${count(cost, 'wave')}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
