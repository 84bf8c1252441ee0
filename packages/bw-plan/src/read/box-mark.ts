import type { ItemState } from './plan-item.ts'

export interface Box {
  state: ItemState
  /** Kiro's `[ ]*`. */
  optional: boolean
  /** The mark is none that is known; taken for open. */
  isUnknown: boolean
  mark: string
  rest: string
}

const known = /^\[( |\u00a0|\t|x|X|✓|✔️?|✅|-|\/|~|[Nn]\/[Aa]|[?!<>*o.+•])?\](\*)?(?!\()(?:\s+|$|(?=\S))/u

/** `[  ]` and `[x ]`. */
const spaced = /^\[(\s{2,8}|\s{0,8}(?:x|X|✓|✔️?|✅)\s{0,8})\](\*)?(?!\()(?:\s+|$)/u
const short = /^\[([^\s[\]()#@^]{1,4}\ufe0f?)\](\*)?(?![([:])(?:\s+|$)/u
/** Short words in brackets that are labels. */
const label = /^(?:p|bug|fix|feat|docs?|test|api|ui|ux|db|ci|cd|qa|ops|new|sec|perf|cli|sdk|rfc|pr|us)$/i

/** The checkbox a bullet's text begins with, null when it has none. `[ ](url)` is a link and `\[ ]` is text. */
export function readBox(text: string): Box | null {
  const found = known.exec(text) ?? spaced.exec(text) ?? shortMark(text)
  if (found === null) return null
  const mark = found[1] ?? ''
  const rest = text.slice(found[0].length)
  const optional = found[2] === '*'
  const state = stateOf(mark)
  return { state: state ?? 'open', optional, isUnknown: state === null, mark, rest: skipInnerBox(rest) }
}

/** How many lines of the text look like a checkbox. */
export function countBoxes(text: string): number {
  return text.match(/^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\](?:\s|$)/gm)?.length ?? 0
}

/** Signs, one letter, and words such as `WIP`; `[P]`, `[US1]` and `[bug]` are labels. */
function shortMark(text: string): RegExpExecArray | null {
  const found = short.exec(text)
  const mark = found?.[1] ?? ''
  const isMark = !/\p{L}|\p{N}/u.test(mark) || /^(?:\p{L}|[A-Z]{2,4}|wip|todo|done|ok|tbd|yes|no)$/u.test(mark)
  return isMark && !label.test(mark) ? found : null
}

function stateOf(raw: string): ItemState | null {
  const mark = raw.trim()
  if (mark === '') return 'open'
  if (/^(?:x|✓|✔️?|✅)$/iu.test(mark)) return 'done'
  if (mark === '-' || mark === '/') return 'in-progress'
  return /^n\/a$/i.test(mark) ? 'skipped' : null
}

function skipInnerBox(text: string): string {
  return text.replace(/^(?:[-*+] \[[ xX]\](?:\s+|$))+/, '')
}
