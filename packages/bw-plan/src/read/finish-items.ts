/** Drafts of any format to plan items: ids, groups, dependencies, kinds. */
import type { Draft } from './draft.ts'
import type { Diagnostic, PlanItem } from './plan-item.ts'
import { type Resolver, resolverFor } from './resolve.ts'
import { maxEdges, tooManyEdges } from './wave-graph.ts'

export interface Finished {
  items: PlanItem[]
  groups: Map<string, string[]>
  diagnostics: Diagnostic[]
}

export interface FinishRules {
  /** Numbered siblings follow each other unless the plan says more. */
  dottedInOrder: boolean
  /** Edges that the plan states elsewhere, by id. */
  edges: readonly { from: string; after: string }[]
}

export function finishItems(drafts: readonly Draft[], { dottedInOrder, edges }: FinishRules): Finished {
  const named = nameDrafts(drafts)
  const { groups, groupOf, isGroup } = findGroups(named)
  const kept = named.filter((draft) => !isGroup(draft))
  const resolver = resolverFor({ ids: kept.map(({ id }) => id), groups, maxSteps: maxEdges })
  const diagnostics = [...duplicates(named), ...kept.flatMap((draft) => outside(draft))]
  const after = resolveAll(named, { groups, resolver, edges, diagnostics })
  const filesOfGroups = groupFiles(named, { groupOf, isGroup })
  const group = dottedGroups(kept, { after, dottedInOrder })
  const items = kept.map((draft): PlanItem => {
    const { body } = draft
    const shared = filesOfGroups(draft.id)
    const own = body.declared.length > 0 ? body.declared : body.mentioned
    const owns = own.length === 0 ? shared : unique([...own, ...shared])
    const isDeclared = body.declared.length > 0 || shared.length > 0
    const end = endPriority(draft.title)
    return {
      id: draft.id,
      title: end.title.slice(0, 1000),
      text: draft.text,
      line: draft.line,
      type: isBug(draft) ? 'bugfix' : 'feature',
      state: draft.state,
      optional: draft.optional,
      marked: draft.marked,
      labels: draft.labels,
      phase: draft.phase,
      group: group.get(draft.id) ?? null,
      owns: [...owns],
      ownsFrom: isDeclared ? 'declared' : owns.length > 0 ? 'mentioned' : 'unknown',
      after: [...(after.get(draft.id) ?? [])],
      priority: draft.priority ?? end.priority,
    }
  })
  return { items, groups, diagnostics }
}

type Named = Draft & { id: string }

function nameDrafts(drafts: readonly Draft[]): Named[] {
  const noneHasId = drafts.every(({ id }) => id === null)
  const named = new Map<Draft, Named>()
  for (const [at, draft] of drafts.entries()) {
    const id = draft.id ?? (noneHasId ? String(at + 1) : `L${draft.line}`)
    named.set(draft, { ...draft, id, parent: draft.parent === null ? null : (named.get(draft.parent) ?? draft.parent) })
  }
  return [...named.values()]
}

function duplicates(drafts: readonly Named[]): Diagnostic[] {
  const first = new Map<string, Named>()
  const folded = new Map<string, Named>()
  return drafts.flatMap((draft): Diagnostic[] => {
    const before = first.get(draft.id)
    if (before === undefined) {
      first.set(draft.id, draft)
      return caseTwin(draft, folded)
    }
    const about = `first at line ${before.line}`
    return [
      {
        level: 'error',
        kind: 'duplicate-id',
        line: draft.line,
        text: `id '${draft.id}' is used twice, ${about}`,
        id: draft.id,
        about,
      },
    ]
  })
}

/** References go by id without letter case, so only one of two such items can be meant. */
function caseTwin(draft: Named, folded: Map<string, Named>): Diagnostic[] {
  const key = draft.id.toLowerCase()
  const twin = folded.get(key)
  if (twin === undefined) {
    folded.set(key, draft)
    return []
  }
  const text = `id '${draft.id}' differs from '${twin.id}' at line ${twin.line} only in letter case`
  return [{ level: 'warning', kind: 'ids-differ-in-case', line: draft.line, text, id: draft.id, about: twin.id }]
}

/**
 * A draft is a group when another one nests in it under an id of its own, or is numbered below it (2 and 2.1). Every id is in
 * one group at most, and none holds itself, whatever ids are used twice.
 */
function findGroups(drafts: readonly Named[]) {
  const ids = new Set(drafts.map(({ id }) => id))
  const groups = new Map<string, string[]>()
  const groupOf = new Map<string, string>()
  const isWithin = (id: string, group: string) => {
    for (let at: string | undefined = id; at !== undefined; at = groupOf.get(at)) if (at === group) return true
    return false
  }
  const put = (parent: string, child: string) => {
    if (groupOf.has(child) || isWithin(parent, child)) return
    groupOf.set(child, parent)
    const members = groups.get(parent)
    if (members === undefined) groups.set(parent, [child])
    else members.push(child)
  }
  for (const draft of drafts) {
    if (draft.isContainer && !groups.has(draft.id)) groups.set(draft.id, [])
    const above = /^(.*\d)\.\d+$/.exec(draft.id)?.[1]
    if (draft.parent?.id != null) put(draft.parent.id, draft.id)
    else if (above !== undefined && ids.has(above) && /^\d+(?:\.\d+)*$/.test(above)) put(above, draft.id)
  }
  return { groups, groupOf, isGroup: (draft: Named) => groups.has(draft.id) }
}

