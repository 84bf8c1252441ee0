import { describe, expect, test } from 'vitest'
import { maxLineBytes, readRecords } from './record-lines.ts'

async function read(...chunks: (Buffer | string)[]) {
  const records = []
  async function* source() {
    yield* chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
  }
  for await (const { record } of readRecords(source())) records.push(record)
  return records
}

describe('reading records', () => {
  test('a stream cut into single bytes reads the same', async () => {
    const text = '\ufeff{"kind":"a","t":"ü€𝄞\\u2028"}\r\n\n{"kind":"b","t":"x\u2028y"}\n{"kind":"c"}'
    const bytes = Buffer.from(text)
    const single = Array.from(bytes, (byte) => Buffer.from([byte]))
    expect(await read(...single)).toEqual(await read(bytes))
    expect((await read(bytes)).map(({ kind }) => kind)).toEqual(['a', 'b', 'c'])
  })

  test('a lone CR inside a line does not end it', async () => {
    await expect(read('{"kind":"a"}\r{"kind":"b"}\n')).rejects.toThrow('line 1: not JSON')
    expect(await read('{"kind":\r"a"}\n')).toEqual([{ kind: 'a' }])
  })

  test.each([
    ['null', 'line 2: not a record'],
    ['[1]', 'line 2: not a record'],
    ['7', 'line 2: not a record'],
    ['{"kind":7}', 'line 2: not a record'],
    ['{"a":1', 'line 2: not JSON'],
  ])('a line %s is an error that names its line, after the good lines before it', async (line, message) => {
    const seen: unknown[] = []
    async function* source() {
      yield Buffer.from(`{"kind":"a"}\n${line}\n{"kind":"b"}\n`)
    }
    const reading = (async () => {
      for await (const { record } of readRecords(source())) seen.push(record)
    })()
    await expect(reading).rejects.toThrow(message)
    expect(seen).toEqual([{ kind: 'a' }])
  })

  test('a line over the bound is refused before it is held whole', async () => {
    let given = 0
    async function* endless() {
      while (true) {
        given += 1024 * 1024
        yield Buffer.alloc(1024 * 1024, 0x61)
      }
    }
    const reading = (async () => {
      for await (const _ of readRecords(endless()));
    })()
    await expect(reading).rejects.toThrow('longer than')
    expect(given).toBeLessThanOrEqual(maxLineBytes + 2 * 1024 * 1024)
  })
})
