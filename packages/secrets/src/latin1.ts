/** The bytes as text with one character each, so that offsets in the text are offsets in the bytes. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
