/** Plans whose items are the rows of a table. */
import { addDependencies, emptyBody, readPriority, toUnread } from './body.ts'
import { type Draft, newDraft, type Source } from './draft.ts'
import { readStatus } from './headings.ts'
import { lettersOf, readLabels } from './item-id.ts'
import type { Grid, Node } from './markdown-nodes.ts'
import { readPaths, unreadFiles } from './paths.ts'
import { phaseOf, walkSections } from './sections.ts'
import { cleanTitle } from './title.ts'

const columns = {
  id: /^(?:#|id|u-?id|(?:task|unit|item|story|wp|ticket)[ -]?(?:id|#|no\.?|number)|no\.?|nr\.?|№|key|wp)$/,
  title:
    /^(?:tasks?|title|item|unit|name|description|work(?: item| package)?|goal|what|story|summary|deliverable|change|任务|aufgabe)$/,
  files:
    /^(?:(?:owned |key |target )?files?(?: touched| changed| to (?:change|modify|touch|edit|create))?|touches|owns|paths?|文件|dateien)$/,
  after:
    /^(?:depends?[ -]?(?:on)?|predecessors?|dependenc(?:y|ies)|deps?|blocked[ -]by|requires|prerequisites?|after|needs|依赖|abhängig von)$/,
  status: /^(?:status|state|done|progress|✓|✅)$/,
  priority: /^(?:priority|prio)$/,
  type: /^(?:type|kind)$/,
} as const
type Column = keyof typeof columns

type Header = Partial<Record<Column, number>>

/** The rows of all tables that list work: a title column, and an id, files or dependencies beside it. */
export function draftRows(nodes: readonly Node[], source: Source): Draft[] {
  const drafts: Draft[] = []
  walkSections(nodes, (node, { headings }) => {
    if (node.type !== 'table') return
    const header = readHeader(node)
    if (
      header.title === undefined ||
      (header.id === undefined && header.files === undefined && header.after === undefined)
    )
      return
    for (const row of node.rows.slice(1)) drafts.push(...draftRow(row, header, { source, phase: phaseOf(headings) }))
  })
  return drafts
}

/** Dependencies from tables whose first column repeats known ids. */
export function tableEdges(nodes: readonly Node[], isKnown: (id: string) => boolean) {
  const edges: { id: string; value: string; line: number }[] = []
  walkSections(nodes, (node) => {
    if (node.type !== 'table') return
    const { after } = readHeader(node)
    if (after === undefined) return
    for (const { cells, line } of node.rows.slice(1)) {
      const id = readCellId(cells[0] ?? '')
      if (id !== null && isKnown(id)) edges.push({ id, value: cells[after] ?? '', line })
    }
  })
  return edges
}

function readHeader(table: Grid): Header {
  const header: Header = {}
  for (const [at, cell] of (table.rows[0]?.cells ?? []).entries()) {
    const name = cell
      .replace(/[*_`:]/g, '')
      .trim()
      .toLowerCase()
    for (const [column, pattern] of Object.entries(columns) as [Column, RegExp][]) {
      if (pattern.test(name)) header[column] ??= at
    }
  }
  return header
}

function draftRow(
  { cells, line }: Grid['rows'][number],
  header: Header,
  { source, phase }: { source: Source; phase: string | null },
): Draft[] {
  const cell = (column: Column) => (header[column] === undefined ? '' : (cells[header[column]] ?? ''))
  const { marked, labels, priority, rest } = readLabels(cell('title').replace(/<br\s*\/?>/gi, ' '))
  const title = cleanTitle(rest)
  if (title === '') return []
  const body = {
    ...emptyBody(),
    declared: readPaths(cell('files'), { tree: source.tree, declared: true }),
    mentioned: readPaths(rest, { tree: source.tree, declared: false }),
  }
  body.unread.push(
    ...toUnread('files', unreadFiles(cell('files'), { tree: source.tree })).map((value) => ({ value, line })),
  )
  addDependencies(body, { text: cell('after'), line, isLoose: false })
  const type = cell('type')
  return [
    newDraft({
      id: readCellId(cell('id')),
      title,
      rawTitle: rest,
      line,
      body,
      state: readStatus(cell('status')) ?? 'open',
      marked,
      labels,
      phase,
      priority: priority ?? readPriority(cell('priority')),
      type: type === '' ? null : type,
    }),
  ]
}

function readCellId(cell: string): string | null {
  const text = cleanTitle(cell).replace(/[.):]$/, '')
  return /^#?\d+(?:\.\d+)*$/.test(text) || (lettersOf(text) !== '' && /^\S+$/.test(text)) ? text : null
}
