/** Plans whose items are headings: `### Task 1: …`, `## Work Package WP01: …`, `### U1. …`, `## [ ] Task 1: …`. */
import { entriesOf, readBody } from './body.ts'
import { type Box, readBox } from './box-mark.ts'
import { type Draft, type Drafts, newDraft, type Source } from './draft.ts'
import { readLabels } from './item-id.ts'
import type { Heading, Node } from './markdown-nodes.ts'
import type { ItemState } from './plan-item.ts'
import { isCriteria, phaseOf, walkSections } from './sections.ts'
import { cleanTitle, isStruck } from './title.ts'

const named =
  /^(?:task|story|unit|work package|work item|issue|ticket|feature|item|任务|aufgabe|tâche|tarea)\s+#?([A-Za-z]{0,6}-?\d+(?:\.\d+)*[a-z]?)\s*[:.)–—-]?\s*(.*)$/isu
const lettered = /^((?:U|T|WP|TASK|STORY|US)-?\d+(?:\.\d+)*)\s*[:.)–—-]\s*(.+)$/su
const stepped = /^step\s+(\d+(?:\.\d+)*)\s*[:.)–—-]?\s*(.*)$/is

export interface ItemHeading {
  heading: Heading
  id: string
  title: string
  box: Box | null
  /** The headings above it. */
  above: readonly Heading[]
  /** What stands under it, up to the next heading that is not below it. */
  nodes: Node[]
}

/** The headings that name an item; with `steps`, those of the form `Step n`. */
export function collectItemHeadings(nodes: readonly Node[], { steps }: { steps: boolean }): ItemHeading[] {
  const found: ItemHeading[] = []
  const open: ItemHeading[] = []
  let above: Heading[] = []
  for (const node of nodes) {
    if (node.type === 'heading') {
      while ((open.at(-1)?.heading.depth ?? 0) >= node.depth) open.pop()
      above = above.filter(({ depth }) => depth < node.depth)
      const item = readHeading(node, { above, steps })
      above = [...above, node]
      if (item !== null) {
        found.push(item)
        open.length = 0
        open.push(item)
        continue
      }
    }
    open.at(-1)?.nodes.push(node)
  }
  return found
}

function readHeading(
  heading: Heading,
  { above, steps }: { above: readonly Heading[]; steps: boolean },
): ItemHeading | null {
  const found = matchName(heading.text, { steps })
  return found === null ? null : { heading, ...found, above, nodes: [] }
}

function matchName(source: string, { steps }: { steps: boolean }): Pick<ItemHeading, 'id' | 'title' | 'box'> | null {
  const box = readBox(source)
  const text = (box?.rest ?? source)
    .replace(/^(?:\p{Extended_Pictographic}\ufe0f?\s*)+/u, '')
    .replace(/^\*\*(.*)\*\*$/s, '$1')
  const match = steps ? stepped.exec(text) : (named.exec(text) ?? lettered.exec(text))
  if (match?.[1] === undefined || /^(?:summary|overview)$/i.test(match[2] ?? '')) return null
  return { id: match[1], title: match[2] ?? '', box }
}

/** How many lines of the text are headings that would name an item. */
export function countItemHeadings(text: string): number {
  return text.split('\n').filter((line) => {
    const title = /^ {0,3}#{1,6}[ \t]+(.*)$/.exec(line)?.[1]
    return title !== undefined && matchName(title, { steps: false }) !== null
  }).length
}

export function draftHeadings(found: readonly ItemHeading[], source: Source): Drafts {
  const drafts: Draft[] = []
  const diagnostics: Drafts['diagnostics'] = []
  for (const { heading, id, title, box, above, nodes } of found) {
    const { marked, labels, priority, rest } = readLabels(title)
    const clean = cleanTitle(rest)
    const entries = [{ kind: 'title' as const, text: rest, line: heading.line, depth: 0 }, ...entriesOf(nodes)]
    const body = readBody(entries, { tree: source.tree })
    const steps = countSteps(nodes)
    const state = stateOf({ box, status: body.status, steps, isStruck: isStruck(rest) })
    if (state === 'done' && steps.done < steps.all) {
      const text = `item '${id}' counts as done, but ${steps.all - steps.done} of its steps are open`
      diagnostics.push({ level: 'warning', kind: 'done-with-open-steps', line: heading.line, text, id })
    }
    const end = nodes.at(-1)?.endLine ?? heading.endLine
    drafts.push(
      newDraft({
        id,
        title: clean === '' ? id : clean,
        rawTitle: rest,
        text: source.lines.slice(heading.line - 1, end).join('\n'),
        line: heading.line,
        state,
        marked: marked || body.marked,
        labels,
        phase: phaseOf(above),
        priority: priority ?? body.priority,
        body,
      }),
    )
  }
  return { drafts, diagnostics }
}

interface Steps {
  done: number
  all: number
}

function countSteps(nodes: readonly Node[]): Steps {
  const steps = { done: 0, all: 0 }
  walkSections(nodes, (node, section) => {
    if (!isCriteria(section)) countIn([node], steps)
  })
  return steps
}

function countIn(nodes: readonly Node[], steps: Steps): void {
  for (const node of nodes) {
    if (node.type !== 'list') continue
    for (const { nodes: inner } of node.items) {
      const [first] = inner
      const box = first?.type === 'paragraph' ? readBox(first.text) : null
      if (box !== null) {
        steps.all++
        if (box.state === 'done' || box.state === 'skipped') steps.done++
      }
      countIn(inner, steps)
    }
  }
}

interface Signs {
  box: Box | null
  status: string | null
  steps: Steps
  isStruck: boolean
}

function stateOf({ box, status, steps, isStruck: struck }: Signs): ItemState {
  if (struck) return 'skipped'
  if (box !== null && box.state !== 'open') return box.state
  const said = status === null ? null : readStatus(status)
  if (said !== null && said !== 'open') return said
  return steps.all > 0 && steps.done === steps.all ? 'done' : 'open'
}

/** The state that a status word names, null for none that is known. */
export function readStatus(text: string): ItemState | null {
  const word = text.replace(/[*_`]/g, '').trim().toLowerCase()
  if (/^(?:✅|✓|✔|☑|done\b|completed?\b|closed\b|finished\b|merged\b|shipped\b|passed\b|x$)/u.test(word)) return 'done'
  if (/^(?:cancell?ed|skipped|dropped|won'?t (?:do|fix)|n\/a|obsolete|superseded|removed)\b/.test(word))
    return 'skipped'
  if (/^(?:🚧|in[ _-]?progress|started|doing|wip|active|review|partial)/u.test(word)) return 'in-progress'
  return /^(?:open|to-?do|pending|planned|not started|new|ready|backlog|deferred|blocked|⏸|⬜|☐|draft)/u.test(word)
    ? 'open'
    : null
}
