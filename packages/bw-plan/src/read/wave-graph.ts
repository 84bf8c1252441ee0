/** What a plan says about order outside its items: Kiro's waves in JSON, and lines `A → B` in a section on dependencies. */
import { entriesOf } from './body.ts'
import type { Node } from './markdown-nodes.ts'
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

export function readGraph(nodes: readonly Node[], ids: Ids): Graph {
  const graph: Graph = { edges: [], diagnostics: [], hasWaves: false }
  walkSections(nodes, (node, { headings }) => {
    const isGraph = headings.some(({ text }) => /dependency graph/i.test(plain(text)))
    if (node.type === 'code' && (isGraph || node.text.includes('"waves"')) && /^\s*\{/.test(node.text)) {
      addWaves(graph, { text: node.text, line: node.line }, ids)
    }
    if (headings.some(({ text }) => /^dependenc|^execution order|^依赖/i.test(plain(text)))) addArrows(graph, node, ids)
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
  let before: string[] = []
  for (const names of waves) {
    const found = names.flatMap((name) => {
      const id = ids.find(name)
      if (id === null) graph.diagnostics.push(unknownId(name, line))
      return id ?? []
    })
    for (const from of found) for (const after of before) graph.edges.push({ from, after })
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

function addArrows(graph: Graph, node: Node, ids: Ids): void {
  for (const { text } of entriesOf([node])) {
    const chain = text.split(/\s*(?:→|-->|->|=>|⇒)\s*/)
    const depends =
      /^\s*[*_`]*(\S+?)[*_`]*\s+(?:depends on|needs|is blocked by|after)\s+[*_`]*([\w.#-]*\w)[*_`]*\s*[.,;]?\s*(?:\(.*\))?$/i.exec(
        text,
      )
    if (depends?.[1] !== undefined && depends[2] !== undefined) addEdge(graph, depends[2], depends[1], ids)
    for (let at = 0; at + 1 < chain.length; at++) addEdge(graph, lastWord(chain[at]), firstWord(chain[at + 1]), ids)
  }
}

function addEdge(graph: Graph, after: string, from: string, ids: Ids): void {
  const [a, b] = [ids.find(after), ids.find(from)]
  if (a !== null && b !== null && a !== b) graph.edges.push({ from: b, after: a })
}

function lastWord(text = ''): string {
  return /([\w.#-]*\w)[*_`\])]*\s*(?:\([^)]*\))?$/.exec(text)?.[1] ?? ''
}

function firstWord(text = ''): string {
  return /^[*_`[(]*(#?[\w.-]*\w)/.exec(text)?.[1] ?? ''
}
