import { Transform, type TransformCallback } from 'node:stream'

const stars = '[credential]'

/**
 * A stream that replaces every occurrence of `secret`, wherever chunks are cut. Only a tail that may be the beginning of
 * the secret waits for more; everything else goes on at once, so events stay as prompt as the API sends them.
 */
export function maskStream(secret: string): Transform {
  const needle = Buffer.from(secret)
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      const { clean, rest } = replace(Buffer.concat([held, chunk]), needle)
      held = rest
      done(null, clean.length > 0 ? clean : undefined)
    },
    flush(done: TransformCallback) {
      done(null, held.length > 0 ? held : undefined)
    },
  })
}

/** The same for a value that is there as a whole. */
export function maskText(text: string, secret: string): string {
  return text.replaceAll(secret, stars)
}

function replace(bytes: Buffer, needle: Buffer): { clean: Buffer; rest: Buffer } {
  const parts: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, from)) {
    parts.push(bytes.subarray(from, at), Buffer.from(stars))
    from = at + needle.length
  }
  const tail = bytes.subarray(from)
  const keep = tail.length - partialEnd(tail, needle)
  parts.push(tail.subarray(0, keep))
  return { clean: Buffer.concat(parts), rest: Buffer.from(tail.subarray(keep)) }
}

/** How many bytes at the end may be the beginning of the needle. */
function partialEnd(bytes: Buffer, needle: Buffer): number {
  for (let length = Math.min(needle.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(needle.subarray(0, length))) return length
  }
  return 0
}
