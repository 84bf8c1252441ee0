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

const box = /^\[( |\u00a0|\t|x|X|✓|✔️?|✅|-|\/|~|[Nn]\/[Aa]|[?!<>*o.+•])?\](\*)?(?!\()(?:\s+|$|(?=\S))/u

/** The checkbox a bullet's text begins with, null when it has none. `[ ](url)` is a link and `\[ ]` is text. */
export function readBox(text: string): Box | null {
  const found = box.exec(text)
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

function stateOf(mark: string): ItemState | null {
  if (/^\s?$/.test(mark)) return 'open'
  if (/^(?:x|✓|✔️?|✅)$/iu.test(mark)) return 'done'
  if (mark === '-' || mark === '/') return 'in-progress'
  return /^n\/a$/i.test(mark) ? 'skipped' : null
}

function skipInnerBox(text: string): string {
  return text.replace(/^(?:[-*+] \[[ xX]\](?:\s+|$))+/, '')
}
