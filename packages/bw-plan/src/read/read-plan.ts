/**
 * Plans as people write them. The first source that yields items wins: JSON, front matter, headings that name items, boxes,
 * tables, then guesses, which are told as such. Nothing that looks like work is dropped without a word.
 */
import { emptyTree, type Tree } from '@buildwave/core'
import { readBeads } from './beads.ts'
import { addDependencies } from './body.ts'
import { collectBoxes, draftBoxes } from './boxes.ts'
import type { Draft, Drafts, Source } from './draft.ts'
import { finishItems } from './finish-items.ts'
import { formatOfBoxes } from './format-name.ts'
import { readFrontMatter } from './front-matter.ts'
import { draftListed } from './guesses.ts'
import { collectItemHeadings, draftHeadings, type ItemHeading } from './headings.ts'
import { readJsonPlan } from './json-plans.ts'
import { findHidden, findInCode, findLooseBoxes, insideOf } from './left-out.ts'
import { type Node, readNodes } from './markdown-nodes.ts'
import type { Diagnostic, Format, Reading } from './plan-item.ts'
import { draftRows, tableEdges } from './tables.ts'
import { readGraph } from './wave-graph.ts'

export interface ReadOptions {
  /** Read as this format and no other. */
  format?: Format
  /** The repository's files, to tell a path from a word. */
  tree?: Tree
}

/** More items are no plan; the bound keeps hostile text from costing minutes. */
const maxItems = 20_000
/** Longest Markdown plan, in characters; 10,000 items with three globs each are a third of it. */
const maxLength = 3 * 1024 * 1024

/** Reads a plan. Whatever is wrong with it is a diagnostic; with an error among them the items are only for show. */
export function readPlan(
  file: { name: string; bytes: Uint8Array },
  { format, tree = emptyTree }: ReadOptions = {},
): Reading {
  const text = decode(file.bytes)
  if (text === null) return failure('not-text', 1, 'the plan is not UTF-8 text')
  const source: Source = { name: file.name, text, lines: text.split('\n'), tree }
  const json = readJson(source, format)
  if (json !== null) return json
  if (text.length > maxLength)
    return failure('plan-too-large', 1, `the plan is longer than ${maxLength} characters; split it`)
  const tooMuch = tooMuchMarkup(source.lines)
  if (tooMuch !== null) return failure('plan-too-large', tooMuch.line, tooMuch.text)
  const nodes = readNodes(source.lines)
  return Array.isArray(nodes)
    ? readMarkdown(nodes, { source, wanted: format })
    : failure(nodes.kind, nodes.line, nodes.text)
}

/** The parser keeps kilobytes a block and a cell: 500,000 short headings took 670 MB and a minute. */
const maxLines = 120_000
const maxCells = 150_000
const maxCellsInLine = 500

/** What would cost the parser more than a plan may, found before it starts; null when there is none. */
function tooMuchMarkup(lines: readonly string[]): { line: number; text: string } | null {
  if (lines.length > maxLines) return { line: maxLines + 1, text: `the plan has more than ${maxLines} lines; split it` }
  let cells = 0
  for (const [index, line] of lines.entries()) {
    const inLine = line.includes('|') ? line.split('|').length - 1 : 0
    cells += inLine
    if (inLine > maxCellsInLine) return { line: index + 1, text: `a line has more than ${maxCellsInLine} table cells` }
    if (cells > maxCells) return { line: index + 1, text: `the plan has more than ${maxCells} table cells; split it` }
  }
  return null
}

function decode(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text.replace(/\r\n?/g, '\n')
  } catch {
    return null
  }
}

function readJson(source: Source, wanted: Format | undefined): Reading | null {
  const isWanted = wanted === 'task-master' || wanted === 'ralph' || wanted === 'beads'
  const first = source.text.trimStart()[0]
  const looksSo = first === '{' || (first === '[' && /\.json$/i.test(source.name))
  if (!isWanted && (wanted !== undefined || !looksSo)) return null
  if (wanted === 'beads' || wanted === undefined) {
    const beads = readBeads(source)
    if (beads !== null) return finish('beads', beads, { nodes: [], dottedInOrder: false })
  }
  let value: unknown
  try {
    value = JSON.parse(source.text)
  } catch (error) {
    return failure('bad-json', 1, `the plan is not JSON: ${(error as Error).message}`)
  }
  const plan = readJsonPlan(value, source)
  if (plan.drafts.length === 0) return failure('no-items', 1, 'no item is found in this JSON')
  return finish(plan.format, plan, { nodes: [], dottedInOrder: false })
}

interface Markdown {
  source: Source
  wanted: Format | undefined
}

function readMarkdown(nodes: readonly Node[], { source, wanted }: Markdown): Reading {
  const code = [...findInCode(nodes), ...findLooseBoxes(nodes)]
  const matter = readFrontMatter(nodes, source)
  const reading = matter.diagnostics.some(({ level }) => level === 'error')
    ? noItems([])
    : firstOf(nodes, { source, wanted, matter })
  const told = [...matter.diagnostics, ...reading.diagnostics, ...code]
  return { ...reading, diagnostics: told.toSorted((a, b) => a.line - b.line) }
}

function noItems(diagnostics: Diagnostic[]): Reading {
  return { format: 'none', items: [], groups: new Map(), sequential: false, diagnostics }
}

