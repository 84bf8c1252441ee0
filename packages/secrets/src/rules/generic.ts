/** Credentials without a shape of their own: told by where they stand, counted only when the value reads like chance. */
import { isInTable, isPlaceholder, isScrambled, isSpecimen, wordShare } from '../judge.ts'
import type { Rule } from './rule.ts'

/** A reference to a value, not a value: variables, templates, calls, paths into an object. */
const reference =
  /^(?:\$|%[A-Za-z(]|#?\{|<|\[|@|&|\*|process\.|os\.|env\.|secrets\.|vars\.|config\.)|\$\{|\{\{|\(|^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+$/

/** The field tells about a secret: an id, hash or address of one. */
const aboutSecret =
  /(?:id|ids|name|names|hash|url|uri|path|file|field|label|hint|type|kind|length|len|size|count|expir\w*|ttl|at|public\w*|version|class|regexp?|pattern|prefix|suffix|format|alg\w*|icon|color|checksum|digest|integrity|fingerprint|sha\d*|md5|param|header|selector)["'\]]{0,2}$/i

/** Keys and tokens that open nothing. */
const otherKey =
  /cache|idempoten|publickeytoken|primary|foreign|sort|partition|csrf|tokenizer|sitekey|site_key|publishable|anon/i

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The usual passwords of a local set-up; changing them is no secret. */
const localPassword =
  /^(?:pass(?:word|wd)?|postgres|mysql|root|admin|guest|test(?:ing)?|user|secret|changeme|example|dev|local|rabbitmq|redis|minio(?:admin)?)\d{0,4}$/i

function decodePercent(value: string): string {
  return value.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

const judgeUrl: Rule['judge'] = (secret) => {
  const value = decodePercent(secret)
  if (reference.test(value) || localPassword.test(value) || isPlaceholder(value)) return null
  return value.length >= 8 && /\d/.test(value) && /[A-Za-z]/.test(value) ? 'heuristic' : null
}

const judgeLogin: Rule['judge'] = (secret) =>
  !isSpecimen(secret) && !reference.test(secret) && !localPassword.test(secret) && isScrambled(decodePercent(secret))
    ? 'heuristic'
    : null

const judgeAssigned: Rule['judge'] = (secret, { text, start }) => {
  const before = text.slice(Math.max(0, start - 64), start)
  const field = /["']?[\w.$[\]"'-]{1,48}?["'\]]{0,2}(?=\s{0,4}(?:=>|:=|=|:)\s{0,4}["'`]?$)/.exec(before)?.[0] ?? ''
  if (aboutSecret.test(field) || otherKey.test(field)) return null
  if (uuid.test(secret) && !/api.?key|secret|passw/i.test(field)) return null
  if (isEncodedPlaceholder(secret) || badge.test(before)) return null
  // Configuration has a space after a colon without quotes, an address two slashes; neither has what programs are made of.
  if (before.endsWith(':') && (secret.startsWith('//') || isInTable(text, start, start + secret.length))) return null
  return judgeLogin(secret, { text, start, shown: '' })
}

/** The token of a status badge's address, which is public by design. */
const badge = /badge|\.svg\?/

/** Base64 of `changeme` and the like. */
function isEncodedPlaceholder(secret: string): boolean {
  if (!/^[A-Za-z0-9+/]{8,64}={0,2}$/.test(secret)) return false
  const plain = Buffer.from(secret, 'base64').toString('latin1').trim()
  return /^[\x20-\x7e]+$/.test(plain) && (localPassword.test(plain) || isPlaceholder(plain) || wordShare(plain) > 0.5)
}

/** `user:password` in base64, as in Basic authentication, .npmrc and docker's config.json. */
const judgePair: Rule['judge'] = (secret) => {
  const [, password] =
    /^[\x21-\x7e]{1,80}?:([\x20-\x7e]{6,200})$/.exec(Buffer.from(secret, 'base64').toString('latin1')) ?? []
  return password !== undefined &&
    !isSpecimen(secret) &&
    !localPassword.test(password) &&
    !isPlaceholder(password) &&
    /[\d\W]/.test(password) &&
    wordShare(password) <= 0.5
    ? 'format'
    : null
}

export const genericRules: readonly Rule[] = [
  {
    id: 'url-password',
    keywords: ['://'],
    pattern: /:\/\/[^\s/:@"'<>`,;(){}]{0,80}:(?<secret>[^\s/@"'<>`,;(){}]{3,200})@[\w.[-]/y,
    strong: false,
    judge: judgeUrl,
    yes: ['dsn: mysql://root:<n18>@10.4.0.9:3306/x', 'rediss://:<n32>@cache.acme.io'],
    no: ['postgres://postgres:postgres@localhost/db', 'https://user:$PASSWORD@acme.io', 'http://a.io:8080/x@y'],
  },
  {
    id: 'basic-authorization',
    keywords: ['basic ', '_auth', '"auth"'],
    pattern:
      /(?:Basic |_auth["']?[ \t]{0,4}[:=][ \t]{0,4}["']?|"auth"[ \t]{0,4}:[ \t]{0,4}")(?<secret>[A-Za-z0-9+/]{12,400}={0,2})(?![A-Za-z0-9+/=_-])/iy,
    strong: false,
    judge: judgePair,
    yes: ['Authorization: Basic <pair>', '{"auth": "<pair>"}', '//npm.acme.io/:_auth=<pair>'],
    no: ['Basic authorization is', '"auth": "<n24>"'],
  },
  {
    id: 'netrc-password',
    keywords: ['machine ', 'login '],
    pattern:
      /(?:machine[ \t]{1,8}\S{1,120}\s{1,8})?login[ \t]{1,8}\S{1,80}\s{1,8}password[ \t]{1,8}(?<secret>\S{6,200})/iy,
    strong: false,
    judge: judgeLogin,
    yes: ['machine git.acme.io login ci password <n22>'],
    no: ['machine learning login and password rules'],
  },
  {
    id: 'command-line-password',
    keywords: ['curl ', 'wget ', 'sshpass ', '--password', '--user'],
    pattern:
      /(?:curl [^\n]{0,200}?(?:-u|--user)[ =]?|--user[ =]|wget [^\n]{0,200}?--(?:http-|ftp-)?password[ =]|--password[ =]|sshpass -p ?)["']?(?:[\w.@-]{1,64}:)?(?<secret>[^\s"'@:]{8,128})/y,
    strong: false,
    judge: judgeLogin,
    yes: ['curl -u deploy:<n20> https://api.acme.io', 'mysql --password=<n20>'],
    no: ['curl -u "$USER:$PASSWORD" https://api.acme.io', 'curl --user-agent probe https://acme.io'],
  },
  {
    id: 'bearer-token',
    keywords: ['bearer '],
    pattern: /Bearer (?<secret>[\w.~+/-]{24,600}={0,2})(?![\w.~+/=-])/iy,
    strong: false,
    judge: judgeLogin,
    yes: ['Authorization: Bearer <n40>'],
    no: ['Authorization: Bearer $ACCESS_TOKEN_FROM_LOGIN', 'bearer tokens-are-described-in-the-manual'],
  },
  {
    id: 'azure-shared-access-signature',
    keywords: ['sig='],
    pattern: /(?<=[?&;])sig=(?<secret>[A-Za-z0-9%+/]{43,90}(?:%3D|=))/y,
    strong: false,
    judge: judgeLogin,
    yes: ['https://x.blob.core.windows.net/c?sv=2025&sig=<b43>%3D'],
    no: ['?sig=<n10>'],
  },
  {
    id: 'assigned-secret',
    keywords: [
      'password',
      'passwd',
      'passphrase',
      'pwd',
      'secret',
      'token',
      'credential',
      'apikey',
      'api_key',
      'api-key',
      'accesskey',
      'authkey',
      'privatekey',
      'encryptionkey',
      'signingkey',
      'masterkey',
      '_key',
      '-key',
    ],
    pattern:
      /(?=(?<name>[\w.-]{3,40}))\k<name>["'\]]{0,2}[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}(?:["'`](?<secret>[^"'`\x00-\x20\x7f]{10,250})["'`]|(?<plain>[^\x00-\x20\x7f"'`,;(){}<>[\]|&\\]{10,250})(?![^\x00-\x20\x7f"'`,;(){}<>[\]|&\\]))/y,
    strong: false,
    judge: judgeAssigned,
    yes: [
      'SESSION_SECRET=<n40>',
      'db_password: "<n20>"',
      'const acmeApiKey = "<h40>"',
      '{"client_secret":"<w43>"}',
      'Password=<n20>;Encrypt=true',
    ],
    no: [
      'password = os.environ["PASSWORD"]',
      'tokenId: "<h40>"',
      'const token = parser.nextToken2',
      'API_KEY=example-api-key-not-real',
      'password: "correct horse battery staple"',
    ],
  },
]
