/**
 * Many words sought in one pass over bytes (Aho and Corasick, 1975), as a dense table: case-folded bytes are mapped to
 * classes, states are numbered so that those which end a word come last, and one comparison per byte tells a hit.
 */

export interface Automaton {
  readonly words: readonly string[]
  readonly classOf: Uint8Array
  /** `next[state + class]`, states multiplied by the number of classes. */
  readonly next: Int32Array
  readonly firstEnd: number
  /** Indices of the words that end in a state, by (state - `firstEnd`) / classes. */
  readonly ends: readonly (readonly number[])[]
  /** Length of the longest beginning of a word that a state stands for, by state / classes. */
  readonly depth: Uint16Array
  readonly classes: number
  /** Length of the longest word. */
  readonly longest: number
}

/** The words that were met, in two lists of one length: `ends` are the offsets after their last bytes. */
export interface WordHits {
  readonly words: number[]
  readonly ends: number[]
}

const transparent = 255

interface Node {
  readonly children: Map<number, number>
  readonly depth: number
  fail: number
  ends: number[]
}

/** @param words one character a byte; ASCII letters are folded to lower case. */
export function buildAutomaton(words: readonly string[]): Automaton {
  const folded = words.map(foldAscii)
  const classOf = classesOf(folded)
  const classes = 1 + Math.max(0, ...classOf)
  const nodes = buildTrie(folded, classOf)
  const order = linkFailures(nodes)
  const numbered = [...order.filter((n) => isEndless(nodes, n)), ...order.filter((n) => !isEndless(nodes, n))]
  const stateOf = new Int32Array(nodes.length)
  for (const [index, node] of numbered.entries()) stateOf[node] = index * classes
  const next = new Int32Array(nodes.length * classes)
  const depth = new Uint16Array(nodes.length)
  const firstEnd = numbered.filter((n) => isEndless(nodes, n)).length * classes
  for (const id of order) {
    const node = at(nodes, id)
    const state = stateOf[id] ?? 0
    const failed = id === 0 ? 0 : (stateOf[node.fail] ?? 0)
    depth[state / classes] = node.depth
    for (let c = 0; c < classes; c++) {
      const child = node.children.get(c)
      next[state + c] = child !== undefined ? (stateOf[child] ?? 0) : id === 0 ? 0 : (next[failed + c] ?? 0)
    }
  }
  const ends = numbered.slice(firstEnd / classes).map((id) => at(nodes, id).ends)
  const longest = Math.max(0, ...folded.map((word) => word.length))
  return { words: folded, classOf, next, firstEnd, ends, depth, classes, longest }
}

/** Every place where a word ends, in order. */
export function findWords(automaton: Automaton, bytes: Uint8Array): WordHits {
  return bytes.length < fewBytes ? runAutomaton(automaton, bytes, automaton.classOf).hits : runInLanes(automaton, bytes)
}

/** Below this the four lanes cost more than they save. */
const fewBytes = 4096

/**
 * Each step must wait for the one before it, and a processor could do four in that time: so the bytes are cut into four
 * parts that are walked side by side. Each part starts in the state that the end of the one before it leads to.
 */
function runInLanes(automaton: Automaton, bytes: Uint8Array): WordHits {
  const { next, firstEnd, classOf } = automaton
  const quarter = bytes.length >> 2
  const [second, third, fourth] = [quarter, 2 * quarter, 3 * quarter]
  const lanes = [newHits(), newHits(), newHits(), newHits()] as const
  let a = 0
  let b = stateAt(automaton, bytes, second)
  let c = stateAt(automaton, bytes, third)
  let d = stateAt(automaton, bytes, fourth)
  for (let i = 0; i < quarter; i++) {
    a = next[a + (classOf[bytes[i] as number] as number)] as number
    b = next[b + (classOf[bytes[i + second] as number] as number)] as number
    c = next[c + (classOf[bytes[i + third] as number] as number)] as number
    d = next[d + (classOf[bytes[i + fourth] as number] as number)] as number
    if (a >= firstEnd) addHits(automaton, a, i + 1, lanes[0])
    if (b >= firstEnd) addHits(automaton, b, i + second + 1, lanes[1])
    if (c >= firstEnd) addHits(automaton, c, i + third + 1, lanes[2])
    if (d >= firstEnd) addHits(automaton, d, i + fourth + 1, lanes[3])
  }
  for (let i = 4 * quarter; i < bytes.length; i++) {
    d = next[d + (classOf[bytes[i] as number] as number)] as number
    if (d >= firstEnd) addHits(automaton, d, i + 1, lanes[3])
  }
  return {
    words: lanes[0].words.concat(lanes[1].words, lanes[2].words, lanes[3].words),
    ends: lanes[0].ends.concat(lanes[1].ends, lanes[2].ends, lanes[3].ends),
  }
}