/** The files that the groups around an item declare: whoever works in a group may touch them. */
function groupFiles(
  drafts: readonly Named[],
  { groupOf, isGroup }: { groupOf: ReadonlyMap<string, string>; isGroup(draft: Named): boolean },
): (id: string) => readonly string[] {
  const declared = new Map(drafts.filter(isGroup).map(({ id, body }) => [id, body.declared]))
  const known = new Map<string, readonly string[]>()
  return function filesAround(id): readonly string[] {
    const group = groupOf.get(id)
    if (group === undefined) return []
    const files = known.get(group) ?? unique([...(declared.get(group) ?? []), ...filesAround(group)])
    known.set(group, files)
    return files
  }
}

/** Takes `[P1]` off the end of a title. */
function endPriority(title: string): { title: string; priority: number | null } {
  const digit = /\s\[P(\d)\]$/i.exec(title.slice(-5))?.[1]
  if (digit === undefined) return { title, priority: null }
  return { title: title.slice(0, -5).trimEnd(), priority: Number(digit) }
}

interface Resolving {
  groups: ReadonlyMap<string, readonly string[]>
  resolver: Resolver
  edges: FinishRules['edges']
  diagnostics: Diagnostic[]
}

function resolveAll(
  drafts: readonly Named[],
  { groups, resolver, edges, diagnostics }: Resolving,
): Map<string, Set<string>> {
  const after = new Map<string, Set<string>>()
  const add = (id: string, on: string) => {
    const known = after.get(id)
    if (known === undefined) after.set(id, new Set([on]))
    else known.add(on)
  }
  const leaves = (id: string): string[] => groups.get(id)?.flatMap(leaves) ?? [id]
  let left = maxEdges
  for (const draft of drafts) {
    const waits = resolver.resolve([...draft.after, ...draft.body.after], draft.id)
    const gates = resolver.resolve(draft.body.gates, draft.id)
    diagnostics.push(...waits.diagnostics, ...gates.diagnostics.map(asGated))
    const own = leaves(draft.id)
    const within = new Set(own)
    left -= own.length * (waits.ids.length + gates.ids.length)
    if (left < 0 || resolver.isExhausted()) {
      diagnostics.push(tooManyEdges(draft.line, `item '${draft.id}'`, draft.id))
      return after
    }
    for (const id of own)
      for (const on of waits.ids)
        if (on === id ? !groups.has(draft.id) : !within.has(on) || !groups.has(draft.id)) add(id, on)
    for (const gated of gates.ids) for (const id of own) add(gated, id)
    if (!groups.has(draft.id) && after.get(draft.id)?.has(draft.id) === true) {
      after.get(draft.id)?.delete(draft.id)
      diagnostics.push({
        level: 'error',
        kind: 'self-dependency',
        line: draft.line,
        text: `item '${draft.id}' depends on itself`,
        id: draft.id,
      })
    }
  }
  for (const { from, after: on } of edges)
    if (from !== on) {
      const [waiting, awaited] = [leaves(from), leaves(on)]
      left -= waiting.length * awaited.length
      if (left < 0) {
        diagnostics.push(tooManyEdges(1, 'the dependency graph'))
        return after
      }
      for (const id of waiting) for (const leaf of awaited) add(id, leaf)
    }
  return after
}

/** What it blocks is said of another item, so that it stays wrong when what this one waits for is replaced. */
function asGated(diagnostic: Diagnostic): Diagnostic {
  if (diagnostic.kind !== 'unknown-dependency') return diagnostic
  const text = `item '${diagnostic.id}' blocks '${diagnostic.about}', which is not in this plan`
  return { ...diagnostic, kind: 'unknown-gated-item', text }
}

function dottedGroups(
  items: readonly Named[],
  { after, dottedInOrder }: { after: ReadonlyMap<string, ReadonlySet<string>>; dottedInOrder: boolean },
): Map<string, string> {
  if (!dottedInOrder || items.some(({ marked }) => marked)) return new Map()
  const siblings = Map.groupBy(items, ({ id }) => /^(\d+(?:\.\d+)*)\.\d+$/.exec(id)?.[1] ?? '')
  siblings.delete('')
  const groups = new Map<string, string>()
  for (const [name, members] of siblings) {
    if (members.length < 2 || members.some(({ id }) => (after.get(id)?.size ?? 0) > 0)) continue
    for (const { id } of members) groups.set(id, name)
  }
  return groups
}

function outside({ id, line, body }: Named): Diagnostic[] {
  return body.outside.slice(0, 1).map(({ value }) => ({
    level: 'warning',
    kind: 'path-outside-repo',
    line,
    text: `item '${id}' names '${value}', which lies outside the repository`,
    id,
    about: value,
  }))
}

/** A label or issue type says it first, else how the title begins. */
function isBug({ type, labels, rawTitle, title }: Draft): boolean {
  if (type !== null) return /\b(?:bug|bugfix|fix|defect|hotfix)\b/i.test(type)
  if (labels.some((label) => /^(?:bug|bugfix|fix)$/i.test(label))) return true
  return /^(?:\*\*)?\s*(?:🐛|(?:fix|fixes|fixed|bugfix|hotfix|repair|repairs)(?:\([^)]*\))?(?=[\s:!]|$)|bug(?:\([^)]*\))?:|修复|修正)/iu.test(
    title === '' ? rawTitle : title,
  )
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}
