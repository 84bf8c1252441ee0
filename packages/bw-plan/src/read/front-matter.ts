/** Plans in YAML front matter: Cursor's list of todos, and a work package of its own file. */
import { isMap, isSeq, LineCounter, parseDocument } from 'yaml'
import { emptyBody, entriesOf, readBody, readPriority } from './body.ts'
import { type Draft, newDraft, type Source } from './draft.ts'
import { readStatus } from './headings.ts'
import { namesOf, textOf } from './json-plans.ts'
import type { Node } from './markdown-nodes.ts'
import { readPaths } from './paths.ts'
import type { Diagnostic } from './plan-item.ts'
import { cleanTitle } from './title.ts'
import { planFields } from './yaml-fields.ts'

export interface FrontMatter {
  format: 'cursor' | 'work-package' | null
  drafts: Draft[]
  diagnostics: Diagnostic[]
}

const maxLength = 256 * 1024

export function readFrontMatter(nodes: readonly Node[], source: Source): FrontMatter {
  const none: FrontMatter = { format: null, drafts: [], diagnostics: [] }
  const [head, ...rest] = nodes
  if (head?.type !== 'front-matter' || !planFields.test(head.text)) return none
  if (head.text.length > maxLength) return bad(head.line, `it is longer than ${maxLength} characters`)
  const counter = new LineCounter()
  const document = parseDocument(head.text, { lineCounter: counter, logLevel: 'silent' })
  const [error] = document.errors
  if (error !== undefined)
    return bad(head.line + counter.linePos(error.pos[0]).line, error.message.split('\n')[0] ?? '')
  const lineAt = (offset: number | undefined) => head.line + counter.linePos(offset ?? 0).line
  const { contents } = document
  if (!isMap(contents)) return none
  const todos = contents.get('todos', true)
  if (!isSeq(todos))
    return { ...none, ...readPackage(contents.toJSON() as Fields, { source, nodes: rest, line: head.line }) }
  const line = lineAt(todos.range?.[0])
  const drafts = todos.items.flatMap((todo) => {
    if (!isMap(todo)) return []
    return draftTodo(todo.toJSON() as Fields, { line: lineAt(todo.range?.[0]), source })
  })
  const lost = todos.items.length - drafts.length
  const text = `${lost} of the todos ${lost === 1 ? 'has' : 'have'} no content and ${lost === 1 ? 'is' : 'are'} not read`
  const diagnostics: Diagnostic[] =
    lost === 0 ? [] : [{ level: 'warning', kind: 'members-ignored', line, text, about: String(lost) }]
  return { format: drafts.length === 0 ? null : 'cursor', drafts, diagnostics }
}

type Fields = Record<string, unknown>

function draftTodo(fields: Fields, { line, source }: { line: number; source: Source }): Draft[] {
  const content = textOf(fields['content'] ?? fields['title'] ?? fields['name'])
  if (content === '') return []
  const body = readBody([{ kind: 'title', text: content, line, depth: 0 }], { tree: source.tree })
  const id = textOf(fields['id'])
  return [
    newDraft({
      id: id === '' ? null : id,
      title: cleanTitle(content),
      rawTitle: content,
      text: content,
      line,
      body,
      state: readStatus(textOf(fields['status'])) ?? 'open',
      priority: readPriority(textOf(fields['priority'])),
      after: namesOf(fields['dependencies'] ?? fields['depends_on']).map((name) => ({
        line,
        value: { type: 'one', id: name, isLoose: false },
      })),
    }),
  ]
}

/** A work package that is a file of its own; what it depends on are other files and not in this plan. */
function readPackage(
  fields: Fields,
  { source, nodes, line }: { source: Source; nodes: readonly Node[]; line: number },
) {
  const id = textOf(fields['work_package_id'] ?? fields['id'])
  const title = textOf(fields['title'] ?? fields['name'])
  if (id === '' && title === '') return {}
  const body = readBody(entriesOf(nodes), { tree: source.tree })
  const files = namesOf(fields['owned_files'] ?? fields['files']).flatMap((glob) =>
    readPaths(`\`${glob}\``, { tree: source.tree, declared: true }),
  )
  const draft = newDraft({
    id: id === '' ? null : id,
    title: cleanTitle(title === '' ? id : title),
    text: source.text.trimEnd(),
    line,
    state: readStatus(textOf(fields['status'] ?? fields['lane'])) ?? 'open',
    body: { ...emptyBody(), mentioned: body.mentioned, declared: files.length > 0 ? files : body.declared },
  })
  return { format: 'work-package' as const, drafts: [draft] }
}

function bad(line: number, reason: string): FrontMatter {
  const text = `the front matter cannot be read: ${reason}`
  return { format: null, drafts: [], diagnostics: [{ level: 'error', kind: 'bad-front-matter', line, text }] }
}
