/** From what a plan calls an item to the item: ids that differ in padding or prefix only, groups, ranges. */
import type { Placed } from './body.ts'
import { lettersOf } from './item-id.ts'
import type { Diagnostic } from './plan-item.ts'
import type { Reference } from './references.ts'

export interface Known {
  /** Ids of items in the order of the plan. */
  ids: readonly string[]
  groups: ReadonlyMap<string, readonly string[]>
  /** How many ids all references together may stand for. */
  maxSteps: number
}

export interface Resolver {
  /** The ids meant, for the item `from`; what cannot be resolved is told. */
  resolve(references: readonly Placed<Reference>[], from: string): { ids: string[]; diagnostics: Diagnostic[] }
  /** References have stood for more ids than `maxSteps`; from then on they stand for none. */
  isExhausted(): boolean
}

export function resolverFor({ ids, groups, maxSteps }: Known): Resolver {
  const exact = new Map(ids.map((id) => [id.toLowerCase(), id]))
  const byNumber = new Map<string, string[]>()
  for (const id of [...ids, ...groups.keys()]) {
    const key = numberOf(id)
    if (key === null) continue
    const same = byNumber.get(key)
    if (same === undefined) byNumber.set(key, [id])
    else same.push(id)
  }
  const families = new Set(ids.map(lettersOf))
  const groupNames = new Map([...groups.keys()].map((id) => [id.toLowerCase(), id]))
  const place = new Map(ids.map((id, at) => [id, at]))

  const known = new Map<string, readonly string[]>()
  let steps = 0

  function members(id: string): readonly string[] {
    const found = known.get(id) ?? groups.get(id)?.flatMap(members) ?? [id]
    if (groups.has(id)) known.set(id, found)
    return found
  }

  /** `list`, unless that is too much. */
  function spend(length: number, list: () => readonly string[]): readonly string[] {
    steps += length
    return steps > maxSteps ? [] : list()
  }

  function find(name: string): { id: string; isLoose: boolean } | null {
    const key = name.toLowerCase()
    const found = exact.get(key) ?? groupNames.get(key) ?? exact.get(`#${key}`) ?? exact.get(key.replace(/^#/, ''))
    if (found !== undefined) return { id: found, isLoose: false }
    const same = (byNumber.get(numberOf(name) ?? '') ?? []).filter((id) => isSameFamily(id, name))
    return same.length === 1 && same[0] !== undefined ? { id: same[0], isLoose: true } : null
  }

  function one(name: string, context: Context): readonly string[] {
    const found = find(name)
    if (found !== null) {
      if (found.isLoose) context.tell('warning', 'loose-id-match', `'${name}' is taken for '${found.id}'`, name)
      const all = members(found.id)
      return spend(all.length, () => all)
    }
    if (/#\d+$/.test(name)) {
      context.tell('warning', 'external-reference', `'${name}' is not in this plan and taken for met`, name)
    } else if (!isOtherFamily(name, families)) {
      context.tell('error', 'unknown-dependency', `depends on '${name}', which is not in this plan`, name)
    }
    return []
  }

  function range(from: string, to: string, context: Context): readonly string[] {
    const first = find(from)?.id
    const last = find(to.includes('.') || /[a-z]/i.test(to) ? to : from.replace(/\d+$/, to))?.id ?? find(to)?.id
    const start = first === undefined ? undefined : place.get(members(first)[0] ?? first)
    const end = last === undefined ? undefined : place.get(members(last).at(-1) ?? last)
    if (start === undefined || end === undefined) return [...one(from, context), ...one(to, context)]
    const [least, most] = [Math.min(start, end), Math.max(start, end) + 1]
    return spend(most - least, () => ids.slice(least, most))
  }

  return {
    resolve(references, from) {
      const diagnostics: Diagnostic[] = []
      const found = references.flatMap(({ value, line }) => {
        const context: Context = {
          tell: (level, kind, text, about) =>
            diagnostics.push({
              level,
              kind,
              line,
              text: `item '${from}' ${level === 'error' ? text : `: ${text}`}`.replace(' : ', ': '),
              id: from,
              about,
            }),
        }
        const before = place.get(from) ?? 0
        if (value.type === 'all-before') return spend(before, () => ids.slice(0, before))
        return value.type === 'range' ? range(value.from, value.to, context) : one(value.id, context)
      })
      return { ids: [...new Set(found)], diagnostics }
    },
    isExhausted: () => steps > maxSteps,
  }
}

interface Context {
  tell(level: Diagnostic['level'], kind: string, text: string, about: string): void
}

/** The number of an id without padding, null when it has none of its own. */
function numberOf(id: string): string | null {
  const found = /^#?(?:[A-Za-z]{0,10}-?)?(\d+(?:\.\d+)*)$/.exec(id)?.[1]
  return found === undefined ? null : found.split('.').map(Number).join('.')
}

/** `T30` may mean `T030`, `3` may mean `T003`, and `WP01` may mean `Work Package 1`; `US1` never means `T001`. */
function isSameFamily(id: string, name: string): boolean {
  const [a, b] = [lettersOf(id), lettersOf(name)]
  return a === b || a === '' || b === ''
    ? a === b || b === '' || /^(?:T|TASK|WP|U|UNIT|STORY|ITEM|ISSUE)$/.test(b)
    : false
}

/** `US1`, `FR-3` or `R5` in a plan of `T001`: something else that has numbers, no item. */
function isOtherFamily(name: string, families: ReadonlySet<string>): boolean {
  const letters = lettersOf(name)
  return letters !== '' && !families.has(letters) && !/^(?:T|TASK|WP)$/.test(letters)
}
