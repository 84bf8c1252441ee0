import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { scanBytes } from '../src/scan.ts'
import { zip } from './archives.ts'
import { fill, seeded } from './template.ts'

const secret = fill('sk-ant-oat01-<w93>AA', seeded(5))
const other = fill('ghp_<crc30>', seeded(6))

function scan(content: string | Buffer, file = 'a') {
  return scanBytes(Buffer.from(content), { surface: 'file', file })
}

describe('a scan', () => {
  it('reports each secret once, for the shallowest view and with its line', () => {
    const text = `one\ntwo\nk = ${secret}\n${Buffer.from(secret).toString('base64')}\nend ${other}\n`
    const { findings } = scan(text)
    expect(findings.map(({ rule, line, via }) => ({ rule, line, via }))).toEqual([
      { rule: 'anthropic-token', line: 3, via: [] },
      { rule: 'github-token', line: 5, via: [] },
    ])
  })

  it('gives the line of the surface for what an encoding hid', () => {
    const text = `one\ntwo\n${Buffer.from(`key ${secret}`).toString('hex')}\n`
    expect(scan(text).findings[0]).toMatchObject({ line: 3, via: ['hex'] })
  })

  it('names the way through containers, and has no line there', () => {
    const inner = zip([{ name: 'b/.env', content: Buffer.from(`K=${secret}`) }])
    const [finding] = scan(gzipSync(inner), 'a.gz').findings
    expect(finding).toMatchObject({ file: 'a.gz!b/.env', via: ['gzip', 'zip'], line: null })
  })

  it('tells a checksum that holds from one that does not', () => {
    const bad = other.slice(0, -1) + (other.endsWith('a') ? 'b' : 'a')
    expect(scan(other).findings[0]?.confidence).toBe('verified')
    expect(scan(bad).findings[0]?.confidence).toBe('heuristic')
  })

  it('does not heed a comment in the scanned file that asks to be passed over', () => {
    for (const comment of [
      'gitleaks:allow',
      'trufflehog:ignore',
      'secretlint-disable-line',
      'pragma: allowlist secret',
    ]) {
      expect(scan(`k = "${secret}" # ${comment}`).findings).toHaveLength(1)
    }
  })

  it('finds a token glued to a word, and one followed by any other character', () => {
    expect(scan(`prefix${secret}`).findings[0]?.secret).toBe(secret)
    for (const next of [',', ')', ']', '>', '&', '\\', '"', '`', ':', '.', '|', '\t', '\0']) {
      expect(
        scan(`x=${secret}${next}y`).findings.map((finding) => finding.secret),
        JSON.stringify(next),
      ).toContain(secret)
    }
  })
})

describe('a value that is told by its name', () => {
  const value = fill('<n32>', seeded(7))
  const found = (text: string) => scan(text).findings.map((finding) => finding.secret)

  it('is found in the environment of a process, where zeros stand between', () => {
    expect(found(`HOME=/root\0DB_PASSWORD=${value}\0LANG=C\0`)).toEqual([value])
  })

  it('is found after a colon in text, and with a space in a program', () => {
    expect(found(`password:${value}\n`)).toEqual([value])
    expect(found(`\0\0password: ${value}\0\0`)).toEqual([value])
  })
})

describe('a private key', () => {
  const body = fill('<pem>', seeded(8)).split('\n')
  const [header, footer] = ['BEGIN', 'END'].map((word) => `-----${word} EC ${'PRIVATE'} KEY-----`)

  it.each([
    ['a file', [header, ...body, footer].join('\n')],
    [
      'a file whose header says how it is encrypted',
      [header, 'Proc-Type: 4,ENCRYPTED', '', ...body, footer].join('\n'),
    ],
    ['one string', `"${[header, ...body, footer].join('\\n')}"`],
    ['strings that are joined', [header, ...body, footer].map((line) => `'${line}\\n'`).join(' +\n  ')],
    ['a diff', [header, ...body, footer].map((line) => `+${line}`).join('\n')],
    ['a file that ends early', [header, ...body].join('\n')],
  ])('is found as %s', (_, text) => {
    expect(scan(text).findings.map(({ rule }) => rule)).toContain('private-key')
  })
})

describe('a credential known by value', () => {
  const value = 'correct-horse-battery-staple-nobody-would-call-this-random'
  const find = (text: string) =>
    scanBytes(Buffer.from(text), { surface: 'file', file: 'a', exact: [value] }).findings.map(({ rule }) => rule)

  it('is found whatever it looks like, also in a piece of 16 characters', () => {
    expect(find(`x ${value} y`)).toEqual(['known-credential'])
    expect(find(`x ${value.slice(11, 27)} y`)).toEqual(['known-credential'])
    expect(find(`x ${value.slice(11, 26)} y`)).toEqual([])
  })

  it('is found in a piece of 16 characters wherever it stands', () => {
    for (let from = 0; from + 16 <= value.length; from++) {
      for (let before = 0; before < 9; before++) {
        const text = `${' '.repeat(before)}${value.slice(from, from + 16)} and more text`
        expect(find(text), `from ${from} after ${before}`).toEqual(['known-credential'])
      }
    }
  })

  it('is found in each encoding, at each alignment', () => {
    for (let shift = 0; shift < 3; shift++) {
      expect(find(Buffer.from('z'.repeat(shift) + value).toString('base64'))).toContain('known-credential')
    }
    const bytes = Buffer.from(value)
    for (const text of [bytes.toString('hex'), [...value].toReversed().join(''), [...value].join('\0')]) {
      expect(find(text)).toContain('known-credential')
    }
  })
})
