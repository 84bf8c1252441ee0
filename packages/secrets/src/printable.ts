/**
 * Text that a builder could have written may hold terminal commands (CSI, OSC 52 writes the clipboard, OSC 8 hides a link's
 * target), line feeds that forge a second message, and direction marks that show other words than are there.
 */

/** C0 and C1 controls, DEL, soft hyphen, zero-width and direction marks, line separators, BOM, tags, lone surrogates. */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu

const shortForms: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** One line that is safe to print: every character that a terminal would obey or hide is shown as an escape. */
export function printable(text: string): string {
  return text.replace(unsafe, escapeCharacter)
}

/** As {@link printable}, but line feeds and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(unsafe, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  )
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code > 0xffff) return `\\u{${hex}}`
  return shortForms[character] ?? (code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`)
}
