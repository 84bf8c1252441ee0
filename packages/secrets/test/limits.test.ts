import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { scanBytes } from '../src/scan.ts'
import { zip } from './archives.ts'
import { characters, fill, seeded } from './template.ts'

const secret = fill('sk-ant-oat01-<w93>AA', seeded(9))
const mebibyte = 1024 * 1024

function scan(bytes: Buffer, limits = {}) {
  return scanBytes(bytes, { surface: 'file', file: 'a', limits })
}

function reasons(bytes: Buffer, limits = {}): string[] {
  return [...new Set(scan(bytes, limits).incomplete.map(({ reason }) => reason))]
}

function nest(content: Buffer, depth: number): Buffer {
  return depth === 0 ? content : nest(gzipSync(content), depth - 1)
}

describe('what cannot be opened', () => {
  it.each([
    ['opaque:xz', '\xfd7zXZ\0rest'],
    ['opaque:bzip2', 'BZh91AY&SYrest'],
    ['opaque:7z', "7z\xbc\xaf'\x1crest"],
    ['opaque:rar', 'Rar!\x1a\x07rest'],
    ['encrypted:openssl', 'Salted__rest'],
    ['encrypted:pgp', '-----BEGIN PGP MESSAGE-----\n'],
    ['encrypted:ansible-vault', '$ANSIBLE_VAULT;1.1;AES256\n'],
    ['lfs-pointer', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n'],
    ['pdf:encrypted', '%PDF-1.4\ntrailer <</Encrypt 5 0 R>>'],
  ])('is named: %s', (reason, content) => {
    expect(reasons(Buffer.from(content, 'latin1'))).toEqual([reason])
  })

  it('is named with the entry of the archive, whose other entries are still read', () => {
    const archive = zip([
      { name: 'locked', content: Buffer.from('x'), encrypted: true },
      { name: 'odd', content: Buffer.from('x'), method: 12 },
      { name: 'open', content: Buffer.from(secret) },
    ])
    const { findings, incomplete } = scan(archive)
    expect(incomplete).toEqual([
      { file: 'a!locked', reason: 'zip:encrypted' },
      { file: 'a!odd', reason: 'zip:method-12' },
    ])
    expect(findings.map(({ file }) => file)).toEqual(['a!open'])
  })

  it('is named when a file is damaged, and what came out before is still read', () => {
    const whole = gzipSync(Buffer.from(`${secret}\n${characters(seeded(1), 'n', 9000)}`))
    const damaged = Buffer.from(whole)
    damaged.fill(0, damaged.length - 8, damaged.length - 4)
    for (const [bytes, reason] of [
      [damaged, 'gzip:corrupt'],
      [whole.subarray(0, 5000), 'gzip:truncated'],
    ] as const) {
      const { findings, incomplete } = scan(bytes)
      expect(incomplete).toEqual([{ file: 'a', reason }])
      expect(findings).toHaveLength(1)
    }
  })

  it('is not claimed of bytes that were only guessed to be an archive', () => {
    expect(
      reasons(
        Buffer.from(
          `x = "${Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]).toString('base64')}"`,
        ),
      ),
    ).toEqual([])
    expect(reasons(Buffer.from('const header = "PK\\x03\\x04" // begins a zip\n'))).toEqual([])
  })
})

describe('limits', () => {
  it('end nested archives at the depth, and say so', () => {
    expect(reasons(nest(Buffer.from('x'), 40))).toEqual(['limit:depth'])
    expect(reasons(nest(Buffer.from(secret), 8))).toEqual([])
    expect(scan(nest(Buffer.from(secret), 8)).findings).toHaveLength(1)
  })

  it('end a bomb after the permitted output, whose beginning is still read', () => {
    const bomb = gzipSync(Buffer.concat([Buffer.from(`${secret}\n`), Buffer.alloc(200 * mebibyte)]))
    const { findings, incomplete, work } = scan(bomb)
    expect(incomplete).toEqual([{ file: 'a', reason: 'limit:ratio' }])
    expect(findings).toHaveLength(1)
    expect(work.bytes).toBeLessThan(70 * mebibyte)
  })

  it('hold for the sum of many entries', () => {
    const block = Buffer.alloc(mebibyte, 'abcdefghijklmnopqrstuvwxyz \n')
    const entries = Array.from({ length: 20 }, (_, n) => ({
      name: `${n}`,
      content: Buffer.concat([Buffer.from(`${n}`), block]),
    }))
    const { incomplete, work } = scan(zip(entries), { decodedBytes: 5 * mebibyte, ratio: 1e6 })
    expect(incomplete.every(({ reason }) => reason === 'limit:decoded-bytes')).toBe(true)
    expect(incomplete.length).toBeGreaterThan(10)
    expect(work.bytes).toBeLessThan(8 * mebibyte)
  })

  it('hold for the number of entries and of views', () => {
    const entries = Array.from({ length: 30 }, (_, n) => ({ name: `${n}`, content: Buffer.from(`content ${n}`) }))
    expect(reasons(zip(entries), { entries: 10 })).toEqual(['limit:entries'])
    expect(reasons(zip(entries), { views: 10 })).toEqual(['limit:views'])
  })

  it('hold for one entry', () => {
    const bytes = gzipSync(Buffer.alloc(4 * mebibyte, deflateRawSync('random enough to keep the ratio low')))
    expect(reasons(bytes, { entryBytes: mebibyte, ratio: 1e6 })).toEqual(['limit:entry-bytes'])
  })
})
