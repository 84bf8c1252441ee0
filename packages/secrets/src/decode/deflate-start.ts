/** Whether bytes could begin a deflate stream (RFC 1951), told from the first block's header at a fraction of an attempt. */

/** The order in which the lengths of the code-length codes are stored (RFC 1951, 3.2.7). */
const lengthOrder = 19

export function isDeflateStart(bytes: Uint8Array, at: number): boolean {
  const header = bytes[at] ?? 0
  switch ((header >> 1) & 3) {
    case 0:
      return isStoredBlock(bytes, at)
    case 1:
      return true
    case 2:
      return isDynamicBlock(bytes, at)
    default:
      return false
  }
}

/** The length stands there twice, once inverted. */
function isStoredBlock(bytes: Uint8Array, at: number): boolean {
  return (
    (bytes[at + 1] ?? 0) === (~(bytes[at + 3] ?? 0) & 0xff) && (bytes[at + 2] ?? 0) === (~(bytes[at + 4] ?? 0) & 0xff)
  )
}

/** The code-length codes must fill their space exactly: of random bytes, one in a hundred does. */
function isDynamicBlock(bytes: Uint8Array, at: number): boolean {
  let bit = at * 8 + 3
  const read = (count: number): number => {
    let value = 0
    for (let i = 0; i < count; i++, bit++) value |= (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1) << i
    return value
  }
  if (read(5) > 29 || read(5) > 29) return false
  const count = Math.min(lengthOrder, read(4) + 4)
  let space = 0
  for (let i = 0; i < count; i++) {
    const length = read(3)
    if (length > 0) space += 128 >> length
  }
  return space === 128
}
