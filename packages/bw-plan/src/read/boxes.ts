/** Plans whose items are checkboxes. */
import { type Entry, entriesOf, paragraphEntries, readBody } from './body.ts'
import { type Box, readBox } from './box-mark.ts'
import { type Draft, type Drafts, newDraft, type Source } from './draft.ts'
import { hasDottedNumber, type IdRules, readId, readLabels, readPrefix } from './item-id.ts'
import { dedent } from './item-text.ts'
import type { Bullet, BulletList, Node } from './markdown-nodes.ts'
import type { Diagnostic } from './plan-item.ts'
import { isCriteria, isTasksSection, phaseOf, type Section, walkSections } from './sections.ts'
import { cleanTitle, firstSentence, headline, isStruck } from './title.ts'

/** A checkbox bullet with what is around it. */
export interface BoxBullet {
  bullet: Bullet
  box: Box
  text: string
  section: Section
  /** The number in front of a `2. [ ]` bullet; counted up where all are written alike. */
  number: string | null
  parent: BoxBullet | null
}

/** All checkboxes of the plan, in order, nested ones behind the one they belong to. */
export function collectBoxes(nodes: readonly Node[]): BoxBullet[] {
  const boxes: BoxBullet[] = []
  walkSections(nodes, (node, section) => {
    if (node.type === 'list') addBoxes(node, { section, parent: null, boxes })
  })
  return boxes
}

interface Around {
  section: Section
  parent: BoxBullet | null
  boxes: BoxBullet[]
}

function addBoxes(list: BulletList, { section, parent, boxes }: Around): void {
  const isLazy = list.items.length > 1 && new Set(list.items.map(({ marker }) => marker)).size === 1
  for (const [at, bullet] of list.items.entries()) {
    const first = bullet.nodes[0]
    const box = first?.type === 'paragraph' ? readBox(first.text) : null
    const digits = /^\d+/.exec(bullet.marker)?.[0] ?? null
    const number = digits === null ? null : String(isLazy ? Number(digits) + at : Number(digits))
    const own = box === null ? null : { bullet, box, text: box.rest, section, number, parent }
    if (own !== null) boxes.push(own)
    for (const node of bullet.nodes) {
      if (node.type === 'list') addBoxes(node, { section, parent: own ?? parent, boxes })
    }
  }
}

/** How ids are written in these texts. */
export function idRulesOf(texts: readonly string[]): IdRules {
  const counts = new Map<string, number>()
  for (const text of texts) {
    const prefix = readPrefix(text)
    if (prefix !== null) counts.set(prefix, (counts.get(prefix) ?? 0) + 1)
  }
  const prefixes = [...counts].flatMap(([prefix, count]) =>
    count > 1 || /^(?:T|WP|US|U)$/.test(prefix) ? [prefix] : [],
  )
  return { dotted: texts.filter(hasDottedNumber).length > 1, prefixes: new Set(prefixes) }
}

/** The checkboxes as drafts: boxes with an id of their own are items wherever they nest, others are steps when nested. */
export function draftBoxes(boxes: readonly BoxBullet[], source: Source): Drafts {
  const rules = idRulesOf(boxes.map(({ text }) => text))
  const diagnostics: Diagnostic[] = []
  const read = boxes.map((box) => ({ ...box, ...readHead(box, rules) }))
  const tasksOnly = read.some(({ id, section }) => id !== null && isTasksSection(section.headings))
  const drafts = new Map<Bullet, Draft>()
  const items = new Set(read.flatMap((entry) => (isStep(entry) ? [] : [entry.bullet])))
  const outside: number[] = []
  const criteria: number[] = []
  for (const entry of read) {
    const { id, section, bullet, box } = entry
    if (isStep(entry)) continue
    if (id === null && isCriteria(section)) {
      criteria.push(bullet.line)
      continue
    }
    if (id === null && tasksOnly && !isTasksSection(section.headings)) {
      outside.push(bullet.line)
      continue
    }
    if (entry.title === '') {
      diagnostics.push({
        level: 'warning',
        kind: 'empty-item',
        line: bullet.line,
        text: 'a box without text is passed over',
      })
      continue
    }
    if (box.isUnknown) {
      diagnostics.push({
        level: 'warning',
        kind: 'unknown-mark',
        line: bullet.line,
        text: `the mark '${box.mark}' is not known and taken for open`,
        about: box.mark,
      })
    }
    drafts.set(bullet, draftBox(entry, { drafts, items, source }))
  }
  diagnostics.push(
    ...leftOut(outside, 'outside-tasks-section', 'without id outside the tasks section ignored'),
    ...leftOut(criteria, 'criteria-ignored', 'taken for criteria and not for items'),
  )
  return { drafts: [...drafts.values()], diagnostics }
}

