/** Plans in beads' JSONL: one issue a line, typed edges between them. */
import { readBody } from './body.ts'
import { type Draft, type Drafts, newDraft, type Source } from './draft.ts'
import { readStatus } from './headings.ts'
import { isFields, joinTexts, textOf } from './json-plans.ts'
import type { Diagnostic } from './plan-item.ts'

const blocking = new Set(['blocks', 'waits-for', 'conditional-blocks'])

/** Reads the lines; null when the text is not JSONL of issues. */
export function readBeads(source: Source): Drafts | null {
  const drafts: Draft[] = []
  const diagnostics: Diagnostic[] = []
  for (const [at, text] of source.lines.entries()) {
    if (text.trim() === '') continue
    const issue = parse(text)
    if (issue === null || textOf(issue['id']) === '' || textOf(issue['title']) === '') {
      if (drafts.length === 0) return null
      diagnostics.push({ level: 'error', kind: 'bad-json', line: at + 1, text: 'the line is not an issue' })
      continue
    }
    const draft = draftIssue(issue, { line: at + 1, source })
    drafts.push(draft)
    if (draft.isContainer) {
      const about = `'${draft.id}' holds other items and is not one`
      diagnostics.push({ level: 'info', kind: 'container-skipped', line: at + 1, text: about, id: draft.id ?? '' })
    }
  }
  return drafts.length === 0 ? null : { drafts: withParents(drafts, source), diagnostics }
}

function draftIssue(issue: Record<string, unknown>, { line, source }: { line: number; source: Source }): Draft {
  const title = textOf(issue['title'])
  const description = textOf(issue['description'])
  const type = textOf(issue['issue_type'])
  const body = readBody(
    [{ kind: 'title', text: title, line, depth: 0 }, ...description.split('\n').map((text) => entry(text, line))],
    { tree: source.tree },
  )
  const priority = issue['priority']
  return newDraft({
    id: textOf(issue['id']),
    title,
    text: joinTexts([title, description, textOf(issue['design']), textOf(issue['acceptance_criteria'])]),
    line,
    state: readStatus(textOf(issue['status'])) ?? 'open',
    priority: typeof priority === 'number' ? priority : null,
    type: type === '' ? null : type,
    body: { ...body, after: [], gates: [], mentioned: [...body.declared, ...body.mentioned], declared: [] },
    after: edges(issue, blocking).map((id) => ({ line, value: { type: 'one', id, isLoose: false } })),
    isContainer: type === 'epic',
  })
}

function entry(text: string, line: number) {
  const heading = /^#+\s+(.*)$/.exec(text)?.[1]
  if (heading !== undefined) return { kind: 'heading' as const, text: heading, line, depth: 0 }
  return { kind: 'bullet' as const, text: text.replace(/^\s*[-*+]\s+/, ''), line, depth: 1 }
}

function withParents(drafts: Draft[], source: Source): Draft[] {
  const byId = new Map(drafts.map((draft) => [draft.id, draft]))
  for (const draft of drafts) {
    const issue = parse(source.lines[draft.line - 1] ?? '')
    const [parent] = issue === null ? [] : edges(issue, new Set(['parent-child']))
    const above = parent === undefined ? undefined : byId.get(parent)
    if (above?.isContainer) draft.parent = above
  }
  return drafts
}

function edges(issue: Record<string, unknown>, types: ReadonlySet<string>): string[] {
  const list = Array.isArray(issue['dependencies']) ? issue['dependencies'] : []
  return list
    .filter(isFields)
    .filter(({ type }) => types.has(textOf(type)))
    .map((edge) => textOf(edge['depends_on_id']))
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}
