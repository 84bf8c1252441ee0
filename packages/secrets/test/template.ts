/**
 * Makes credentials for tests at run time: `<n36>` is 36 random letters and digits, and so on. No whole credential stands
 * in the repository, and a seed makes a failure repeatable.
 */
import { tokenChecksum } from '../src/checksum.ts'

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const digit = '0123456789'

const alphabets: Readonly<Record<string, string>> = {
  n: lower + upper + digit,
  m: lower + upper,
  d: digit,
  h: `${digit}abcdef`,
  H: `${digit}ABCDEF`,
  a: lower + digit,
  A: upper + digit,
  w: `${lower + upper + digit}_-`,
  b: `${lower + upper + digit}+/`,
  t: `${upper}234567`,
  T: `${lower}234567`,
  age: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
  base58_: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
}

export type Random = () => number

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

export function pick<T>(random: Random, from: ArrayLike<T>): T {
  return from[Math.floor(random() * from.length)] as T
}

export function characters(random: Random, kind: string, count: number): string {
  const alphabet = alphabets[kind]
  if (alphabet === undefined) throw new Error(`no alphabet ${kind}`)
  for (;;) {
    const text = Array.from({ length: count }, () => pick(random, alphabet)).join('')
    // A draw that happens to lack a kind of character would test luck, not the rule.
    if (count < 16 || !/^[nwbaA]$/.test(kind) || (/[0-9]/.test(text) && /[A-Za-z]/.test(text))) return text
  }
}

/** The template with every `<...>` drawn anew. */
export function fill(template: string, random: Random): string {
  return template.replace(/<([a-zA-Z][a-zA-Z_0-9]*?)(\d*)>/g, (_, kind: string, count: string) => {
    const special = specials[kind]
    return special === undefined ? characters(random, kind, Number(count)) : special(random, Number(count))
  })
}

const specials: Readonly<Record<string, (random: Random, count: number) => string>> = {
  uuid: (random) => [8, 4, 4, 4, 12].map((count) => characters(random, 'h', count)).join('-'),
  crc: (random, count) => {
    const body = characters(random, 'n', count)
    return body + tokenChecksum(body)
  },
  words: () => 'this-is-a-fake-key-used-for-tests-only-replace-it-with-your-own-key-from-the-console-okAA',
  pem: (random) => Array.from({ length: 8 }, () => characters(random, 'b', 64)).join('\n'),
  jwt: (random) =>
    [
      JSON.stringify({ alg: 'HS256', typ: 'JWT' }),
      JSON.stringify({ sub: characters(random, 'h', 32), exp: 1_900_000_000 }),
    ]
      .map((part) => Buffer.from(part).toString('base64url'))
      .concat(characters(random, 'w', 43))
      .join('.'),
  pair: (random) => Buffer.from(`deploy:${characters(random, 'n', 20)}`).toString('base64'),
  snowflake: (random) => Buffer.from(`1${characters(random, 'd', 17)}`).toString('base64url'),
}
