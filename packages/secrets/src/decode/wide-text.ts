/** UTF-16 and UTF-32, either order, at any offset: text with one or three zero bytes between its characters. */
import type { Pass } from '../view.ts'

/** The shortest text in which any rule finds something has 14: a name of three, a sign and ten characters. */
const leastCharacters = 12

export const wideText: Pass = {
  name: 'utf-16',
  run: ({ bytes }, sink) => {
    if (!bytes.includes(0)) return
    for (const width of [2, 4]) {
      const runs = findWideRuns(bytes, width)
      if (runs.length === 0) continue
      const { text, at } = collect(bytes, runs, width)
      sink.emit({ bytes: text, at, guessed: false })
    }
  },
}

/** The runs as [offset of the first character, number of characters]. */
function findWideRuns(bytes: Uint8Array, width: number): [number, number][] {
  const runs: [number, number][] = []
  const span = leastCharacters * width - width + 1
  let done = 0
  // Inside of a run, `width` neighbours hold exactly one character; so most places are passed over at one look.
  for (let look = 0; look + width <= bytes.length; look += span - width) {
    const inside = characterAt(bytes, look, width)
    if (inside < 0) continue
    let first = inside
    while (first - width >= done && isCharacter(bytes, first - width, width)) first -= width
    let count = 0
    let at = first
    while (isCharacter(bytes, at, width)) {
      count++
      at += width
    }
    // Big-endian text has no zeros after its last character.
    if (isPrintable(bytes[at])) count++
    if (count >= leastCharacters) runs.push([first, count])
    done = at
    if (at > look) look = Math.max(look, at - (span - width))
  }
  return runs
}

/** What a byte is for this: a character, a zero, or neither (more than four of which do not fit beside three zeros). */
const kindOf = new Uint8Array(256).fill(16)
for (let byte = 0; byte < 256; byte++) if (isPrintable(byte)) kindOf[byte] = 1
kindOf[0] = 0

/** The offset of the one printable byte among `width` bytes from `from` on, -1 when there is not exactly one. */
function characterAt(bytes: Uint8Array, from: number, width: number): number {
  let sum = 0
  for (let at = from; at < from + width; at++) sum += kindOf[bytes[at] as number] as number
  if (sum !== 1) return -1
  let found = from
  while (bytes[found] === 0) found++
  return found
}

function isCharacter(bytes: Uint8Array, at: number, width: number): boolean {
  if (at + width > bytes.length || !isPrintable(bytes[at])) return false
  for (let zero = 1; zero < width; zero++) if (bytes[at + zero] !== 0) return false
  return true
}

function collect(
  bytes: Uint8Array,
  runs: readonly [number, number][],
  width: number,
): { text: Uint8Array; at: (offset: number) => number } {
  const text = new Uint8Array(runs.reduce((total, [, count]) => total + count + 1, 0))
  const origins = new Uint32Array(text.length)
  let length = 0
  for (const [first, count] of runs) {
    for (let i = 0; i < count; i++) {
      text[length] = bytes[first + i * width] as number
      origins[length++] = first + i * width
    }
    text[length] = 0x0a
    origins[length++] = first
  }
  return { text, at: (offset) => origins[offset] ?? 0 }
}

function isPrintable(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09)
}
