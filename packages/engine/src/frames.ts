import type { Readable } from 'node:stream'

export interface Frame {
  from: 'stdout' | 'stderr'
  data: Buffer
}

/**
 * Takes apart the stream in which an engine sends a container's stdout and stderr: 8 bytes of head (kind, three zeroes,
 * length as big-endian 32 bits), then the data. Reads no faster than the frames are taken. dockerode's own splitter
 * ignores back-pressure and recurses once a frame, so that a program that writes single bytes overflows the stack.
 */
export async function* frames(stream: Readable): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let at = 0
    while (rest.length - at >= headBytes) {
      const end = at + headBytes + rest.readUInt32BE(at + 4)
      if (end > rest.length) break
      yield { from: rest[at] === 2 ? 'stderr' : 'stdout', data: rest.subarray(at + headBytes, end) }
      at = end
    }
    rest = rest.subarray(at)
  }
}

const headBytes = 8
