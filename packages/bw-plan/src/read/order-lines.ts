/** Lines of a section on dependencies: `T001, T002 → T003`, `Task 3 depends on Tasks 1 and 2`. One pass over the words. */

/** `before` come first, `after` wait for them; names as `find` gives them. */
export interface OrderLine {
  before: string[]
  after: string[]
}

type Find = (name: string) => string | null

const arrow = /→|-->|->|=>|⇒/
const verb = /\b(?:depends? on|needs?|requires?|(?:is |are )?blocked by|waits? for|after)\b/i
const noun = /^(?:tasks?|items?|issues?|story|stories|units?|work|packages?|wps?|tickets?|todos?|任务)$/i
const link = /^(?:[,;&+、，]|and|or|und|et)$/i

/** What a line says about order, each arrow for itself; nothing where a side names no item. */
export function readOrderLine(text: string, find: Find): OrderLine[] {
  const parts = text.split(arrow)
  if (parts.length > 1) {
    const sides = parts.map((part) => namesOfSide(part, find))
    return sides.slice(1).map(({ first }, at) => ({ before: sides[at]?.last ?? [], after: first }))
  }
  const found = verb.exec(text)
  if (found === null) return []
  const waiting = wordsOf(text.slice(0, found.index))
  const awaited = wordsOf(text.slice(found.index + found[0].length))
  const who = firstNames(waiting, find)
  const on = firstNames(awaited, find)
  const isWhole = who.length === waiting.length && (on.isNamed || on.length === awaited.length || /^[.:]/.test(on.next))
  return isWhole ? [{ before: on.names, after: who.names }] : []
}

/** The names that one side of an arrow begins and ends with, else those in its parentheses: `Models (T002, T003)`. */
function namesOfSide(text: string, find: Find): { first: string[]; last: string[] } {
  const words = wordsOf(text)
  const first = firstNames(words, find).names
  const last = lastNames(words, find)
  if (last.length > 0) return { first, last }
  const inside = splitWords(splitAsides(text).asides)
  const { names, length, isNamed } = firstNames(inside, find)
  return isNamed && length === inside.length ? { first: names, last: names } : { first: [], last: [] }
}

/** Words and the commas between, without what stands in parentheses. */
function wordsOf(text: string): string[] {
  return splitWords(splitAsides(text).plain)
}

function splitWords(text: string): string[] {
  return text.match(/[,;&+、，]|[^\s,;&+、，]+/g) ?? []
}

function splitAsides(text: string): { plain: string; asides: string } {
  let depth = 0
  let plain = ''
  let asides = ''
  for (const char of text) {
    if (char === '(') depth++
    else if (char === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) plain += char
    else asides += char
  }
  return { plain, asides }
}

interface Names {
  names: string[]
  /** How many words the list takes. */
  length: number
  /** The word behind it, or what stands at the end of its last word. */
  next: string
  /** Its last name cannot be a number in a sentence. */
  isNamed: boolean
}

/** The list of names that the words begin with. */
function firstNames(words: readonly string[], find: Find): Names {
  const list: Names = { names: [], length: 0, next: '', isNamed: false }
  let isNoun = false
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (noun.test(bare(word))) {
      isNoun = true
      continue
    }
    const id = find(bare(word))
    if (id === null) break
    list.names.push(id)
    list.length = at + 1
    list.isNamed = isNoun || !/^\d+$/.test(bare(word))
    list.next = /[.:]+[*_`]*$/.exec(word.slice(-8))?.[0] ?? words[at + 1] ?? ''
    if (/[.:][*_`]*$/.test(word.slice(-8))) break
    while (link.test(words[at + 1] ?? '')) at++
    if (at + 1 === list.length) break
  }
  return list
}

/** The list of names that the words end in, else the one they begin with: `T001 Set up`. */
function lastNames(words: readonly string[], find: Find): string[] {
  const names: string[] = []
  for (let at = words.length - 1; at >= 0; at--) {
    const id = find(bare(words[at] ?? ''))
    if (id === null) break
    names.unshift(id)
    while (noun.test(bare(words[at - 1] ?? ''))) at--
    const end = at
    while (link.test(words[at - 1] ?? '')) at--
    if (at === end) break
  }
  return names.length > 0 ? names : firstNames(words, find).names
}

/** A word without marks and punctuation around it; no item is called by more than 80 characters. */
function bare(word: string): string {
  if (word.length > 100) return ''
  return word.replace(/^[*_`[("']+/, '').replace(/[*_`\])"'.:!?]+$/, '')
}