/** One line about all boxes left out for a reason, at the first of them. */
function leftOut(lines: readonly number[], kind: string, reason: string): Diagnostic[] {
  const [line] = lines
  if (line === undefined) return []
  const text = `${lines.length} box${lines.length === 1 ? '' : 'es'} ${reason}`
  return [{ level: 'info', kind, line, text, about: String(lines.length) }]
}

interface Head {
  id: string | null
  title: string
  rawTitle: string
  marked: boolean
  labels: string[]
  priority: number | null
}

function readHead({ text, number, parent }: BoxBullet, rules: IdRules): Head {
  if (/^(?:\*\*)?(?:step|subtask)\b/i.test(text)) return { ...readTitle(text), id: null }
  const { id, rest } = readId(text, rules)
  const head = readTitle(rest)
  const own = id ?? (parent === null ? number : null)
  return { ...head, id: own, title: head.title === '' ? (own ?? '') : head.title }
}

function readTitle(text: string): Omit<Head, 'id'> {
  const { marked, labels, priority, rest } = readLabels(firstSentence(text))
  return { title: cleanTitle(readLabels(headline(text)).rest), rawTitle: rest, marked, labels, priority }
}

function isStep({ id, parent }: { id: string | null; parent: BoxBullet | null }): boolean {
  return id === null && parent !== null
}

interface Drafting {
  drafts: ReadonlyMap<Bullet, Draft>
  items: ReadonlySet<Bullet>
  source: Source
}

function draftBox(entry: BoxBullet & Head, { drafts, items, source }: Drafting): Draft {
  const { bullet, box } = entry
  const [first, ...rest] = bullet.nodes
  const line = bullet.line
  const own = paragraphEntries(entry.text, line, { kind: 'bullet', depth: 0 })
  const entries: Entry[] = own.map((part, at) => (at === 0 ? { ...part, kind: 'title', text: entry.rawTitle } : part))
  const below = first?.type === 'paragraph' ? rest : bullet.nodes
  const body = readBody([...entries, ...entriesOf(withoutItems(below, items), 0)], { tree: source.tree })
  const parent = entry.parent === null ? null : (drafts.get(entry.parent.bullet) ?? null)
  return newDraft({
    id: entry.id,
    title: entry.title,
    rawTitle: entry.rawTitle,
    text: dedent(source.lines.slice(line - 1, bullet.endLine)),
    line,
    state: isStruck(entry.rawTitle) ? 'skipped' : box.state,
    optional: box.optional || /\(optional\)|^optional:/i.test(entry.rawTitle),
    marked: entry.marked || body.marked,
    labels: entry.labels,
    phase: phaseOf(entry.section.headings),
    priority: entry.priority ?? body.priority,
    body,
    parent,
  })
}

/** Nested boxes that are items themselves say nothing for the item they nest in. */
function withoutItems(nodes: readonly Node[], items: ReadonlySet<Bullet>): Node[] {
  return nodes.map((node) => {
    if (node.type !== 'list') return node
    const others = node.items.filter((bullet) => !items.has(bullet))
    return { ...node, items: others.map((bullet) => ({ ...bullet, nodes: withoutItems(bullet.nodes, items) })) }
  })
}
