/** Plans in JSON: task-master's tasks.json and Ralph's prd.json. */
import { readBody, readPriority } from './body.ts'
import { type Draft, newDraft, type Source } from './draft.ts'
import { readStatus } from './headings.ts'
import { linesOfObjects } from './json-lines.ts'
import type { Diagnostic } from './plan-item.ts'

export interface JsonPlan {
  format: 'task-master' | 'ralph' | 'none'
  drafts: Draft[]
  diagnostics: Diagnostic[]
}

type Fields = Record<string, unknown>

/** Reads one JSON document; `none` when it is no plan that is known. */
export function readJsonPlan(value: unknown, source: Source): JsonPlan {
  const lines = linesOfObjects(value, source.text)
  const lineOf = (fields: Fields) => lines.get(fields) ?? 1
  const top = isFields(value) ? value : {}
  if (Array.isArray(top['userStories'])) {
    const stories: unknown[] = top['userStories']
    return {
      format: 'ralph',
      drafts: draftStories(stories, { source, lineOf }),
      diagnostics: notFields(stories, { line: 1, what: 'stories' }),
    }
  }
  const { tasks, others } = findTasks(Array.isArray(value) ? { tasks: value } : top)
  if (tasks === null) return { format: 'none', drafts: [], diagnostics: [] }
  const drafts = tasks.filter(isFields).flatMap((task) => draftTask(task, { source, lineOf }))
  const diagnostics = others.map(
    (tag): Diagnostic => ({
      level: 'warning',
      kind: 'other-tag-ignored',
      line: 1,
      text: `the tasks under '${tag}' are not read`,
      about: tag,
    }),
  )
  diagnostics.push(...notFields(tasks, { line: 1, what: 'tasks' }))
  for (const task of tasks.filter(isFields)) {
    diagnostics.push(...notFields(task['subtasks'], { line: lineOf(task), what: 'subtasks' }))
  }
  return { format: 'task-master', drafts, diagnostics }
}

/** Members that are no objects say nothing that could be read. */
function notFields(list: unknown, { line, what }: { line: number; what: string }): Diagnostic[] {
  const count = Array.isArray(list) ? list.filter((member: unknown) => !isFields(member)).length : 0
  if (count === 0) return []
  const text = `${count} of the ${what} ${count === 1 ? 'is no object and is' : 'are no objects and are'} not read`
  return [{ level: 'warning', kind: 'members-ignored', line, text, about: String(count) }]
}

interface Reader {
  source: Source
  lineOf(fields: Fields): number
}

function findTasks(top: Fields): { tasks: unknown[] | null; others: string[] } {
  if (Array.isArray(top['tasks'])) return { tasks: top['tasks'], others: [] }
  const tags = Object.entries(top).filter(([, inner]) => isFields(inner) && Array.isArray(inner['tasks']))
  const chosen = tags.find(([tag]) => tag === 'master') ?? tags[0]
  if (chosen === undefined) return { tasks: null, others: [] }
  return {
    tasks: (chosen[1] as Fields)['tasks'] as unknown[],
    others: tags.filter((tag) => tag !== chosen).map(([tag]) => tag),
  }
}

function draftTask(task: Fields, { source, lineOf }: Reader): Draft[] {
  const id = textOf(task['id'])
  const after = namesOf(task['dependencies'])
  const parts = fields(task['subtasks'])
  const own = draftFields(task, { id: id === '' ? null : id, line: lineOf(task), after, source })
  const children = parts.map((part) => {
    const local = namesOf(part['dependencies']).map((name) => (name.includes('.') ? name : `${id}.${name}`))
    const child = draftFields(part, {
      id: `${id}.${textOf(part['id'])}`,
      line: lineOf(part),
      after: [...local, ...after],
      source,
    })
    return {
      ...child,
      parent: own,
      priority: child.priority ?? own.priority,
      state: own.state === 'done' ? 'done' : child.state,
    }
  })
  return [own, ...children] as Draft[]
}

function draftFields(
  part: Fields,
  { id, line, after, source }: { id: string | null; line: number; after: string[]; source: Source },
): Draft {
  const title = textOf(part['title'])
  const texts = [title, textOf(part['description']), textOf(part['details'])]
  const body = readBody(
    texts.map((text, at) => ({ kind: at === 0 ? 'title' : 'paragraph', text, line, depth: 0 })),
    { tree: source.tree },
  )
  return newDraft({
    id,
    title: title === '' ? (id ?? '') : title,
    text: joinTexts([...texts, textOf(part['testStrategy'])]),
    line,
    state: readStatus(textOf(part['status'])) ?? 'open',
    priority: readPriority(textOf(part['priority'])),
    // The format states its dependencies; what the prose says on top would only be guessed.
    body: { ...body, after: [], gates: [] },
    after: after.map((name) => ({ line, value: { type: 'one', id: name, isLoose: false } })),
  })
}

function draftStories(stories: unknown[], { source, lineOf }: Reader): Draft[] {
  const drafts = stories.filter(isFields).map((story) => {
    const title = textOf(story['title'])
    const criteria = Array.isArray(story['acceptanceCriteria']) ? story['acceptanceCriteria'].map(textOf) : []
    const texts = [title, textOf(story['description']), ...criteria, textOf(story['notes'])]
    const line = lineOf(story)
    const body = readBody(
      texts.map((text, at) => ({ kind: at === 0 ? 'title' : 'paragraph', text, line, depth: 0 })),
      { tree: source.tree },
    )
    const id = textOf(story['id'])
    const order = Number(story['priority'] ?? 0)
    const draft = newDraft({
      id: id === '' ? null : id,
      title,
      text: joinTexts([
        title,
        textOf(story['description']),
        ...criteria.map((text) => `- ${text}`),
        textOf(story['notes']),
      ]),
      line,
      state: story['passes'] === true ? 'done' : 'open',
      body: { ...body, after: [], gates: [] },
    })
    return { draft, order: Number.isFinite(order) ? order : 0 }
  })
  return drafts.sort((a, b) => a.order - b.order).map(({ draft }) => draft)
}

/** Field values as text; anything but text and numbers is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** The names in a list, or in one text (`1,2`) or number; of objects their `id`. */
export function namesOf(value: unknown): string[] {
  const members = Array.isArray(value) ? value : isFields(value) ? [value] : textOf(value).split(/[,;\n]/)
  return members
    .map((member: unknown) => textOf(isFields(member) ? member['id'] : member))
    .filter((name) => name !== '' && !/^(?:none|null|n\/a|-|\[\])$/i.test(name))
}

function fields(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}
