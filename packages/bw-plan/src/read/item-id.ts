/** Ids and labels at the front (or end) of an item's text. */

export interface IdRules {
  /** `2.1` without punctuation counts, since several items have one. */
  dotted: boolean
  /** Letter prefixes (`T` of `T001`) that count without punctuation, upper case. */
  prefixes: ReadonlySet<string>
}

export interface IdReading {
  id: string | null
  /** How the id is written: decides what the format is and which references can mean it. */
  shape: 'number' | 'dotted' | 'letters' | 'issue' | 'noun' | null
  rest: string
}

/** Pictures that stand for a state, not for a kind of work such as a bug. */
const emoji = /^(?:[✅✔✖❌☐☑☒⬜⬛⏳⌛⏸▶⚠🚧🔴🟢🟡🟠🔵⚪⚫🔄📝🔲🔳]\ufe0f?\s*)+/u
const noun =
  /^(?:task|story|unit|work package|wp|item|todo|ticket|issue)\s+#?([A-Za-z]{0,6}-?\d+(?:\.\d+)*[a-z]?)\b\s*[:.)\-–—]?\s*/i
const letters = /^([A-Za-z]{1,10})-?(\d+(?:\.\d+)*[a-z]?)(?=[\s:.)\]*`]|$)\s*([:.)]|[-–—](?=\s))?\s*/
const number = /^(\d+(?:\.\d+)*)([.):])(?:\s+|$)/
const dotted = /^(\d+(?:\.\d+)+)\s+/
const issue = /^(?:\[)?((?:[\w.-]+\/[\w.-]+)?#\d+)\b(?:\]\([^)\s]*\))?:?\s*/

/** The id that a text begins with, bold marks and state emoji aside. */
export function readId(text: string, rules: IdRules): IdReading {
  const plain = text.replace(emoji, '')
  const open = /^(?:\*\*|__|`)/.exec(plain)?.[0] ?? ''
  const bare = plain.slice(open.length)
  const found = matchId(bare, rules)
  if (found === null) return { id: null, shape: null, rest: plain }
  const rest = bare.slice(found.length)
  return { id: found.id, shape: found.shape, rest: open === '' ? rest : closeMark(rest, open) }
}

/** Whether a text begins with an id of letters and digits, and the letters; for finding the prefixes of a plan. */
export function readPrefix(text: string): string | null {
  const found = letters.exec(text.replace(emoji, '').replace(/^(?:\*\*|__|`|\[)/, ''))
  return found?.[1]?.toUpperCase() ?? null
}

/** True when a text begins with a dotted number without punctuation. */
export function hasDottedNumber(text: string): boolean {
  return dotted.test(text.replace(emoji, '').replace(/^(?:\*\*|__)/, ''))
}

function matchId(text: string, rules: IdRules): { id: string; shape: IdReading['shape']; length: number } | null {
  const named = noun.exec(text)
  if (named?.[1] !== undefined) return { id: named[1], shape: 'noun', length: named[0].length }
  const numbered = number.exec(text)
  if (numbered?.[1] !== undefined) {
    return { id: numbered[1], shape: numbered[1].includes('.') ? 'dotted' : 'number', length: numbered[0].length }
  }
  const points = rules.dotted ? dotted.exec(text) : null
  if (points?.[1] !== undefined) return { id: points[1], shape: 'dotted', length: points[0].length }
  const bracketed = /^\[([A-Za-z]{1,10}-?\d{2,}(?:\.\d+)*)\]\s+/.exec(text)
  if (bracketed?.[1] !== undefined && rules.prefixes.has(lettersOf(bracketed[1]))) {
    return { id: bracketed[1], shape: 'letters', length: bracketed[0].length }
  }
  const lettered = letters.exec(text)
  if (lettered?.[1] !== undefined && (lettered[3] !== undefined || rules.prefixes.has(lettered[1].toUpperCase()))) {
    const id = text.slice(0, lettered[0].length).replace(/\s*[:.)–—-]?\s*$/, '')
    return { id, shape: 'letters', length: lettered[0].length }
  }
  const numberSign = issue.exec(text)
  return numberSign?.[1] === undefined ? null : { id: numberSign[1], shape: 'issue', length: numberSign[0].length }
}

/** The letters an id begins with, upper case; empty for a number. */
export function lettersOf(id: string): string {
  return (/^[A-Za-z]+(?=-?\d)/.exec(id)?.[0] ?? '').toUpperCase()
}

/** Takes the closing half of a bold or code mark off, when it closes right behind the id. */
function closeMark(rest: string, open: string): string {
  if (rest.startsWith(open)) return rest.slice(open.length).replace(/^\s*[:.)–—-]?\s*/, '')
  return `${open}${rest}`
}

export interface Labels {
  marked: boolean
  labels: string[]
  /** From `[P1]`, `(Priority: P1)`. */
  priority: number | null
  rest: string
}

/** Takes `[P]`, `(P)`, `[US1]`, `[bug]` off the front and a marker off the end. */
export function readLabels(text: string): Labels {
  const labels: string[] = []
  let marked = false
  let priority: number | null = null
  let rest = text
  for (let found = frontLabel(rest); found !== null; found = frontLabel(rest)) {
    if (/^p$/i.test(found.label)) marked = true
    else if (/^p\d$/i.test(found.label)) priority = Number(found.label.slice(1))
    else labels.push(found.label)
    rest = rest.slice(found.length)
  }
  const end = /\s*(?:\(P\)|\[P\])\s*$/.exec(rest)
  if (end !== null) marked = true
  rest = end === null ? rest : rest.slice(0, end.index)
  // "Add priority 2 queue" is a title, "priority: 2" and "(priority 2)" are not.
  const said = /\bpriority:\s*P?(\d)\b|[([]\s*priority\s+P?(\d)\s*[)\]]/i.exec(rest)
  const written = said?.[1] ?? said?.[2]
  return { marked, labels, priority: priority ?? (written === undefined ? null : Number(written)), rest }
}

function frontLabel(text: string): { label: string; length: number } | null {
  const found = /^(?:\[([\p{L}\p{N}][\p{L}\p{N} _:.-]{0,20})\](?!\()|\((P)\))\s+/u.exec(text)
  if (found === null) return null
  return { label: (found[1] ?? found[2] ?? '').trim(), length: found[0].length }
}
