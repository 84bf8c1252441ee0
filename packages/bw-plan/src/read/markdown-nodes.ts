/**
 * Blocks of a Markdown text with their lines. Only blocks: inside a line the source is kept as it is, since plans hold
 * globs (`src/**` and `lib/**` would be read as bold) and marks that Markdown does not know.
 *
 * The parser keeps some 500 bytes a byte, so a long text is read in pieces: what the parser shows as the last block of a
 * piece may go on, so the next piece begins with it.
 */
import type { List, Nodes, RootContent, Table } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { frontmatterFromMarkdown } from 'mdast-util-frontmatter'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { frontmatter } from 'micromark-extension-frontmatter'
import { gfmTable } from 'micromark-extension-gfm-table'

interface Place {
  line: number
  endLine: number
}
export interface Heading extends Place {
  type: 'heading'
  depth: number
  text: string
}
export interface Paragraph extends Place {
  type: 'paragraph'
  text: string
}
export interface BulletList extends Place {
  type: 'list'
  items: Bullet[]
}
export interface Bullet extends Place {
  /** As written: `-`, `2.`, `7)`. */
  marker: string
  nodes: Node[]
}
export interface Code extends Place {
  type: 'code'
  lang: string
  text: string
  isOpen: boolean
}
export interface Aside extends Place {
  type: 'quote' | 'html' | 'front-matter'
  text: string
}
export interface Grid extends Place {
  type: 'table'
  rows: (Place & { cells: string[] })[]
}
export type Node = Heading | Paragraph | BulletList | Code | Aside | Grid

/** A place where the text cannot be read on, with the reason. */
export interface Unreadable {
  kind: 'line-too-long' | 'nested-too-deeply' | 'block-too-large'
  line: number
  text: string
}

const pieceLength = 64 * 1024
const maxBlockLength = 512 * 1024
const maxLineLength = 100_000
const maxIndent = 120
const maxMarkers = 24

const inline = [
  'attention',
  'autolink',
  'characterEscape',
  'characterReference',
  'codeText',
  'definition',
  'hardBreakEscape',
  'htmlText',
  'labelEnd',
  'labelStartImage',
  'labelStartLink',
]

/** The blocks of the text, or why it is not read: bounds that no plan meets keep hostile text from costing minutes. */
export function readNodes(lines: readonly string[]): Node[] | Unreadable {
  const refusal = findUnreadable(lines)
  if (refusal !== null) return refusal
  const nodes: Node[] = []
  let from = 0
  let length = pieceLength
  while (from < lines.length) {
    const to = pieceEnd(lines, from, length)
    const piece = parsePiece(lines, from, to)
    const next = to === lines.length ? to : cutAt(piece, from)
    if (next > from) {
      append(
        nodes,
        piece.filter((node) => node.line <= next).map((node) => trimList(node, next)),
      )
      from = next
      length = pieceLength
    } else if (length < maxBlockLength) length *= 2
    else return { kind: 'block-too-large', line: from + 1, text: `a block is longer than ${maxBlockLength} characters` }
  }
  return nodes
}

function findUnreadable(lines: readonly string[]): Unreadable | null {
  for (const [at, line] of lines.entries()) {
    if (line.length > maxLineLength) {
      return { kind: 'line-too-long', line: at + 1, text: `the line is longer than ${maxLineLength} characters` }
    }
    const head = /^(?:[\s>]|[-*+](?=\s|$)|\d{1,9}[.)](?=\s|$))*/.exec(line)?.[0] ?? ''
    if (head.length <= maxMarkers) continue
    const markers = head.replace(/\s+/g, '').length
    const indent = line.length - line.trimStart().length
    if (markers > maxMarkers || (indent > maxIndent && markers > 0)) {
      return { kind: 'nested-too-deeply', line: at + 1, text: 'the line is nested too deeply' }
    }
  }
  return null
}

function pieceEnd(lines: readonly string[], from: number, length: number): number {
  let to = from
  for (let size = 0; to < lines.length && size < length; to++) size += (lines[to]?.length ?? 0) + 1
  return to
}

