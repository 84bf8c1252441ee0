/** UTF-16 and UTF-32, either order, at any offset: text with one or three zero bytes between its characters. */
import type { Pass } from '../view.ts'

const leastCharacters = 8

export const wideText: Pass = {
  name: 'utf-16',
  run: ({ bytes }, sink) => {
    if (!bytes.includes(0)) return
    for (const gap of [1, 3]) {
      const out: number[] = []
      const origins: number[] = []
      for (let at = 0; at + gap + 1 < bytes.length; ) {
        const count = countCharacters(bytes, at, gap)
        if (count < leastCharacters) {
          at += Math.max(1, count)
          continue
        }
        if (out.length > 0) {
          out.push(0x0a)
          origins.push(at)
        }
        for (let i = 0; i < count; i++) {
          out.push(bytes[at + i * (gap + 1)] as number)
          origins.push(at + i * (gap + 1))
        }
        at += count * (gap + 1)
      }
      if (out.length > 0)
        sink.emit({ bytes: Uint8Array.from(out), at: (offset) => origins[offset] ?? 0, guessed: false })
    }
  },
}

/** How many printable bytes from `at` on have `gap` zeros between them. */
function countCharacters(bytes: Uint8Array, at: number, gap: number): number {
  let count = 0
  for (let i = at; i < bytes.length && isPrintable(bytes[i] as number); i += gap + 1) {
    count++
    for (let zero = 1; zero <= gap; zero++) if (bytes[i + zero] !== 0) return count
  }
  return count
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09
}
