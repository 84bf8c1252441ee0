import { Readable, Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createMaskStream, printableLines } from '@buildwave/secrets'

/**
 * Writes text of a builder: secrets masked, every character that a terminal would obey or hide as an escape; line ends and
 * tabs stay. The chunks may be cut anywhere. A reader that goes away ends it without an error.
 */
export async function printSafely(
  chunks: AsyncIterable<Buffer>,
  { stdout, signal }: { stdout: Writable; signal: AbortSignal },
): Promise<void> {
  try {
    await pipeline(Readable.from(chunks), createMaskStream(), escaping(), stdout, { end: false, signal })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

/** Escapes after masking, since an escape in the middle of a secret would hide it from the masks. */
function escaping(): Transform {
  const decoder = new StringDecoder('utf8')
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, printableLines(decoder.write(chunk))),
    flush: (done) => done(null, printableLines(decoder.end())),
  })
}
