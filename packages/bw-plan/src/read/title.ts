import { splitCode } from './code-spans.ts'
import { isKeyLine } from './key-line.ts'

/** The first paragraph of an item up to its first key line (`Files: …`), its lines joined. Source text, not yet a title. */
export function firstSentence(paragraph: string): string {
  const lines = paragraph.split('\n')
  const end = lines.findIndex((line, at) => at > 0 && isKeyLine(line))
  return (end === -1 ? lines : lines.slice(0, end)).map((line) => line.trim()).join(' ')
}

/**
 * The part of that which names the item: where the whole is long and a line begins a sentence of its own (with a capital or
 * with code), the lines before it.
 */
export function headline(paragraph: string): string {
  const whole = firstSentence(paragraph)
  if (whole.length <= 100) return whole
  const lines = paragraph.split('\n')
  const end = lines.findIndex(
    (line, at) => at > 0 && /^\s*[\p{Lu}`]/u.test(line) && !/[,(]\s*$/.test(lines[at - 1] ?? ''),
  )
  return end === -1 ? whole : firstSentence(lines.slice(0, end).join('\n'))
}

/** Source text as a title: code ticks, bold and italic marks, links, footnotes and comments taken off, spaces made single. */
export function cleanTitle(source: string): string {
  const plain = splitCode(source.replace(/<!--.*?(?:-->|$)/g, ' '))
    .map(({ text, isCode }) => (isCode ? text : unmark(text)))
    .join('')
  return plain.replace(/\s+/g, ' ').trim()
}

/** True when the whole text is struck out. */
export function isStruck(source: string): boolean {
  return /^~~[^~].*~~$/s.test(source.trim())
}

function unmark(text: string): string {
  return text
    .replace(/!?\[([^[\]]{0,300})\]\([^)\s]{0,500}(?:\s+"[^"]{0,200}")?\)/g, '$1')
    .replace(/\[\^[^\]]{1,40}\]/g, '')
    .replace(/(^|[\s("'>\]])(\*\*|__)(?=[^\s*/_])/g, '$1')
    .replace(/([^\s/*])(?:\*\*)(?=$|[\s).,:;!?"'<\]])/g, '$1')
    .replace(/([^\s/_])__(?=$|[\s),:;!?"'<\]])/g, '$1')
    .replace(/(^|[\s(])[*_]([^\s*_/.][^*_]*[^\s*_/]|[^\s*_/.])[*_](?=$|[\s).,:;!?])/g, '$1$2')
    .replace(/~~/g, '')
    .replace(/\\([[\]()*_`#~\\|<>-])/g, '$1')
}