/** The state before the byte at `to`: no more bytes than the longest word has decide it. */
function stateAt({ next, classOf, longest }: Automaton, bytes: Uint8Array, to: number): number {
  let state = 0
  for (let i = Math.max(0, to - longest); i < to; i++) {
    state = next[state + (classOf[bytes[i] as number] as number)] as number
  }
  return state
}

function newHits(): WordHits {
  return { words: [], ends: [] }
}

function addHits({ ends, firstEnd, classes }: Automaton, state: number, end: number, hits: WordHits): void {
  const words = ends[(state - firstEnd) / classes] as readonly number[]
  for (let i = 0; i < words.length; i++) {
    hits.words.push(words[i] as number)
    hits.ends.push(end)
  }
}

/** As {@link findWords}, as if the bytes of `skipped` were not there. `depth` is that of the state at the end. */
export function findWordsThrough(
  automaton: Automaton,
  bytes: Uint8Array,
  skipped: ReadonlySet<number>,
): { hits: WordHits; depth: number } {
  return runAutomaton(automaton, bytes, classesWithout(automaton, skipped))
}

const tables = new WeakMap<Automaton, WeakMap<ReadonlySet<number>, Uint8Array>>()

/** The classes with those of `skipped` made transparent, once for each set. */
function classesWithout(automaton: Automaton, skipped: ReadonlySet<number>): Uint8Array {
  const bySet = tables.get(automaton) ?? new WeakMap<ReadonlySet<number>, Uint8Array>()
  tables.set(automaton, bySet)
  const known = bySet.get(skipped)
  if (known !== undefined) return known
  const classOf = automaton.classOf.slice()
  for (const byte of skipped) classOf[byte] = transparent
  bySet.set(skipped, classOf)
  return classOf
}

function runAutomaton(automaton: Automaton, bytes: Uint8Array, classOf: Uint8Array): { hits: WordHits; depth: number } {
  const { next, firstEnd, depth, classes } = automaton
  const hits = newHits()
  let state = 0
  for (let i = 0; i < bytes.length; i++) {
    const c = classOf[bytes[i] as number] as number
    if (c === transparent) continue
    state = next[state + c] as number
    if (state >= firstEnd) addHits(automaton, state, i + 1, hits)
  }
  return { hits, depth: depth[state / classes] ?? 0 }
}

function foldAscii(word: string): string {
  return word.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

function classesOf(words: readonly string[]): Uint8Array {
  const classOf = new Uint8Array(256)
  let count = 0
  for (const word of words) {
    for (const character of word) {
      const code = character.charCodeAt(0)
      if (classOf[code] === 0) classOf[code] = ++count
    }
  }
  for (let upper = 0x41; upper <= 0x5a; upper++) classOf[upper] = classOf[upper + 0x20] ?? 0
  return classOf
}

function buildTrie(words: readonly string[], classOf: Uint8Array): Node[] {
  const nodes: Node[] = [{ children: new Map(), depth: 0, fail: 0, ends: [] }]
  for (const [index, word] of words.entries()) {
    let current = 0
    for (const character of word) {
      const c = classOf[character.charCodeAt(0)] ?? 0
      const node = at(nodes, current)
      let child = node.children.get(c)
      if (child === undefined) {
        child = nodes.length
        nodes.push({ children: new Map(), depth: node.depth + 1, fail: 0, ends: [] })
        node.children.set(c, child)
      }
      current = child
    }
    at(nodes, current).ends.push(index)
  }
  return nodes
}

/** Sets each node's failure link and inherited ends; gives the nodes breadth first. */
function linkFailures(nodes: readonly Node[]): number[] {
  const order = [0]
  for (let i = 0; i < order.length; i++) {
    const id = at(order, i)
    for (const [c, child] of at(nodes, id).children) {
      order.push(child)
      if (id === 0) continue
      let fail = at(nodes, id).fail
      while (fail !== 0 && !at(nodes, fail).children.has(c)) fail = at(nodes, fail).fail
      const target = at(nodes, fail).children.get(c) ?? 0
      at(nodes, child).fail = target
      at(nodes, child).ends = [...at(nodes, child).ends, ...at(nodes, target).ends]
    }
  }
  return order
}

function isEndless(nodes: readonly Node[], id: number): boolean {
  return at(nodes, id).ends.length === 0
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index]
  if (value === undefined) throw new Error(`no element ${index}`)
  return value
}
