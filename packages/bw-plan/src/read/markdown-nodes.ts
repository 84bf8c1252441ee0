/**
 * Blocks of a Markdown text with their lines. Only blocks: inside a line the source is kept as it is, since plans hold
 * globs (`src/**` and `lib/**` would be read as bold) and marks that Markdown does not know.
 *
 * The parser keeps some 500 bytes a byte, so a long text is read in pieces: what the parser shows as the last block of a
 * piece may go on, so the next piece begins with it.
 */
import type { List, Nodes, RootContent, Table } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table'
import { gfmTable } from 'micromark-extension-gfm-table'
import { isFieldsOfYaml } from './yaml-fields.ts'

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
  type: 'quote' | 'html' | 'rule' | 'front-matter'
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

const pieceLength = 16 * 1024
const maxBlockLength = 256 * 1024
const maxLineLength = 100_000
const maxIndent = 120
const maxMarkers = 24
/** Markers on one line beyond the first, over the whole text. */
const maxNested = 2000

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
  const matter = readFrontMatter(lines)
  const blocks = readPieces(lines, { from: matter?.endLine ?? 0, pieceLength, hasShortcut: true })
  return Array.isArray(blocks) && matter !== null ? [matter, ...blocks] : blocks
}

/** The lines between `---` at the very top and the next `---`, when they are fields; else the `---` are rules. */
function readFrontMatter(lines: readonly string[]): Aside | null {
  if (!/^---[ \t]*$/.test(lines[0] ?? '')) return null
  const end = lines.findIndex((line, at) => at > 0 && /^---[ \t]*$/.test(line))
  if (end === -1) return null
  const text = lines.slice(1, end).join('\n')
  return isFieldsOfYaml(text) ? { type: 'front-matter', line: 1, endLine: end + 1, text } : null
}

interface Pieces {
  /** The index of the first line. */
  from: number
  pieceLength: number
  hasShortcut: boolean
}

/** The blocks of the text, read in pieces of about this many characters. */
export function readPieces(
  lines: readonly string[],
  { from: start, pieceLength, hasShortcut }: Pieces,
): Node[] | Unreadable {
  const nodes: Node[] = []
  let from = start
  let length = pieceLength
  while (from < lines.length) {
    const plain = hasShortcut ? plainBullets(lines, from) : []
    if (plain.length > 0) {
      append(nodes, [toPlainList(plain)])
      from += plain.length
      continue
    }
    const to = pieceEnd(lines, from, length)
    const piece = parsePiece(lines, from, to)
    const next = to === lines.length ? to : cutAt(piece, from)
    if (next > from) {
      const whole = piece.filter((node) => node.line <= next).map((node) => trimList(node, next))
      append(nodes, whole)
      from = next
      length = pieceLength
    } else if (length < maxBlockLength) length *= 2
    else return { kind: 'block-too-large', line: from + 1, text: `a block is longer than ${maxBlockLength} characters` }
  }
  return nodes
}

function findUnreadable(lines: readonly string[]): Unreadable | null {
  let nested = 0
  for (const [at, line] of lines.entries()) {
    if (line.length > maxLineLength) {
      return { kind: 'line-too-long', line: at + 1, text: `the line is longer than ${maxLineLength} characters` }
    }
    const head = /^(?:[\s>]|[-*+](?=\s|$)|\d{1,9}[.)](?=\s|$))*/.exec(line)?.[0] ?? ''
    if (head.length < 3) continue
    const markers = head.match(/[->*+]|\d+/g)?.length ?? 0
    nested += Math.max(0, markers - 1)
    const indent = line.length - line.trimStart().length
    if (markers > maxMarkers || nested > maxNested || (indent > maxIndent && markers > 0)) {
      return { kind: 'nested-too-deeply', line: at + 1, text: 'lists or quotes are nested too deeply' }
    }
  }
  return null
}

const plainBullet = /^(?:([-*+])|\d{1,9}[.)]) (?=[[\p{L}]|`(?!``))/u

/**
 * Bullets of one line each, as most plans have them by the hundred: the parser would give the same, fifty times slower.
 * Only at the start of a block, and only where the next line is such a bullet too, so that nothing can belong to one.
 */
function plainBullets(lines: readonly string[], from: number): Bullet[] {
  const bullets: Bullet[] = []
  let kind: string | undefined
  for (let at = from; at + 1 < lines.length; at++) {
    const line = lines[at] ?? ''
    const marker = plainBullet.exec(line)?.[0].trim()
    if (marker === undefined || !plainBullet.test(lines[at + 1] ?? '')) break
    kind ??= marker.at(-1)
    if (marker.at(-1) !== kind) break
    const text = squeeze(line.slice(marker.length + 1).trimEnd())
    const place = { line: at + 1, endLine: at + 1 }
    bullets.push({ ...place, marker, nodes: [{ type: 'paragraph', ...place, text }] })
  }
  return bullets
}

function toPlainList(items: Bullet[]): BulletList {
  return { type: 'list', line: items[0]?.line ?? 1, endLine: items.at(-1)?.endLine ?? 1, items }
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
  const tree = fromMarkdown(lines.slice(from, to).join('\n'), {
    extensions: [{ disable: { null: inline } }, gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
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
      return [{ type: 'heading', ...place, depth: node.depth, text: squeeze(textOf(node)) }]
    case 'paragraph':
      return [{ type: 'paragraph', ...place, text: squeeze(textOf(node)) }]
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
    case 'thematicBreak':
      return [{ type: 'rule', ...place, text: '' }]
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

/** Long runs of spaces as one: what looks for the end of a line would try each of them. */
function squeeze(text: string): string {
  return text.replace(/[^\S\n]{8,}/g, ' ')
}

/** A fence that ends with its container or the text and not with a fence of its own. */
function isOpenFence({ line, endLine }: Place, lines: readonly string[]): boolean {
  const opening = /(`{3,}|~{3,})/.exec(lines[line - 1] ?? '')?.[1]
  if (opening === undefined) return false
  const closing = (lines[endLine - 1] ?? '').trim().replace(/^[>\s]+/, '')
  const isFence = new RegExp(`^${opening[0] === '~' ? '~' : '`'}{${opening.length},}$`).test(closing)
  return line === endLine || !isFence
}
