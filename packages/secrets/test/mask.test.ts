import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createMaskStream, maskText, printable, printableLines, safeText } from '../src/index.ts'
import { fill, seeded } from './template.ts'

const secret = fill('sk-ant-oat01-<w93>AA', seeded(11))
const known = 'a-credential-that-no-rule-knows-about'

/** No piece of 16 characters of the secret is left. */
function expectHidden(text: string, hidden = secret): void {
  for (let at = 13; at + 16 <= hidden.length; at++) expect(text).not.toContain(hidden.slice(at, at + 16))
}

describe('maskText', () => {
  it('leaves the public beginning and the length', () => {
    expect(maskText(`token ${secret} is here`)).toBe('token sk-ant-oat01-…(108) is here')
    expect(maskText(fill('a ghp_<crc30> b', seeded(1)))).toBe('a ghp_…(40) b')
  })

  it('leaves other text as it is, byte for byte', () => {
    for (const text of ['', 'naïve ☃ text\r\n\t\x1b[1mbold\x1b[0m', 'sk-ant-oat01-…(108)', 'password: hunter2']) {
      expect(maskText(text, { exact: [known] })).toBe(text)
    }
  })

  it('masks through terminal commands, zero-width characters and wrapped lines', () => {
    for (const glue of ['\x1b[31m', '\x1b]8;;http://a\x07', '\u200b', '\n', '\r\n', '\\\n', '\n+']) {
      expectHidden(maskText(`x ${secret.slice(0, 40)}${glue}${secret.slice(40)} y`).replaceAll(glue, ''))
    }
  })

  it('masks a private key', () => {
    const key = fill('-----BEGIN PRIVATE KEY-----\n<pem>\n-----END PRIVATE KEY-----', seeded(2))
    expect(maskText(`a\n${key}\nb`)).toMatch(/^a\n…\(\d+\)b$/)
  })

  it('masks a credential by value in every encoding and in pieces', () => {
    const bytes = Buffer.from(known)
    const forms = [
      known,
      known.slice(5, 25),
      bytes.toString('base64'),
      `x${bytes.toString('hex')}`,
      encodeURIComponent(known),
    ]
    for (const form of forms) expect(maskText(`<${form}>`, { exact: [known] })).toMatch(/^<[^-]{0,4}…\(\d+\).{0,3}>$/)
  })
})

describe('createMaskStream', () => {
  async function through(chunks: readonly (string | Buffer)[]): Promise<string> {
    const stream = createMaskStream({ exact: [known] })
    for (const chunk of chunks) stream.write(chunk)
    stream.end()
    return (await buffer(stream)).toString()
  }

  it('gives what maskText gives, wherever the text is cut', async () => {
    const text = `héllo ${secret.slice(0, 30)}\x1b[31m${secret.slice(30)} wörld\n${known} ${fill('ghp_<crc30>', seeded(3))},\nend`
    const bytes = Buffer.from(text)
    const whole = maskText(text, { exact: [known] })
    for (let at = 0; at <= bytes.length; at++) {
      expect(await through([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toBe(whole)
    }
    expect(await through([...bytes].map((byte) => Buffer.from([byte])))).toBe(whole)
  })

  it('hands an ordinary line on at once', async () => {
    const stream = createMaskStream()
    stream.write('building the parser\n')
    expect(stream.read()?.toString()).toBe('building the parser\n')
    stream.write('progress 10%')
    expect(stream.read()?.toString()).toBe('progress 10%')
  })
})

describe('printable', () => {
  it('shows what a terminal would obey or hide', () => {
    expect(printable('a\x1b]52;c;Zm9v\x07b')).toBe('a\\x1b]52;c;Zm9v\\x07b')
    expect(printable('one\ntwo\r\tthree')).toBe('one\\ntwo\\r\\tthree')
    expect(printable('\u202eevil\u200b\u2028\ufeff\x9b1m')).toBe('\\u202eevil\\u200b\\u2028\\ufeff\\x9b1m')
    expect(printable('\ud800x')).toBe('\\ud800x')
    expect(printable('plain ünïcode ☃ 😀')).toBe('plain ünïcode ☃ 😀')
  })

  it('keeps the lines of a longer text', () => {
    expect(printableLines('a\n\tb\x1b[0m')).toBe('a\n\tb\\x1b[0m')
  })

  it('after masking, so that no command can hide a secret from the mask', () => {
    expectHidden(safeText(`${secret.slice(0, 20)}\x1b[0m${secret.slice(20)}`))
  })
})
