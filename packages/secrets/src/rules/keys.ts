/** Private keys and self-describing tokens, whoever issued them. */
import { createHmac } from 'node:crypto'
import { isPlaceholder, isRandom, wordShare } from '../judge.ts'
import { named, type Rule, token } from './rule.ts'

const word = 'A-Za-z0-9_\\-'

/** Characters in which a key must begin, after what it says of its version and encryption. */
const nearHeader = 300

/** A header alone is documentation: at least 32 characters of base64 must follow it within the block. */
const judgePem: Rule['judge'] = (secret) => {
  const body = secret
    .replace(/^-----BEGIN[^-]*-----/, '')
    .replace(/-----END[\s\S]*$/, '')
    .replace(/\\+[nrt]|\s|^(?:[A-Za-z-]+: .*)$/gm, '')
  const base64 = /[A-Za-z0-9+/]{32}/.exec(body.slice(0, nearHeader))?.[0]
  return base64 !== undefined && !isPlaceholder(base64) && !isWords(base64) ? 'format' : null
}

/** Code and lists of names read like base64 once their spaces are gone; random base64 has less than 3 capitals with p < 1e-4. */
function isWords(base64: string): boolean {
  return wordShare(base64) >= 0.5 || (base64.match(/[A-Z]/g) ?? []).length < 3
}

const judgeJwt: Rule['judge'] = (secret) => {
  const [header = '', payload = '', signature = ''] = secret.split('.')
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, 'base64url').toString())
    if (typeof parsed !== 'object' || parsed === null || !('alg' in parsed || 'enc' in parsed)) return null
  } catch {
    return null
  }
  const claims = Buffer.from(payload, 'base64url').toString()
  // The specimen of jwt.io is in half of all documentation.
  if (/"(?:John Doe|Jane Doe)"/.test(claims) && claims.includes('1516239022')) return null
  if (isSignedWithExample(`${header}.${payload}`, signature)) return null
  return signature.length >= 20 && isRandom(signature) ? 'verified' : null
}

const exampleKeys = ['secret', 'your-256-bit-secret', 'key', 'secret-key', 'mysecret', 'shhhhh']

/** Whoever can read documentation can make such a token. */
function isSignedWithExample(signed: string, signature: string): boolean {
  return exampleKeys.some((key) => createHmac('sha256', key).update(signed).digest('base64url') === signature)
}

export const keyRules: readonly Rule[] = [
  {
    id: 'private-key',
    keywords: ['-----begin '],
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-(?!----)){32,12000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\\n|\n)?|(?:[^-]|-(?!----)){64,12000})/y,
    strong: true,
    judge: judgePem,
    yes: ['-----BEGIN RSA PRIVATE KEY-----\n<pem>\n-----END RSA PRIVATE KEY-----\n'],
    no: [
      's.startsWith("-----BEGIN RSA PRIVATE KEY-----")',
      '-----BEGIN PRIVATE KEY-----\\n...\\n-----END PRIVATE KEY-----',
      '-----BEGIN PUBLIC KEY-----\n<pem>\n-----END PUBLIC KEY-----',
    ],
  },
  {
    id: 'putty-private-key',
    keywords: ['private-lines: '],
    pattern: /Private-Lines: [0-9]{1,3}\r?\n(?<secret>[A-Za-z0-9+/=\r\n]{40,8000})/y,
    strong: true,
    judge: (secret) => (isPlaceholder(secret.slice(0, 64)) ? null : 'format'),
    yes: ['PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n<pem>\nPrivate-MAC: 1'],
    no: ['Private-Lines: 14\n'],
  },
  token(
    'age-key',
    'AGE-SECRET-KEY-1|AGE-SECRET-KEY-PQ-1',
    '[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}',
    'AGE-SECRET-KEY-1<age58>',
  ),
  named('wireguard-key', 'privatekey|presharedkey', '[A-Za-z0-9+/]{43}=', 'PrivateKey = <b43>=', {
    alphabet: 'A-Za-z0-9+/=',
  }),
  {
    id: 'json-web-token',
    keywords: ['eyj'],
    pattern: new RegExp(
      `(?<![${word}])(?<shown>eyJ)[${word}]{10,600}\\.eyJ[${word}]{10,8000}\\.[${word}]{20,700}(?![${word}])`,
      'y',
    ),
    strong: true,
    judge: judgeJwt,
    yes: ['Authorization: Bearer <jwt>'],
    no: ['eyJ<w40>.eyJ<w40>', 'eyJ<w40>.eyJ<w40>.<w43>'],
  },
  {
    id: 'json-web-key',
    keywords: ['"d"'],
    pattern: new RegExp(`"d"[ \\t]{0,4}:[ \\t]{0,4}"(?<secret>[${word}]{40,700})"`, 'y'),
    strong: false,
    judge: (secret, { text, start }) =>
      /"kty"/.test(text.slice(Math.max(0, start - 2000), start + 2000)) && isRandom(secret) ? 'format' : null,
    yes: ['{"kty":"EC","d":"<w43>"}'],
    no: ['{"d":"<w43>"}'],
  },
  token('extended-private-key', 'xprv|zprv|yprv', '[1-9A-HJ-NP-Za-km-z]{107}', 'xprv<base58_107>', { bounded: true }),
]
