/**
 * Tar keeps its files as they are, so the view itself already shows them. What it hides is a name cut in two, and where a
 * file begins that is a container of its own.
 */
import { hasMagic } from '../plausible.ts'
import type { Pass } from '../view.ts'

const block = 512

export const tar: Pass = {
  name: 'tar',
  container: true,
  run: ({ bytes, text }, sink) => {
    if (bytes.length < block || text.slice(257, 262) !== 'ustar') return
    const names: string[] = []
    let entries = 0
    for (let at = 0; at + block <= bytes.length; ) {
      if (text.slice(at + 257, at + 262) !== 'ustar') break
      if (++entries > sink.limits.entries) {
        sink.incomplete('limit:entries')
        break
      }
      const prefix = field(text, at + 345, 155)
      const name = prefix === '' ? field(text, at, 100) : `${prefix}/${field(text, at, 100)}`
      if (prefix !== '') names.push(name)
      const size = Number.parseInt(field(text, at + 124, 12).trim() || '0', 8) || 0
      const start = at + block
      const data = bytes.subarray(start, start + size)
      if (hasMagic(data)) sink.emit({ bytes: data, at: (offset) => start + offset, entry: name, guessed: false })
      at = start + Math.ceil(size / block) * block
    }
    if (names.length > 0) sink.emit({ bytes: Buffer.from(names.join('\n'), 'latin1'), at: () => 0, guessed: false })
  },
}

function field(text: string, from: number, length: number): string {
  const end = text.indexOf('\0', from)
  return text.slice(from, end < 0 ? from + length : Math.min(end, from + length))
}