/** The line index from which the next piece starts: the last block, or the last bullet of a list that is the last block. */
function cutAt(piece: readonly Node[], from: number): number {
  const last = piece.at(-1)
  if (last === undefined) return from
  const bullet = last.type === 'list' && last.items.length > 1 ? last.items.at(-1) : undefined
  return (bullet ?? last).line - 1
}

function trimList(node: Node, next: number): Node {
  if (node.type !== 'list' || node.endLine <= next) return node
  const items = node.items.filter((item) => item.line <= next)
  return { ...node, items, endLine: items.at(-1)?.endLine ?? node.endLine }
}

/** A list that was cut goes on in the piece before. */
function append(nodes: Node[], piece: readonly Node[]): void {
  const [first, ...rest] = piece
  const last = nodes.at(-1)
  if (first === undefined) return
  if (first.type === 'list' && last?.type === 'list' && isSameKind(last, first)) {
    last.items.push(...first.items)
    last.endLine = first.endLine
  } else nodes.push(first)
  for (const node of rest) nodes.push(node)
}

function isSameKind(a: BulletList, b: BulletList): boolean {
  return a.items.at(-1)?.marker.at(-1) === b.items[0]?.marker.at(-1)
}

function parsePiece(lines: readonly string[], from: number, to: number): Node[] {
  const head = from === 0 ? [frontmatter(['yaml'])] : []
  const tree = fromMarkdown(lines.slice(from, to).join('\n'), {
    extensions: [{ disable: { null: inline } }, gfmTable(), ...head],
    mdastExtensions: [gfmTableFromMarkdown(), frontmatterFromMarkdown(['yaml'])],
  })
  return tree.children.flatMap((node) => toNode(node, { lines, from }))
}

interface Text {
  lines: readonly string[]
  from: number
}

function toNode(node: RootContent, text: Text): Node[] {
  const place = placeOf(node, text)
  switch (node.type) {
    case 'heading':
      return [{ type: 'heading', ...place, depth: node.depth, text: textOf(node) }]
    case 'paragraph':
      return [{ type: 'paragraph', ...place, text: textOf(node) }]
    case 'list':
      return [toList(node, text)]
    case 'code':
      return [
        { type: 'code', ...place, lang: node.lang ?? '', text: node.value, isOpen: isOpenFence(place, text.lines) },
      ]
    case 'blockquote':
      return [{ type: 'quote', ...place, text: '' }]
    case 'html':
      return [{ type: 'html', ...place, text: node.value }]
    case 'yaml':
      return [{ type: 'front-matter', ...place, text: node.value }]
    case 'table':
      return [toGrid(node, text)]
    default:
      return []
  }
}

function toList(node: List, text: Text): BulletList {
  const items = node.children.map((item) => {
    const place = placeOf(item, text)
    const column = (item.position?.start.column ?? 1) - 1
    const marker = /^(?:[-*+]|\d+[.)])/.exec((text.lines[place.line - 1] ?? '').slice(column))?.[0] ?? '-'
    return { ...place, marker, nodes: item.children.flatMap((child) => toNode(child, text)) }
  })
  return { type: 'list', ...placeOf(node, text), items }
}

function toGrid(node: Table, text: Text): Grid {
  const rows = node.children.map((row) => ({
    ...placeOf(row, text),
    cells: row.children.map((cell) => textOf(cell).replaceAll('\\|', '|').trim()),
  }))
  return { type: 'table', ...placeOf(node, text), rows }
}

function placeOf(node: Nodes, { from }: Text): Place {
  return { line: (node.position?.start.line ?? 1) + from, endLine: (node.position?.end.line ?? 1) + from }
}

function textOf(node: Nodes): string {
  if (node.type === 'text') return node.value
  if (node.type === 'break') return '\n'
  return 'children' in node ? node.children.map(textOf).join('') : ''
}

/** A fence that ends with its container or the text and not with a fence of its own. */
function isOpenFence({ line, endLine }: Place, lines: readonly string[]): boolean {
  const opening = /(`{3,}|~{3,})/.exec(lines[line - 1] ?? '')?.[1]
  if (opening === undefined) return false
  const closing = (lines[endLine - 1] ?? '').trim().replace(/^[>\s]+/, '')
  const isFence = new RegExp(`^${opening[0] === '~' ? '~' : '`'}{${opening.length},}$`).test(closing)
  return line === endLine || !isFence
}
