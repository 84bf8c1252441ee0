import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { scanStream } from '../src/scan-stream.ts'
import { characters, fill, seeded } from './template.ts'

const secret = fill('sk-ant-oat01-<w93>AA', seeded(21))
const kibibyte = 1024

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('scanStream', () => {
  it('finds one token at every offset around the border of two pieces', async () => {
    const piece = 4 * kibibyte
    const border = piece + 64 * kibibyte
    const text = 'word word word word word word word word word word word word word\n'.repeat(1200)
    for (let offset = -secret.length - 2; offset <= 2; offset++) {
      const at = border + offset
      const bytes = Buffer.from(`${text.slice(0, at)} ${secret} ${text.slice(at)}`)
      const { findings } = await scanStream(inChunks(bytes, 9000), { surface: 'log', file: 'a', pieceBytes: piece })
      expect(
        findings.map((finding) => finding.secret),
        `offset ${offset}`,
      ).toEqual([secret])
      expect(findings[0]?.line).toBe(bytes.subarray(0, at).toString().split('\n').length)
    }
  })

  it('looks at every byte about once, however many pieces there are', async () => {
    const bytes = Buffer.from('some line of a log, as they are\n'.repeat(60_000))
    const result = await scanStream(inChunks(bytes, 65_536), { surface: 'log', file: 'a', pieceBytes: 512 * kibibyte })
    expect(result.bytes).toBe(bytes.length)
    expect(result.work.bytes).toBeLessThan(bytes.length * 1.3)
  })

  it('says so when a container is larger than a piece', async () => {
    const bytes = gzipSync(characters(seeded(1), 'n', 300_000))
    const { incomplete } = await scanStream(inChunks(bytes, 8192), {
      surface: 'file',
      file: 'a',
      pieceBytes: 64 * kibibyte,
    })
    expect(incomplete).toContainEqual({ file: 'a', reason: 'limit:surface-bytes' })
  })
})
