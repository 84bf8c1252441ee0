/**
 * Tar keeps its files as they are, so the view itself already shows them. What it hides is where a file begins and ends that
 * is a container of its own.
 */
import { hasMagic } from '../plausible.ts'
import type { Pass } from '../view.ts'

const block = 512

export const tar: Pass = {
  name: 'tar',
  container: true,
  run: ({ bytes, text }, sink) => {
    let entries = 0
    for (let at = 0; at + block <= bytes.length && text.slice(at + 257, at + 262) === 'ustar'; ) {
      if (++entries > sink.limits.entries) {
        sink.incomplete('limit:entries')
        break
      }
      const size = Number.parseInt(field(text, at + 124, 12).trim(), 8) || 0
      const start = at + block
      const data = bytes.subarray(start, start + size)
      if (hasMagic(data)) {
        sink.emit({ bytes: data, at: (offset) => start + offset, entry: nameAt(text, at), guessed: false })
      }
      at = start + Math.ceil(size / block) * block
    }
  },
}

function nameAt(text: string, header: number): string {
  const [prefix, name] = [field(text, header + 345, 155), field(text, header, 100)]
  return prefix === '' ? name : `${prefix}/${name}`
}

function field(text: string, from: number, length: number): string {
  const end = text.indexOf('\0', from)
  return text.slice(from, end < 0 ? from + length : Math.min(end, from + length))
}
