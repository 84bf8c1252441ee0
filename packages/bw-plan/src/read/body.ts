/** An item's own text: what it declares, what it mentions, what it waits for. */
import { readBox } from './box-mark.ts'
import { isKeyLine, type KeyLine, type KeyRole, readBareKey, readKeyLine, roleOfKey } from './key-line.ts'
import type { Node } from './markdown-nodes.ts'
import { outsidePaths, type PathRules, readPaths, unreadFiles } from './paths.ts'
import { type Reference, readInlineReferences, readReferenceValue, readSources } from './references.ts'

export interface Placed<T> {
  value: T
  line: number
}

export interface Body {
  declared: string[]
  mentioned: string[]
  after: Placed<Reference>[]
  /** The reverse: items that wait for this one. */
  gates: Placed<Reference>[]
  outside: Placed<string>[]
  /** What stands in a place for files or dependencies and cannot be read. */
  unread: Placed<Unread>[]
  status: string | null
  priority: number | null
  type: string | null
  marked: boolean
}

export interface Unread {
  what: 'dependency' | 'files'
  text: string
}

/** A paragraph, a bullet or a sub-heading, in order, with how deep it stands. */
export interface Entry {
  kind: 'title' | 'paragraph' | 'bullet' | 'heading'
  text: string
  line: number
  depth: number
}

export function emptyBody(): Body {
  return {
    declared: [],
    mentioned: [],
    after: [],
    gates: [],
    outside: [],
    unread: [],
    status: null,
    priority: null,
    type: null,
    marked: false,
  }
}

/** Reads entries one after the other; a key without a value, or a sub-heading, rules over what is below it. */
export function readBody(entries: readonly Entry[], rules: Omit<PathRules, 'declared'>): Body {
  const body = emptyBody()
  let block: Block | null = null
  for (const [at, entry] of entries.entries()) {
    if (entry.kind === 'heading') {
      const role = roleOfKey(
        entry.text
          .replace(/[*_:#]/g, '')
          .trim()
          .toLowerCase(),
      )
      block = role === null ? null : { role, depth: -1, isLoose: true }
      continue
    }
    if (block !== null && block.depth >= 0 && !(entry.kind === 'bullet' && entry.depth > block.depth)) block = null
    const next = entries[at + 1]
    const isAbove = next?.kind === 'bullet' && next.depth > entry.depth
    const key = entry.kind === 'title' ? null : (readKeyLine(entry.text) ?? (isAbove ? readBareKey(entry.text) : null))
    const role = roleOf(key, block?.role ?? null)
    const isLoose: boolean = role === null && (block?.isLoose ?? false)
    if (key !== null && role !== null && (block === null || block.role === key.role))
      block = { role, depth: block?.depth ?? entry.depth, isLoose: key.value !== '' }
    take(
      body,
      { entry, role: role ?? block?.role ?? null, text: role === null ? entry.text : (key?.value ?? ''), isLoose },
      rules,
    )
  }
  return body
}

/** What a key rules over. */
interface Block {
  role: KeyRole
  depth: number
  /** What is below only explains: the key has a value of its own, or is a heading over prose. */
  isLoose: boolean
}

/** A part such as `Create:` only declares inside `Files:`, or where a path follows at once. */
function roleOf(key: KeyLine | null, within: KeyRole | null): KeyRole | null {
  if (key === null) return null
  if (key.role !== 'file-part') return key.role
  return within === 'files' || /^`?[\w.@[(*{-]*[/.]/.test(key.value) ? 'files' : null
}

interface Said {
  entry: Entry
  role: KeyRole | null
  text: string
  isLoose: boolean
}

function take(body: Body, { entry, role, text, isLoose }: Said, rules: Omit<PathRules, 'declared'>): void {
  const { line } = entry
  const place = <T>(values: readonly T[]) => values.map((value) => ({ value, line }))
  switch (role) {
    case 'files':
      body.declared.push(...readPaths(text, { ...rules, declared: true }))
      body.outside.push(...place(outsidePaths(text)))
      if (!isLoose) body.unread.push(...place(toUnread('files', unreadFiles(text, rules))))
      return
    case 'after':
      addDependencies(body, { text, line, isLoose })
      return
    case 'gates': {
      const { references, unread } = readReferenceValue(text)
      body.gates.push(...place(references))
      body.unread.push(...place(toUnread('dependency', unread)))
      return
    }
    case 'consumes':
      body.after.push(...place(readSources(text)))
      return
    case 'status':
      body.status ??= text
      return
    case 'priority':
      body.priority ??= readPriority(text)
      return
    case 'type':
      body.type ??= text
      return
    case 'marker':
      if (/^(?:yes|true|✓|✅|x)/i.test(text)) body.marked = true
      return
    case 'aside':
      return
    default:
      body.mentioned.push(...readPaths(text, { ...rules, declared: false }))
      body.outside.push(...place(outsidePaths(text)))
      body.after.push(...place(readInlineReferences(text, entry.kind === 'title')))
  }
}

/**
 * Adds what the value of a dependency key names. A value that names nothing readable is taken for a name, so that it is told
 * as unknown; beside readable names, and where it may be an explanation, it is only told as unread.
 */
export function addDependencies(
  body: Pick<Body, 'after' | 'unread'>,
  { text, line, isLoose }: { text: string; line: number; isLoose: boolean },
): void {
  const { references, unread } = readReferenceValue(text)
  body.after.push(...references.map((value) => ({ value, line })))
  if (unread.length === 0) return
  const whole = text
    .replace(/[*_`]+/g, '')
    .trim()
    .slice(0, 200)
  if (references.length > 0 || isLoose || stageName.test(whole)) {
    body.unread.push(...toUnread('dependency', unread).map((value) => ({ line, value })))
  } else body.after.push({ line, value: { type: 'one', id: whole, isLoose: false } })
}

