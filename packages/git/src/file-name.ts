/**
 * A file name is bytes in git and a string in our records. Names that are UTF-8 are themselves; every byte that is not
 * part of UTF-8 becomes the lone surrogate U+DC00 + byte, as Python's `surrogateescape` has it. JSON keeps it (as an
 * escape), globs match the rest of the name, and no two names become one.
 */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The string for the bytes of a name. */
export function decodeFileName(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return decodePieces(bytes)
  }
}

/** The bytes of a name; the inverse of `decodeFileName`. */
export function encodeFileName(name: string): Buffer {
  if (name.isWellFormed()) return Buffer.from(name, 'utf8')
  const pieces = Array.from(name, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(character, 'utf8')
  })
  return Buffer.concat(pieces)
}

function decodePieces(bytes: Uint8Array): string {
  let name = ''
  let at = 0
  while (at < bytes.length) {
    const character = characterAt(bytes, at)
    name += character ?? String.fromCharCode(0xdc00 + (bytes[at] ?? 0))
    at += character === null ? 1 : Buffer.byteLength(character)
  }
  return name
}

/** The UTF-8 character that starts at `at`, null when none does. */
function characterAt(bytes: Uint8Array, at: number): string | null {
  for (const length of [1, 2, 3, 4]) {
    if (at + length > bytes.length) return null
    try {
      return strict.decode(bytes.subarray(at, at + length))
    } catch {
      // A longer sequence may still be one character.
    }
  }
  return null
}
