/** The ways in which a secret could be wrapped, each with the passes that are needed to see it. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { pdf, png, tar, zip } from './archives.ts'
import { gitPatch } from './git-patch.ts'
import { characters, type Random } from './template.ts'

export interface Wrapping {
  readonly name: string
  /** Taking any of them away must hide the secret. */
  readonly needs: readonly string[]
  readonly file?: string
  readonly wrap: (secret: string, random: Random) => Buffer
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const line = (secret: string): string => `export SERVICE=${secret}\n`
const wrapAt = (text: string, width: number): string => text.match(new RegExp(`.{1,${width}}`, 'g'))?.join('\n') ?? ''
const pairs = (secret: string): string[] => Buffer.from(secret).toString('hex').match(/../g) ?? []
const noise = (random: Random, count: number): Buffer =>
  Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)))

function base32(text: string): string {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  return (bits.match(/.{1,5}/g) ?? []).map((five) => letters[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (c) =>
    String.fromCharCode((c <= 'Z' ? 90 : 122) >= c.charCodeAt(0) + 13 ? c.charCodeAt(0) + 13 : c.charCodeAt(0) - 13),
  )
}

function xxd(text: string): string {
  const rows: string[] = []
  const data = Buffer.from(text)
  for (let at = 0; at < data.length; at += 16) {
    const row = data.subarray(at, at + 16)
    const groups =
      row
        .toString('hex')
        .match(/.{1,4}/g)
        ?.join(' ') ?? ''
    rows.push(
      `${at.toString(16).padStart(8, '0')}: ${groups.padEnd(39)}  ${row.toString('latin1').replace(/[^ -~]/g, '.')}`,
    )
  }
  return rows.join('\n')
}

/** Halves with something between; the cut is past the beginning of the token. */
function cut(secret: string, glue: string): string {
  const at = Math.floor(secret.length / 2)
  return secret.slice(0, at) + glue + secret.slice(at)
}

export const wrappings: readonly Wrapping[] = [
  { name: 'plain', needs: [], wrap: (secret) => bytes(line(secret)) },
  { name: 'base64', needs: ['base64'], wrap: (secret) => bytes(`x=${Buffer.from(line(secret)).toString('base64')}`) },
  {
    name: 'base64url',
    needs: ['base64'],
    wrap: (secret) => bytes(`x=${Buffer.from(`é${secret}`).toString('base64url')}`),
  },
  {
    name: 'base64-after-a-path',
    needs: ['base64'],
    wrap: (secret) => bytes(`abc/${Buffer.from(line(secret)).toString('base64')}`),
  },
  {
    name: 'base64-lines',
    needs: ['base64'],
    wrap: (secret) =>
      bytes(
        `# ${wrapAt(Buffer.from(`some words before it, ${line(secret)}`).toString('base64'), 60).replaceAll('\n', '\n# ')}\n`,
      ),
  },
  {
    name: 'base64-thrice',
    needs: ['base64'],
    wrap: (secret) => bytes([1, 2, 3].reduce((text) => Buffer.from(text).toString('base64'), line(secret))),
  },
  { name: 'base32', needs: ['base32'], wrap: (secret) => bytes(`x = "${base32(line(secret))}"`) },
  { name: 'hex', needs: ['hex'], wrap: (secret) => bytes(`x = "${Buffer.from(line(secret)).toString('hex')}"`) },
  { name: 'hex-with-colons', needs: ['number-list'], wrap: (secret) => bytes(`${pairs(line(secret)).join(':')}\n`) },
  {
    name: 'byte-list',
    needs: ['number-list'],
    wrap: (secret) =>
      bytes(
        `[${pairs(line(secret))
          .map((pair) => `0x${pair}`)
          .join(', ')}]`,
      ),
  },
  {
    name: 'character-codes',
    needs: ['number-list'],
    wrap: (secret) => bytes(`String.fromCharCode(${[...Buffer.from(secret)].join(',')})`),
  },
  { name: 'xxd', needs: ['hex-dump'], wrap: (secret) => bytes(xxd(`some text to start with, ${line(secret)}`)) },
  {
    name: 'percent',
    needs: ['percent'],
    wrap: (secret) =>
      bytes(
        `?k=${pairs(secret)
          .map((pair) => `%${pair}`)
          .join('')}`,
      ),
  },
  {
    name: 'percent-dashes',
    needs: ['percent'],
    wrap: (secret) => bytes(`?k=${secret.replace(/[-_]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`),
  },
  {
    name: 'unicode-escapes',
    needs: ['backslash'],
    wrap: (secret) =>
      bytes(
        `"${pairs(secret)
          .map((pair) => `\\u00${pair}`)
          .join('')}"`,
      ),
  },
  {
    name: 'hex-escapes',
    needs: ['backslash'],
    wrap: (secret) =>
      bytes(
        `"${pairs(secret)
          .map((pair) => `\\x${pair}`)
          .join('')}"`,
      ),
  },
  {
    name: 'octal-escapes',
    needs: ['backslash'],
    wrap: (secret) =>
      bytes(`'${[...Buffer.from(secret)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}'`),
  },
  {
    name: 'json-in-json',
    needs: ['backslash'],
    wrap: (secret) =>
      bytes(
        JSON.stringify(
          JSON.stringify({
            text: `${secret.slice(0, 2)}\\u00${(secret.charCodeAt(2)).toString(16)}${secret.slice(3)}`,
          }),
        ),
      ),
  },
  {
    name: 'html-entities',
    needs: ['html-entity'],
    wrap: (secret) => bytes(`<p>${secret.replace(/[-_]/g, (c) => `&#${c.charCodeAt(0)};`)}</p>`),
  },
  {
    name: 'quoted-printable',
    needs: ['quoted-printable'],
    wrap: (secret) => bytes(`K=3D${secret.replace(/_/g, '=5F').replace(/(.{30})/, '$1=\n')}`),
  },
  { name: 'utf-16le', needs: ['utf-16'], wrap: (secret) => Buffer.from(line(secret), 'utf16le') },
  { name: 'utf-16be', needs: ['utf-16'], wrap: (secret) => Buffer.from(line(secret), 'utf16le').swap16() },
  {
    name: 'utf-16-odd',
    needs: ['utf-16'],
    wrap: (secret) => Buffer.concat([Buffer.from([7]), Buffer.from(line(secret), 'utf16le')]),
  },
  {
    name: 'utf-32',
    needs: ['utf-16'],
    wrap: (secret) => Buffer.from([...Buffer.from(line(secret))].flatMap((byte) => [byte, 0, 0, 0])),
  },
  { name: 'gzip', needs: ['gzip'], wrap: (secret) => gzipSync(line(secret)) },
  {
    name: 'gzip-after-gzip',
    needs: ['gzip'],
    wrap: (secret) => Buffer.concat([gzipSync('nothing\n'), gzipSync(line(secret)), bytes('trailing')]),
  },
  {
    name: 'gzip-inside-binary',
    needs: ['gzip'],
    wrap: (secret, random) => Buffer.concat([noise(random, 300), gzipSync(line(secret)), noise(random, 300)]),
  },
  {
    name: 'gzip-damaged',
    needs: ['gzip'],
    wrap: (secret, random) =>
      Buffer.concat([
        gzipSync(Buffer.concat([bytes(line(secret)), bytes(characters(random, 'n', 20_000))])).subarray(0, 9000),
        noise(random, 900),
      ]),
  },
  { name: 'zlib', needs: ['zlib'], wrap: (secret) => deflateSync(line(secret)) },
  { name: 'zstd', needs: ['zstd'], wrap: (secret) => zstdCompressSync(Buffer.from(line(secret).repeat(3))) },
  { name: 'brotli', needs: ['brotli'], file: 'a.js.br', wrap: (secret) => brotliCompressSync(line(secret)) },
  { name: 'zip', needs: ['zip'], wrap: (secret) => zip([{ name: 'a/.env', content: bytes(line(secret)) }]) },
  {
    name: 'zip-with-prefix',
    needs: ['zip'],
    wrap: (secret) => Buffer.concat([bytes('#!/bin/sh\nexit\n'), zip([{ name: 'a', content: bytes(line(secret)) }])]),
  },
  {
    name: 'zip-without-directory',
    needs: ['zip'],
    wrap: (secret) => zip([{ name: 'a', content: bytes(line(secret)) }]).subarray(0, -40),
  },
  { name: 'tar-of-gzip', needs: ['gzip'], wrap: (secret) => tar([{ name: 'x.gz', content: gzipSync(line(secret)) }]) },
  {
    name: 'first-of-two-zips-in-a-tar',
    needs: ['tar', 'zip'],
    wrap: (secret) =>
      tar([
        { name: 'a.zip', content: zip([{ name: 'a', content: bytes(line(secret)) }]) },
        { name: 'b.zip', content: zip([{ name: 'b', content: bytes('nothing') }]) },
      ]),
  },
  {
    name: 'zip-in-tar-in-gzip',
    needs: ['zip', 'gzip'],
    wrap: (secret) => gzipSync(tar([{ name: 'x.zip', content: zip([{ name: 'a', content: bytes(line(secret)) }]) }])),
  },
  {
    name: 'base64-of-gzip',
    needs: ['base64', 'gzip'],
    wrap: (secret) => bytes(`x: "${gzipSync(line(secret)).toString('base64')}"`),
  },
  { name: 'png-text', needs: ['zlib'], wrap: (secret) => png(`token ${secret}`) },
  { name: 'pdf', needs: ['zlib'], wrap: (secret) => pdf(`token ${secret}`) },
  {
    name: 'docx-runs',
    needs: ['zip', 'markup-removed'],
    wrap: (secret) =>
      zip([
        {
          name: 'word/document.xml',
          content: bytes(`<w:p><w:r><w:t>${cut(secret, '</w:t></w:r><w:r><w:t>')}</w:t></w:r></w:p>`),
        },
      ]),
  },
  { name: 'concatenation', needs: ['joined'], wrap: (secret) => bytes(`k = "${cut(secret, '" +\n      "')}"`) },
  {
    name: 'list-of-parts',
    needs: ['joined'],
    wrap: (secret) => bytes(`['${secret.slice(0, 3)}', '${secret.slice(3, 20)}', '${secret.slice(20)}'].join('')`),
  },
  {
    name: 'cut-in-the-beginning',
    needs: ['joined'],
    wrap: (secret) => bytes(`k = '${secret.slice(0, 2)}' '${secret.slice(2)}'`),
  },
  { name: 'wrapped-lines', needs: ['joined'], wrap: (secret) => bytes(`text ${cut(secret, '\n')} goes on`) },
  { name: 'continued-line', needs: ['joined'], wrap: (secret) => bytes(`curl -H ${cut(secret, '\\\n')} x`) },
  { name: 'spaced-letters', needs: ['joined'], wrap: (secret) => bytes(`k = ${[...secret].join(' ')}\n`) },
  {
    name: 'terminal-colours',
    needs: ['unseen-removed'],
    wrap: (secret) => bytes(`\x1b[32m${cut(secret, '\x1b[0m\x1b[31m')}\x1b[0m`),
  },
  { name: 'zero-width', needs: ['unseen-removed'], wrap: (secret) => Buffer.from(`k = "${cut(secret, '\u200b')}"`) },
  { name: 'reversed', needs: ['reversed'], wrap: (secret) => bytes(`k = "${[...secret].toReversed().join('')}"`) },
  { name: 'rot13', needs: ['rot13'], wrap: (secret) => bytes(`k = "${rot13(secret)}"`) },
  {
    name: 'git-literal',
    needs: ['git-binary'],
    wrap: (secret, random) =>
      gitPatch('a.bin', null, Buffer.concat([Buffer.alloc(9), bytes(line(secret)), noise(random, 400)])),
  },
  {
    name: 'git-delta',
    needs: ['git-binary'],
    wrap: (secret, random) => {
      const old = noise(random, 9000)
      return gitPatch('a.bin', old, Buffer.concat([old.subarray(0, 4000), bytes(line(secret)), old.subarray(4000)]))
    },
  },
  {
    name: 'patch-added-lines',
    needs: ['patch'],
    wrap: (secret) =>
      gitPatch(
        'a.txt',
        null,
        bytes(`${wrapAt(Buffer.from(`some words before it, ${line(secret)}`).toString('base64'), 60)}\n`),
      ),
  },
  {
    name: 'kubernetes-secret',
    needs: ['kubernetes-secret'],
    wrap: (_, random) =>
      bytes(
        `apiVersion: v1\nkind: Secret\ndata:\n  value: ${Buffer.from(`${characters(random, 'n', 18)}4xQ7`).toString('base64')}\n`,
      ),
  },
]