export function toUnread(what: Unread['what'], texts: readonly string[]): Unread[] {
  return texts.map((text) => ({ what, text }))
}

/** Phases follow each other without being named. */
const stageName = /^(?:all (?:of )?)?(?:the )?(?:phases?|waves?|stages?|milestones?|sprints?)\s*[-#]?\s*[\w, &-]*$/i

/** `P1`, `2`, `high`: smaller is more urgent. */
export function readPriority(text: string): number | null {
  const number = /^[\s*_[(]*P?(\d+)/i.exec(text)?.[1]
  if (number !== undefined) return Number(number)
  const word = /^[\s*_[(]*(critical|urgent|high|medium|normal|low)/i.exec(text)?.[1]?.toLowerCase()
  return word === undefined ? null : ({ critical: 0, urgent: 0, high: 1, medium: 2, normal: 2, low: 3 }[word] ?? null)
}

/** The entries of blocks. Code, quotes and comments say nothing; lines that start a key stand for themselves. */
export function entriesOf(nodes: readonly Node[], depth = 0): Entry[] {
  return nodes.flatMap((node): Entry[] => {
    switch (node.type) {
      case 'paragraph':
        return paragraphEntries(node.text, node.line, { kind: 'paragraph', depth })
      case 'heading':
        return [{ kind: 'heading', text: node.text, line: node.line, depth }]
      case 'list':
        return node.items.flatMap((item) => {
          const [first, ...rest] = item.nodes
          if (first?.type !== 'paragraph') return entriesOf(item.nodes, depth + 1)
          const text = readBox(first.text)?.rest ?? first.text
          return [
            ...paragraphEntries(text, first.line, { kind: 'bullet', depth: depth + 1 }),
            ...entriesOf(rest, depth + 1),
          ]
        })
      case 'table':
        return node.rows
          .slice(1)
          .map((row) => ({ kind: 'bullet', text: row.cells.join(' ; '), line: row.line, depth: depth + 1 }))
      default:
        return []
    }
  })
}

/** One entry a logical line: a key line ends the one before, however the text is wrapped. */
export function paragraphEntries(text: string, line: number, as: Pick<Entry, 'kind' | 'depth'>): Entry[] {
  const entries: Entry[] = []
  for (const [at, part] of text.split('\n').entries()) {
    const last = entries.at(-1)
    if (last === undefined || isKeyLine(part)) entries.push({ ...as, text: part, line: line + at })
    else last.text += ` ${part.trim()}`
  }
  return entries
}
