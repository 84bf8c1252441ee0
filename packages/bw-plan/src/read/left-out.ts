/** What looks like work and is none of the items of a plan; counted, so that nothing is lost in silence. */
import { countBoxes, readBox } from './box-mark.ts'
import { collectBoxes } from './boxes.ts'
import type { Draft, Source } from './draft.ts'
import { countItemHeadings, type ItemHeading } from './headings.ts'
import type { Node } from './markdown-nodes.ts'
import type { Diagnostic } from './plan-item.ts'
import { isCriteria } from './sections.ts'
import { draftRows } from './tables.ts'

/** Boxes in code and comments are no items; under a fence that never closes they are an error, and headings too. */
export function findInCode(nodes: readonly Node[]): Diagnostic[] {
  return nodes.flatMap((node): Diagnostic[] => {
    if (node.type === 'list') return node.items.flatMap((item) => findInCode(item.nodes))
    if (node.type !== 'code' && node.type !== 'html') return []
    const boxes = countBoxes(node.text)
    if (node.type === 'code' && node.isOpen) {
      const headings = countItemHeadings(node.text)
      if (boxes + headings === 0) return []
      const what = [boxes > 0 ? `${boxes} boxes` : '', headings > 0 ? `${headings} headings of items` : '']
      const text = `the fence is never closed and hides ${what.filter((part) => part !== '').join(' and ')}`
      return [{ level: 'error', kind: 'unclosed-fence', line: node.line, text, about: String(boxes + headings) }]
    }
    if (boxes === 0) return []
    const kind = node.type === 'code' ? 'tasks-in-code-ignored' : 'tasks-in-comment-ignored'
    const text = `${boxes} box${boxes === 1 ? '' : 'es'} in ${node.type === 'code' ? 'code' : 'a comment'} ignored`
    return [{ level: 'info', kind, line: node.line, text, about: String(boxes) }]
  })
}

const looseBox = /^\s*(?:(?:[-*+•–]|\d{1,9}[.)])\s*)?(?:\[[ \u00a0xX]?\](?![([:])|[☐☑☒⬜🔲])/u
const maxLoose = 20

/** Lines with a box that is none in Markdown: `-[ ] a`, `[ ] a` without bullet, `☐ a`. */
export function findLooseBoxes(nodes: readonly Node[]): Diagnostic[] {
  const lines = looseLines(nodes, { isBullet: false })
  const told = lines.slice(0, maxLoose).map((line): Diagnostic => {
    const text = 'the line looks like a box and is none: a box is written `- [ ] text`'
    return { level: 'warning', kind: 'not-a-box', line, text }
  })
  const more = lines.length - told.length
  const [next] = lines.slice(maxLoose)
  if (next === undefined) return told
  const text = `${more} more lines from here on look like a box and are none`
  return [...told, { level: 'warning', kind: 'not-a-box', line: next, text, about: String(more) }]
}

function looseLines(nodes: readonly Node[], { isBullet }: { isBullet: boolean }): number[] {
  return nodes.flatMap((node, at): number[] => {
    if (node.type === 'list') return node.items.flatMap((item) => looseLines(item.nodes, { isBullet: true }))
    if (node.type !== 'paragraph') return []
    const isBox = isBullet && at === 0 && readBox(node.text) !== null
    return node.text
      .split('\n')
      .flatMap((line, below) => (looseBox.test(line) && !(isBox && below === 0) ? [node.line + below] : []))
  })
}

/** Tells whether a line stands in the text of one of these items. */
export function insideOf(headings: readonly ItemHeading[]): (line: number) => boolean {
  const inside = new Set<number>()
  for (const { nodes } of headings) {
    for (const { line, endLine } of nodes) for (let at = line; at <= endLine; at++) inside.add(at)
  }
  return (line) => inside.has(line)
}

interface Winner {
  source: Source
  drafts: readonly Draft[]
  /** Whether a line belongs to an item; null where boxes are the items. */
  isInside: ((line: number) => boolean) | null
}

/** Boxes and rows of tables that would be items if the plan had no better source: steps of the items, or left out. */
export function findHidden(nodes: readonly Node[], { source, drafts, isInside }: Winner): Diagnostic[] {
  const boxes = isInside === null ? [] : collectBoxes(nodes).filter(({ parent }) => parent === null)
  const lines = boxes.filter(({ section }) => !isCriteria(section)).map(({ bullet }) => bullet.line)
  const names = new Set(drafts.flatMap(({ id, title }) => [id ?? '', title]).map((name) => name.toLowerCase()))
  const rows = draftRows(nodes, source)
    .filter(
      ({ id, title }) => !names.has((id ?? '').toLowerCase() || title.toLowerCase()) && !names.has(title.toLowerCase()),
    )
    .map(({ line }) => line)
  const isOwn = isInside ?? (() => false)
  return [
    ...counted(lines.filter(isOwn), { level: 'info', kind: 'boxes-are-steps', text: 'boxes are steps of the items' }),
    ...counted(
      lines.filter((line) => !isOwn(line)),
      { level: 'warning', kind: 'boxes-ignored', text: 'boxes outside the items are not read' },
    ),
    ...counted(rows.filter(isOwn), { level: 'info', kind: 'rows-are-text', text: 'table rows are text of the items' }),
    ...counted(
      rows.filter((line) => !isOwn(line)),
      { level: 'warning', kind: 'rows-ignored', text: 'table rows that look like items are not read' },
    ),
  ]
}

function counted(lines: readonly number[], about: Pick<Diagnostic, 'level' | 'kind' | 'text'>): Diagnostic[] {
  const [line] = lines
  if (line === undefined) return []
  return [{ ...about, line, text: `${lines.length} ${about.text}`, about: String(lines.length) }]
}
