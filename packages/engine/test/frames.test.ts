import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { frames } from '../src/frames.ts'

function frame(kind: number, data: string): Buffer {
  const head = Buffer.alloc(8)
  head[0] = kind
  head.writeUInt32BE(Buffer.byteLength(data), 4)
  return Buffer.concat([head, Buffer.from(data)])
}

async function taken(chunks: Iterable<Buffer>): Promise<string[]> {
  const seen: string[] = []
  for await (const { from, data } of frames(Readable.from(chunks))) seen.push(`${from} ${data}`)
  return seen
}

it('takes frames apart wherever the chunks are cut', async () => {
  const whole = Buffer.concat([frame(1, 'out'), frame(2, 'err'), frame(1, ''), frame(1, 'ü\n')])
  const expected = ['stdout out', 'stderr err', 'stdout ', 'stdout ü\n']
  for (const size of [1, 3, 8, 9, whole.length]) {
    const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    )
    expect(await taken(chunks)).toEqual(expected)
  }
})

it('takes a hundred thousand tiny frames in one chunk', async () => {
  const many = Buffer.concat(Array.from({ length: 100_000 }, () => frame(1, 'x')))
  expect((await taken([many])).length).toBe(100_000)
})

it('leaves out a frame that the end cuts off', async () => {
  expect(await taken([frame(1, 'whole'), frame(1, 'cut').subarray(0, 9)])).toEqual(['stdout whole'])
})

it('reads no faster than frames are taken', async () => {
  let made = 0
  const source = new Readable({
    highWaterMark: 1,
    read() {
      made += 1
      this.push(frame(1, 'x'.repeat(1000)))
    },
  })
  for await (const _ of frames(source)) {
    if (made > 0) break
  }
  expect(made).toBeLessThan(10)
})
