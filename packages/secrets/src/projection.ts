/** Bytes with some left out, and for each remaining one where it came from. */

import { latin1 } from './latin1.ts'

export interface Projection {
  readonly bytes: Uint8Array
  /** The offset in the original of a byte of `bytes`. */
  readonly at: (offset: number) => number
}

export function identity(bytes: Uint8Array): Projection {
  return { bytes, at: (offset) => offset }
}

/** CSI, OSC (ended by BEL or ST), two-byte escapes; and zero-width characters in UTF-8, which hide a token just as well. */
export const unseenPattern =
  /\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[@-Z\\^_a-z0-9=>()]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf/g

/** A line break inside a long word, with the diff marker or indentation that the next line begins with. */
export const wrapPattern = /(?<=[\w+/=.~-])\\?\r?\n(?:[+ -](?=[\w+/=])|[ \t]{1,16})?(?=[\w+/=.~-])/g

/** The same where the next line's dash or plus is the token's own. */
export const plainWrapPattern = /(?<=[\w+/=.~-])\\?\r?\n[ \t]{0,16}(?=[\w+/=.~-])/g

/** Without terminal commands and zero-width characters. */
export function withoutAnsi(bytes: Uint8Array): Projection {
  return without(identity(bytes), unseenPattern)
}

/** With the lines joined that end and go on inside a word. */
export function withoutWraps(view: Projection): Projection {
  return without(view, wrapPattern)
}

export function without(view: Projection, pattern: RegExp): Projection {
  const text = latin1(view.bytes)
  const starts: number[] = []
  const removed: number[] = []
  const parts: string[] = []
  let total = 0
  let from = 0
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(from, match.index))
    from = match.index + match[0].length
    total += match[0].length
    starts.push(from - total)
    removed.push(total)
  }
  if (total === 0) return view
  parts.push(text.slice(from))
  const bytes = Buffer.from(parts.join(''), 'latin1')
  return { bytes, at: (offset) => view.at(offset + (removed[lastAtMost(starts, offset)] ?? 0)) }
}

/** Index of the last of the ascending `values` that is at most `limit`, -1 when there is none. */
function lastAtMost(values: readonly number[], limit: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}
