/** What a plan says about order outside its items: Kiro's waves in JSON, and lines `A → B` in a section on dependencies. */
import { entriesOf } from './body.ts'
import type { Node } from './markdown-nodes.ts'
import { readOrderLine } from './order-lines.ts'
import type { Diagnostic } from './plan-item.ts'
import { plain, walkSections } from './sections.ts'

export interface Edge {
  from: string
  after: string
}

export interface Graph {
  edges: Edge[]
  diagnostics: Diagnostic[]
  /** The plan states waves, so the order of its text says nothing more. */
  hasWaves: boolean
}

interface Ids {
  /** The item or group that a name means, null when there is none. */
  find(name: string): string | null
}

/** Pairs of items that wait for each other which a plan may have; 600 items that all wait for all before are fewer. */
export const maxEdges = 200_000

/** The error for a plan with more. */
export function tooManyEdges(line: number, who: string, id?: string): Diagnostic {
  return {
    level: 'error',
    kind: 'too-many-dependencies',
    line,
    text: `with ${who} the plan has more than ${maxEdges} dependencies; name only those that others do not imply`,
    about: String(maxEdges),
    ...(id === undefined ? {} : { id }),
  }
}

export function readGraph(nodes: readonly Node[], ids: Ids): Graph {
  const graph: Graph = { edges: [], diagnostics: [], hasWaves: false }
  walkSections(nodes, (node, { headings }) => {
    const isGraph = headings.some(({ text }) => /dependency graph/i.test(plain(text)))
    if (node.type === 'code' && (isGraph || node.text.includes('"waves"')) && /^\s*\{/.test(node.text)) {
      addWaves(graph, { text: node.text, line: node.line }, ids)
    }
    if (headings.some(({ text }) => /^dependenc|^execution order|^依赖/i.test(plain(text)))) addOrder(graph, node, ids)
  })
  return graph
}

function addWaves(graph: Graph, { text, line }: { text: string; line: number }, ids: Ids): void {
  const waves = readWaves(text)
  if (waves === null) {
    graph.diagnostics.push({
      level: 'error',
      kind: 'bad-graph',
      line,
      text: 'the dependency graph is not JSON with a list of waves',
    })
    return
  }
  graph.hasWaves = true
  let before: readonly string[] = []
  for (const names of waves) {
    const found = names.flatMap((name) => {
      const id = ids.find(name)
      if (id === null) graph.diagnostics.push(unknownId(name, line))
      return id ?? []
    })
    if (!addPairs(graph, { before, after: found, line })) return
    if (found.length > 0) before = found
  }
}

function unknownId(name: string, line: number): Diagnostic {
  return {
    level: 'error',
    kind: 'unknown-id-in-graph',
    line,
    text: `the dependency graph names '${name}', which is not in this plan`,
    about: name,
  }
}

function readWaves(text: string): string[][] | null {
  try {
    const { waves } = JSON.parse(text) as { waves?: unknown }
    if (!Array.isArray(waves)) return null
    return waves.map((wave: unknown) => {
      const tasks = Array.isArray(wave) ? wave : ((wave as { tasks?: unknown } | null)?.tasks ?? [])
      return Array.isArray(tasks) ? tasks.map(String) : []
    })
  } catch {
    return null
  }
}

function addOrder(graph: Graph, node: Node, ids: Ids): void {
  for (const { text, line } of entriesOf([node])) {
    for (const { before, after } of readOrderLine(text, (name) => ids.find(name)))
      addPairs(graph, { before, after, line })
  }
}

interface Pairs {
  before: readonly string[]
  after: readonly string[]
  line: number
}

/** Adds every pair; false, with an error, when the graph would have more than a plan can. */
function addPairs(graph: Graph, { before, after, line }: Pairs): boolean {
  if (graph.edges.length + before.length * after.length > maxEdges) {
    if (!graph.diagnostics.some(({ kind }) => kind === 'too-many-dependencies'))
      graph.diagnostics.push(tooManyEdges(line, 'the dependency graph'))
    return false
  }
  for (const from of after) for (const on of before) if (from !== on) graph.edges.push({ from, after: on })
  return true
}