function firstOf(
  nodes: readonly Node[],
  { source, wanted, matter }: Markdown & { matter: ReturnType<typeof readFrontMatter> },
): Reading {
  const wants = (...names: Format[]) => wanted === undefined || names.includes(wanted)
  if (matter.format !== null && wants(matter.format)) {
    const hidden = findHidden(nodes, {
      source,
      drafts: matter.drafts,
      isInside: () => matter.format === 'work-package',
    })
    return finish(matter.format, { drafts: matter.drafts, diagnostics: hidden }, { nodes: [], dottedInOrder: false })
  }
  const boxes = collectBoxes(nodes)
  const tops = boxes.filter(({ parent }) => parent === null).length
  if (tops > maxItems) return tooMany(tops)
  const boxed = wants('checklist', 'spec-kit', 'kiro', 'cc-sdd', 'openspec', 'bmad-story', 'github-tasklist')
    ? draftBoxes(boxes, source)
    : { drafts: [], diagnostics: [] }
  const headings = collectItemHeadings(nodes, { steps: false })
  if (wants('task-headings', 'trae') && headings.length > 0) {
    const headed = draftHeadings(headings, source)
    if (wanted !== undefined || areItems(headings, headed.drafts, boxed.drafts)) {
      const hidden = findHidden(nodes, { source, drafts: headed.drafts, isInside: insideOf(headings) })
      const all = { ...headed, diagnostics: [...headed.diagnostics, ...hidden] }
      return finish(headings.some(({ box }) => box !== null) ? 'trae' : 'task-headings', all, {
        nodes,
        dottedInOrder: true,
      })
    }
  }
  if (boxed.drafts.length > 0) {
    const hidden = findHidden(nodes, { source, drafts: boxed.drafts, isInside: null })
    const all = { ...boxed, diagnostics: [...boxed.diagnostics, ...hidden] }
    return finish(formatOfBoxes(boxes, boxed.drafts, source), all, { nodes, dottedInOrder: true })
  }
  const rows = wants('table') ? draftRows(nodes, source) : []
  if (rows.length > 0) return finish('table', { drafts: rows, diagnostics: [] }, { nodes: [], dottedInOrder: true })
  const steps = wants('step-headings') ? collectItemHeadings(nodes, { steps: true }) : []
  if (steps.length > 0) return finish('step-headings', draftHeadings(steps, source), { nodes, dottedInOrder: true })
  return guess(nodes, { source, wanted, boxed })
}

/**
 * Headings win over boxes, unless they only stand above the real items: boxes with ids of their own, while the headings
 * declare neither files nor dependencies.
 */
function areItems(headings: readonly ItemHeading[], headed: readonly Draft[], boxed: readonly Draft[]): boolean {
  const first = headings[0]?.heading.line ?? 0
  const below = boxed.filter(({ id, line }) => id !== null && line > first)
  if (below.length === 0) return headings.length > 1 || boxed.every(({ line }) => line > first)
  return (
    headings.length > 1 &&
    headed.some(({ body }) => body.declared.length > 0) &&
    below.every(({ body }) => body.declared.length === 0)
  )
}

function guess(nodes: readonly Node[], { source, wanted, boxed }: Markdown & { boxed: Drafts }): Reading {
  for (const numbered of [true, false]) {
    const format = numbered ? 'numbered-list' : 'bullets'
    if (wanted !== undefined && wanted !== format) continue
    const drafts = draftListed(nodes, source, { numbered })
    const [first] = drafts
    if (first === undefined) continue
    const diagnostic: Diagnostic = {
      level: 'warning',
      kind: `items-from-${format}`,
      line: first.line,
      text: `the ${drafts.length} items are taken from a ${numbered ? 'numbered list' : 'list of bullets'}; checkboxes would say so for certain`,
      about: String(drafts.length),
    }
    return finish(format, { drafts, diagnostics: [diagnostic] }, { nodes: [], dottedInOrder: true })
  }
  const none = failure('no-items', 1, 'no item is found: no checkbox, no heading that names a task, no table of tasks')
  return { ...none, diagnostics: [...none.diagnostics, ...boxed.diagnostics] }
}

interface Rest {
  nodes: readonly Node[]
  dottedInOrder: boolean
}

function finish(format: Format, { drafts, diagnostics }: Drafts, { nodes, dottedInOrder }: Rest): Reading {
  if (drafts.length > maxItems) return tooMany(drafts.length)
  const names = new Map(drafts.flatMap(({ id }) => (id === null ? [] : [[id.toLowerCase(), id] as const])))
  const find = (name: string) =>
    names.get(name.toLowerCase()) ?? names.get(name.replace(/^#/, '').toLowerCase()) ?? null
  const graph = readGraph(nodes, { find })
  for (const { id, value, line } of tableEdges(nodes, (name) => find(name) !== null)) {
    const draft = drafts.find((one) => one.id === find(id))
    if (draft !== undefined) addDependencies(draft.body, { text: value, line, isLoose: true })
  }
  const finished = finishItems(drafts, { dottedInOrder: dottedInOrder && !graph.hasWaves, edges: graph.edges })
  return {
    format,
    items: finished.items,
    groups: finished.groups,
    sequential: format === 'ralph' || format === 'numbered-list' || format === 'step-headings',
    diagnostics: [...diagnostics, ...graph.diagnostics, ...finished.diagnostics, ...drafts.flatMap(unread)],
  }
}

/** Parts of a value that name nothing, quoted. */
function unread({ body }: Draft): Diagnostic[] {
  return body.unread.map(({ value, line }) => ({
    level: 'warning',
    kind: `unread-${value.what}`,
    line,
    text:
      value.what === 'files'
        ? `'${value.text.slice(0, 200)}' stands among files and is not taken for a path`
        : `'${value.text.slice(0, 200)}' stands among dependencies and names no item`,
    about: value.text.slice(0, 200),
  }))
}

function tooMany(count: number): Reading {
  return failure('too-many-items', 1, `the plan has ${count} items; ${maxItems} are read at most, so split it`)
}

function failure(kind: string, line: number, text: string): Reading {
  return noItems([{ level: 'error', kind, line, text }])
}
