/** Text and bytes that look like secrets and are none: what documentation, lock files, builds and logs are full of. */
import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { png, zip } from './archives.ts'
import { characters, fill, pick, type Random } from './template.ts'

const words = 'saddle candle river stone token parser window forest secret silver planet winter key password'.split(' ')

function lines(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join('\n')
}

function sentence(random: Random): string {
  return Array.from({ length: 8 }, () => pick(random, words)).join(' ')
}

/** By name; each is made anew from the random numbers. */
export const negatives: Readonly<Record<string, (random: Random) => string | Buffer>> = {
  'placeholder keys': () =>
    'ANTHROPIC_API_KEY=sk-ant-xxxx\nKEY=YOUR_KEY_HERE\nTOKEN=<your-token>\nset sk-ant-api03-... first\n',
  'a run of one letter': () => `sk-ant-api03-${'X'.repeat(93)}AA ghp_${'x'.repeat(36)} AKIA${'0'.repeat(16)}`,
  'an alphabet': () => `sk-ant-oat01-${'abcdefghijklmnopqrstuvwxyz0123456789'.repeat(3).slice(0, 93)}AA`,
  'words as a token': (random) => fill('key: sk-ant-api03-<words>', random),
  'our own masked form': () => 'token sk-ant-oat01-…(108) and ghp_…(40), password …(20)',
  'a rule that describes a token': () =>
    'export const re = /sk-ant-(?:api|admin)\\d{2}-[A-Za-z0-9_-]{93}AA/g\nkeywords = ["sk-ant-api03"]',
  'references to secrets': () =>
    `const token = process.env.SERVICE_TOKEN2\npassword = os.environ["PASSWORD1"]\ntoken: \${{ secrets.DEPLOY_TOKEN_V2 }}\napiKey: config.get("service.apiKey2")\n`,
  'identifiers beside key words': () =>
    'function parseTokenStream2(tokenizerV2) {}\nconst accessTokenProvider2 = new OAuth2TokenProvider()\ncredential: OAuth2Client,\ntoken: Uint8Array\n',
  'ids and hashes beside key words': (random) =>
    fill(
      'tokenId: "<h32>"\ncacheKey = "<h40>"\nidempotency_key: "<uuid>"\npublicKeyToken=<h16>\npasswordHash: "<h64>"\n',
      random,
    ),
  'local databases': () =>
    'postgres://postgres:postgres@localhost:5432/app\nredis://:redis@cache:6379\nMYSQL_PASSWORD=changeme123\n',
  'lock file': (random) => lines(60, () => fill('  resolution: {integrity: sha512-<b86>==}', random)),
  checksums: (random) => lines(60, () => fill('checksum = "<h64>"\ngithub.com/a/b v1.2.3 h1:<b43>=', random)),
  uuids: (random) => lines(60, () => fill('<uuid>,<uuid>,<uuid>', random)),
  'hashed file names': (random) =>
    lines(60, () => fill('"basket.js":"assets/basket-<n8>.js", ".paper_<n5>__<n14>"', random)),
  'source map': (random) =>
    `{"version":3,"mappings":"${lines(400, () => fill('<m4>,', random)).replaceAll('\n', '')}"}`,
  'byte table': (random) => `const t[] = {${lines(200, () => fill('0x<h8>,', random)).replaceAll('\n', '')}}`,
  'picture as text': (random) => `url(data:image/jpeg;base64,${characters(random, 'b', 8000)})`,
  'random bytes': (random) => Buffer.from(Array.from({ length: 20_000 }, () => Math.floor(random() * 256))),
  'clean archive': (random) => zip([{ name: 'a.txt', content: Buffer.from(sentence(random)) }]),
  'clean gzip': (random) => gzipSync(lines(200, () => sentence(random))),
  'clean picture': (random) => png(sentence(random)),
  'public keys and signatures': (random) =>
    fill(
      '-----BEGIN PUBLIC KEY-----\n<pem>\n-----END PUBLIC KEY-----\n-----BEGIN PGP SIGNATURE-----\n<pem>\n-----END PGP SIGNATURE-----\nssh-ed25519 AAAAC3<b62>\n',
      random,
    ),
  'a header without a body': () =>
    'if (s.startsWith("-----BEGIN RSA PRIVATE KEY-----")) parse(s)\n{"private_key":"-----BEGIN PRIVATE KEY-----\\n...\\n-----END PRIVATE KEY-----\\n"}',
  'sealed secret': (random) => fill('kind: SealedSecret\nspec:\n  encryptedData:\n    password: AgB<b600>\n', random),
  'secret of placeholders': () =>
    'kind: Secret\ndata:\n  password: Y2hhbmdlbWU=\nstringData:\n  token: "{{ .Values.token }}"\n',
  'http ids': (random) => fill('ETag: W/"<h32>"\nX-Request-Id: <uuid>\ntraceparent: 00-<h32>-<h16>-01\n', random),
  'test log': (random) => lines(400, (n) => `ok ${n} - ${sentence(random)} (${n % 90} ms)`),
  'messages to people': () =>
    '"auth.apiKey.hint": "Paste the API key from the console",\n"auth.token.expired": "Your token has expired; sign in again"',
  'words with the letters of a beginning': () =>
    'the task-antler disk-antenna risk-antidote list; desk-ant-farm sk-antique',
  'a suffix list': () => 'whisk-pa-tterns.com\nmask-as-default: risk-ak-min\n',
  'string table of a program': () =>
    'is_tokenphonetic:codeLens9ruleNamedid_saveopt2group\0\x01../src/node_credentials.cc:434\0../src/node_credentials.cc:399\0\0dsa_key.cpphttps://licenses.acme.io/SSPL-1.0.html',
  'names after a header': () =>
    'PGP-----BEGIN PGP PRIVATE KEY BLOCK-----AbortSignalAbsoluteOrientationSensorAbstractRangeAccelerometerAnalyserNodeAnimationEffect',
  'code that writes a key': () =>
    "let privateB64 = '-----BEGIN OPENSSH PRIVATE KEY-----\\n';\n/*\n  uint32  number of keys N\n  string  publickey1\n  string  encrypted, padded list of private keys\n*/\nconst cipherName = Buffer.from(encrypted ? encrypted.cipherName : 'none')\n",
  'names of methods': () =>
    "password_encryption: scram-sha-256\nprivate-key: 'tpm2-pcr-private'\nauth-token = rsa-pss-sha512\n",
  'users and networks': () =>
    'passwd:eli:x:2098:1000:Eli\nToken=static:::1a:2b:3c:4d\nToken=prefixstable:2002:da8:1::\n',
  'a language without ASCII': () => 'usage: --password ÄÄNG_NHẬP/PHÁT2 ...\n',
  'letters of the middle row': () => `oauth_token=${['lsdk', 'fol23w', '54jlk', 'sdef'].join('')}&x=1\n`,
  'words with percent escapes': () => 'oauth_token_secret=secret%3Dpassword&oauth_token=lock%26key\n',
  'examples of the standards': () =>
    `Authorization: Basic ${Buffer.from(['s6BhdRkqt3', 'gX1fBat3bV'].join(':')).toString('base64')}\n`,
  'web token signed with an example': () => {
    const signed = [{ alg: 'HS256' }, { some: 'payload' }].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    return [...signed, createHmac('sha256', 'secret').update(signed.join('.')).digest('base64url')].join('.')
  },
  'status badge': (random) => fill('![build](https://badges.acme.io/a.svg?token=<n22>)', random),
}
