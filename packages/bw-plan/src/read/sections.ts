/** The headings above a block, and what they make of it. */
import type { Heading, Node } from './markdown-nodes.ts'

export interface Section {
  headings: readonly Heading[]
  /** A short line that ends in a colon right above, `**Acceptance criteria:**`. */
  label: string
}

/** Calls `visit` for each block with the headings above it. */
export function walkSections(nodes: readonly Node[], visit: (node: Node, section: Section) => void): void {
  let headings: Heading[] = []
  let label = ''
  for (const node of nodes) {
    if (node.type === 'heading') {
      headings = [...headings.filter(({ depth }) => depth < node.depth), node]
      label = ''
    } else visit(node, { headings, label })
    if (node.type === 'paragraph') label = /^.{1,80}:[*_\s]*$/.test(node.text) ? node.text : ''
  }
}

const phase =
  /^(?:phase|wave|stage|milestone|sprint|chunk|阶段|第.{1,3}阶段|фаза|étape)\s*[-#]?\s*(?:\d+|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|first|last|final|zero)\b|[ivx]+\b|[a-z]\b)/i
/** The whole of a heading: `Risk engine` and `Verification emails` are features. */
const criteria =
  /^(?:(?:acceptance|success|exit|completion|quality|验收|критерии)(?: (?:criteri(?:a|on)|checks?|checklist|conditions?))?|definition of (?:done|ready)|do[dr]|ac|done when\b.*|verification(?: (?:criteria|checklist|checks?|steps?|plan))?|test(?:ing)? plan|risks?(?: (?:assessment|register|mitigations?|analysis))?|out of scope|non[- ]goals?|legend|验收(?:标准|条件)?|критерии при[её]мки)(?: (?:for|of|from|in|per|and|&|\/|\+) .{1,80}| ?[(（—–-].*)?$/i

/** The phase that the headings put a block in, with those it is a part of (`Phase 1 › Wave A`); null when none does. */
export function phaseOf(headings: readonly Heading[]): string | null {
  const names = headings.map(({ text }) => plain(text)).filter((name) => phase.test(name))
  return names.length === 0 ? null : names.join(' › ')
}

/** True where a box is a criterion and no work: acceptance, definition of done, risks. A phase is never that. */
export function isCriteria({ headings, label }: Section): boolean {
  const last = headings.findLastIndex(({ text }) => phase.test(plain(text)))
  const below = headings.slice(last + 1)
  return criteria.test(plain(label)) || below.some(({ text }) => criteria.test(plain(text)))
}

/** True in a section that is called Tasks. */
export function isTasksSection(headings: readonly Heading[]): boolean {
  return headings.some(({ text }) =>
    /^(?:tasks?|to-?dos?|implementation tasks|tasks \/ subtasks|任务|aufgaben|tâches|tareas)\b/i.test(plain(text)),
  )
}

/** Heading text without marks, state emoji and the number it begins with. */
export function plain(text: string): string {
  return text
    .replace(/[*_`#:]+/g, ' ')
    .replace(/^(?:\s|\ufe0f|\p{Extended_Pictographic})+/u, '')
    .replace(/^\d+(?:\.\d+)*[.)]?\s+/, '')
    .replace(/\s+/g, ' ')
    .trim()
}
