import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { UserError } from '@buildwave/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPublicAddress } from '../src/address.ts'
import { parseAllowHost, parseTarget, publicAddress } from '../src/allow-host.ts'
import { nextStep, noPressure, park, relieve, type Step } from '../src/backoff.ts'
import { readCredential, upstreamHeaders } from '../src/credential.ts'
import { proxyFor } from '../src/dial.ts'
import { openLedger } from '../src/ledger.ts'
import { maskStream } from '../src/mask.ts'
import { costOf } from '../src/prices.ts'
import { findRoute, refuseBody } from '../src/rules.ts'
import { makeFolders, socketPaths } from '../src/sockets.ts'
import { makeToken, readToken, runKey } from '../src/token.ts'
import { openUpstream } from '../src/upstream.ts'
import { estimate, noTokens, openUsage } from '../src/usage.ts'
import { apiKey, newFolder, noBounds, secret, tokenFile } from './support/rig.ts'

function messageOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return error instanceof UserError ? error.message : `no UserError: ${error}`
  }
  return 'no error'
}

describe('a token', () => {
  test('says whose it is, and no change of it does', () => {
    const key = Buffer.alloc(32, 7)
    const token = makeToken(key, { item: 'add-sum', attempt: 2 })
    expect(readToken(key, token)).toEqual({ item: 'add-sum', attempt: 2 })
    expect(readToken(key, token.replace('~2~', '~3~'))).toBeNull()
    expect(readToken(key, token.replace('add-sum', 'add-sun'))).toBeNull()
    expect(readToken(Buffer.alloc(32, 8), token)).toBeNull()
    expect(readToken(key, `${token.slice(0, -1)}é`)).toBeNull()
  })

  test('is known again by a gateway that was restarted, from a key that only we can read', () => {
    const folder = newFolder()
    const key = runKey(folder)
    expect(runKey(folder)).toEqual(key)
    expect(statSync(join(folder, 'gateway.key')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['gateway.key'])
  })
})

describe('a credential', () => {
  test('is told by its shape', () => {
    expect(readCredential(tokenFile(newFolder()), 'anthropic').kind).toBe('oauth')
    expect(readCredential(tokenFile(newFolder(), apiKey), 'anthropic').kind).toBe('api-key')
    expect(readCredential(tokenFile(newFolder(), `sk-${'z'.repeat(30)}`), 'openai').kind).toBe('api-key')
  })

  test('is refused when others can read its file, without being quoted', () => {
    for (const mode of [0o640, 0o604, 0o666]) {
      const path = tokenFile(newFolder())
      chmodSync(path, mode)
      const message = messageOf(() => readCredential(path, 'anthropic'))
      expect(message).toContain(`others can open it (mode ${mode.toString(8)})`)
    }
  })

  test('is refused when it is for another API, of no known shape, or missing', () => {
    expect(messageOf(() => readCredential(tokenFile(newFolder()), 'openai'))).toContain('a token for another API')
    const odd = ['sk', 'something', 'q'.repeat(30)].join('-')
    const message = messageOf(() => readCredential(tokenFile(newFolder(), odd), 'anthropic'))
    expect(message).toContain('it holds neither an OAuth token nor an API key')
    expect(message).not.toContain('qqqq')
    const two = messageOf(() => readCredential(tokenFile(newFolder(), `${secret}\n${apiKey}`), 'anthropic'))
    expect(two).toContain('it does not hold exactly one token')
    expect(messageOf(() => readCredential('/nowhere/token', 'anthropic'))).toContain(
      "cannot read the token file '/nowhere/token'",
    )
  })

  test('takes the place of every login that came, with the beta that fits its kind', () => {
    const given = {
      authorization: 'Bearer mine',
      'x-api-key': 'mine',
      cookie: 'a=b',
      'proxy-authorization': 'Basic mine',
      host: '127.0.0.1:30000',
      'x-forwarded-for': '10.0.0.1',
      'anthropic-beta': 'claude-code-20250219,oauth-2025-04-20',
      'anthropic-version': '2023-06-01',
    }
    const oauth = upstreamHeaders(given, 'anthropic', { kind: 'oauth', value: secret })
    expect(oauth).toEqual({
      authorization: `Bearer ${secret}`,
      'accept-encoding': 'identity',
      'anthropic-beta': 'claude-code-20250219,oauth-2025-04-20',
      'anthropic-version': '2023-06-01',
    })
    const key = upstreamHeaders(given, 'anthropic', { kind: 'api-key', value: apiKey })
    expect(key).toMatchObject({ 'x-api-key': apiKey, 'anthropic-beta': 'claude-code-20250219' })
    expect(key).not.toHaveProperty('authorization')
    const added = upstreamHeaders({}, 'anthropic', { kind: 'oauth', value: secret })
    expect(added['anthropic-beta']).toBe('oauth-2025-04-20')
  })
})

describe('masking a stream', () => {
  test('finds the secret however it is cut', async () => {
    const piece = fc.oneof(fc.constant(secret), fc.constant(secret.slice(0, 9)), fc.string())
    const cuts = fc.array(fc.nat(80), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), cuts, async (pieces, sizes) => {
        const whole = Buffer.from(pieces.join(''))
        const chunks: Buffer[] = []
        let at = 0
        for (const size of [...sizes, whole.length]) {
          chunks.push(whole.subarray(at, at + size))
          at += size
        }
        const masked = await text(Readable.from(chunks.filter((chunk) => chunk.length > 0)).pipe(maskStream(secret)))
        expect(masked).toBe(whole.toString('utf8').replaceAll(secret, '[credential]'))
      }),
    )
  })

  test('holds back nothing that cannot be the beginning of the secret', () => {
    const mask = maskStream(secret)
    mask.write('data: {"a":1}\n\n')
    expect(String(mask.read())).toBe('data: {"a":1}\n\n')
  })
})

describe('a path', () => {
  test('passes when it is one of the few, byte for byte', () => {
    expect(findRoute('anthropic', 'POST', '/v1/messages?beta=true')).toMatchObject({
      path: '/v1/messages',
      query: 'beta=true',
    })
    expect(findRoute('anthropic', 'POST', '/v1/messages/count_tokens')).toMatchObject({ spends: false })
    expect(findRoute('openai', 'POST', '/v1/responses')).toMatchObject({ spends: true })
  })

  test.each([
    '/v1/messages/',
    '/v1/messages/../files',
    '/v1/messages/..%2ffiles',
    '/v1/./messages',
    '//v1/messages',
    '/V1/messages',
    '/v1/messages%3fx',
    '/v1/messages;x',
    '/v1/messages\\..\\files',
    '/v1/messages#x',
    '/v1/messages?beta=true&x=1',
    '/v1/messages/batches',
    '/v1/files',
    '/v1/responses',
    'http://other/v1/messages',
    '*',
    '',
  ])('%j does not pass', (path) => {
    expect(findRoute('anthropic', 'POST', path)).toBeNull()
  })

  test('passes with POST only', () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
      expect(findRoute('anthropic', method, '/v1/messages')).toBeNull()
    }
  })
})

describe('a body', () => {
  const withContent = (block: unknown) => ({ messages: [{ role: 'user', content: [block] }] })

  test('passes when it asks for a reply', () => {
    const tools = [
      { name: 'Bash', input_schema: {} },
      { type: 'custom', name: 'x' },
    ]
    expect(refuseBody('anthropic', { messages: [{ role: 'user', content: 'hi' }], tools })).toBeNull()
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }
    expect(refuseBody('anthropic', withContent(image))).toBeNull()
    const call = { type: 'tool_use', input: { source: { type: 'url', url: 'http://a' } } }
    expect(refuseBody('anthropic', withContent(call))).toBeNull()
    const found = { type: 'search_result', source: 'notes.md', content: [] }
    expect(refuseBody('anthropic', withContent(found))).toBeNull()
    expect(refuseBody('openai', { input: 'hi', tools: [{ type: 'function' }] })).toBeNull()
  })

  test.each<[string, unknown]>([
    ['a server to call', { mcp_servers: [{ type: 'url', url: 'https://evil' }] }],
    ['a search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['a fetch', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
    ['code to run', { tools: [{ type: 'code_execution_20250825', name: 'x' }] }],
    ['a tool type that is no text', { tools: [{ type: ['custom', 'web_fetch_1'] }] }],
    ['a container', { container: 'container_1' }],
    ['an image by address', withContent({ type: 'image', source: { type: 'url', url: 'https://evil/?data' } })],
    ['a stored file', withContent({ type: 'document', source: { type: 'file', file_id: 'file_1' } })],
    [
      'an image by address in a tool result',
      withContent({ type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url: 'https://evil' } }] }),
    ],
    [
      'an image by address in a document',
      withContent({
        type: 'document',
        source: { type: 'content', content: [{ type: 'image', source: { type: 'url', url: 'https://evil' } }] },
      }),
    ],
    ['an image by address in the system prompt', { system: [{ type: 'image', source: { type: 'url' } }] }],
    ['a fetch that a message adds', { messages: [{ role: 'system', tools: [{ type: 'web_fetch_20250910' }] }] }],
    ['a fetch that a block adds', withContent({ type: 'tool_change', tool: { type: 'web_fetch_20250910' } })],
    ['a list', []],
  ])('does not pass with %s', (_what, body) => {
    expect(refuseBody('anthropic', body)).not.toBeNull()
  })

  test.each<[string, unknown]>([
    ['a search', { tools: [{ type: 'web_search' }] }],
    [
      'a search that an item of the input adds',
      { input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }] },
    ],
    ['a search in a namespace', { tools: [{ type: 'namespace', tools: [{ type: 'mcp' }] }] }],
    [
      'an image by address',
      { input: [{ type: 'message', content: [{ type: 'input_image', image_url: 'https://evil' }] }] },
    ],
    ['a file by address', { input: [{ content: [{ type: 'input_file', file_url: 'https://evil' }] }] }],
    ['work in the background', { background: true }],
  ])('for the other API does not pass with %s', (_what, body) => {
    expect(refuseBody('openai', body)).not.toBeNull()
  })
})

describe('an address', () => {
  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.17.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'not an address',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test('is taken only when every answer to a name is public', async () => {
    expect(await publicAddress('a.example', async () => ['8.8.8.8', '127.0.0.1'])).toBeNull()
    expect(await publicAddress('a.example', async () => [])).toBeNull()
    expect(await publicAddress('a.example', async () => ['8.8.8.8'])).toBe('8.8.8.8')
  })
})

describe('--allow-host', () => {
  test('takes one exact name and port', () => {
    expect(parseAllowHost('Registry.npmjs.org:443')).toEqual({ host: 'registry.npmjs.org', port: 443 })
  })

  test.each([
    '1.2.3.4:443',
    '[::1]:443',
    '*.npmjs.org:443',
    'npmjs.org',
    'npmjs.org:0',
    'npmjs.org:99999',
    'localhost:80',
    'a..b:1',
  ])('refuses %s', (host) => {
    expect(messageOf(() => parseAllowHost(host))).toBe(`'${host}' is not NAME:PORT`)
  })

  test.each(['0x7f.1:80', '127.1:80', 'a.017700000001:80', 'user@a.b:80', 'a.b:80:80', 'a.b.:80'])(
    'no trick makes a target of %s',
    (target) => {
      expect(parseTarget(target)).toBeNull()
    },
  )
})

describe('back-off', () => {
  const never = Number.MAX_SAFE_INTEGER
  const options = { heldUntil: never, patience: 1_200_000, random: 0 }
  const bad = (status: number, headers = {}) => ({ status, headers })

  test('waits as long as the API says', () => {
    const pressure = park(noPressure, bad(429, { 'retry-after': '20' }), 1000)
    expect(nextStep(pressure, { now: 1000, ...options })).toBe(20_000)
    expect(nextStep(pressure, { now: 21_000, ...options })).toBe('go')
  })

  test('takes a date as well as seconds', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    const pressure = park(noPressure, bad(429, { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }), now)
    expect(nextStep(pressure, { now, ...options })).toBe(30_000)
  })

  test('doubles its guesses up to a minute where the API says nothing', () => {
    let pressure = noPressure
    let now = 1_000_000
    const waits: Step[] = []
    for (let strike = 0; strike < 9; strike++) {
      pressure = park(pressure, bad(529), now)
      waits.push(nextStep(pressure, { now, ...options }))
      now = pressure.until
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
  })

  test('gives up when the trouble would outlast its patience', () => {
    const headers = { 'anthropic-ratelimit-unified-status': 'rejected', 'anthropic-ratelimit-unified-reset': '9999' }
    const pressure = park(noPressure, bad(429, headers), 0)
    expect(pressure).toMatchObject({ until: 9_999_000, reason: 'usage-limit' })
    expect(nextStep(pressure, { now: 0, ...options })).toBe('hopeless')
    expect(nextStep(pressure, { now: 0, ...options, patience: 10_000_000 })).toBe(9_999_000)
  })

  test('holds a request as long as its client stands it, and then has it asked again', () => {
    const pressure = park(noPressure, bad(429, { 'retry-after': '600' }), 0)
    expect(nextStep(pressure, { now: 0, ...options, heldUntil: 240_000 })).toBe(240_000)
    expect(nextStep(pressure, { now: 240_000, ...options, heldUntil: 240_000 })).toBe('again')
  })

  test('spreads those that wait', () => {
    const pressure = park(noPressure, bad(429, { 'retry-after': '20' }), 0)
    expect(nextStep(pressure, { now: 0, ...options, random: 0.5 })).toBe(22_500)
  })

  test('ends with a good answer to a request sent after the wait, and with no other', () => {
    const pressure = park(noPressure, bad(429, { 'retry-after': '20' }), 1000)
    expect(relieve(pressure, 500)).toBe(pressure)
    expect(relieve(pressure, 5000)).toBe(pressure)
    expect(relieve(pressure, 21_000)).toBe(noPressure)
  })

  test('takes trouble after a long quiet time as new', () => {
    const old = park(noPressure, bad(529), 0)
    expect(park(old, bad(529), 3_600_000)).toMatchObject({ since: 3_600_000, strikes: 1 })
  })
})

describe('the ledger', () => {
  const spend = {
    item: 'a',
    tokens: { ...noTokens, input: 60, output: 30, cacheWrite: 10, cacheRead: 9999 },
    model: 'claude-sonnet-5-5',
  }

  test('refuses when the tokens of an item or of the run are used up, not counting what a cache gave', () => {
    const ledger = openLedger({ item: { ...noBounds, tokens: 100 }, run: { ...noBounds, tokens: 200 } })
    expect(ledger.refusal('a')).toBeNull()
    ledger.add(spend)
    expect(ledger.refusal('a')).toBe('the 100 tokens of this item are used up')
    expect(ledger.refusal('b')).toBeNull()
    ledger.add({ ...spend, item: 'b' })
    expect(ledger.refusal('c')).toBe('the 200 tokens of the run are used up')
  })

  test('counts a turn when it begins, so that many at once cannot pass together', () => {
    const ledger = openLedger({ item: { ...noBounds, turns: 1 }, run: noBounds })
    const takeBack = ledger.begin('a', true)
    expect(ledger.refusal('a')).toBe('the 1 turns of this item are used up')
    takeBack()
    expect(ledger.refusal('a')).toBeNull()
  })

  test('keeps a bound on money where the price is known, and says where it is not', () => {
    const ledger = openLedger({ item: { ...noBounds, usd: 0.0001 }, run: noBounds })
    ledger.add({ ...spend, model: 'gpt-next' })
    expect(ledger.refusal('a')).toBeNull()
    expect(ledger.items().get('a')).toMatchObject({ unpriced: true })
    ledger.add(spend)
    expect(ledger.refusal('a')).toBe('the 0.0001 US dollars of this item are used up')
  })
})

test('a price is by kind of token, and by length where that matters', () => {
  const million = 1_000_000
  expect(costOf('claude-sonnet-5-5', { ...noTokens, input: 100, output: 25 })).toBeCloseTo(0.00045, 10)
  const cached = { ...noTokens, cacheRead: million, cacheWrite: million, cacheWriteHour: million }
  expect(costOf('claude-sonnet-5-5', cached)).toBeCloseTo(4.1, 10)
  expect(costOf('claude-haiku-5-5', { ...noTokens, input: 100_000 })).toBeCloseTo(0.01, 10)
  expect(costOf('claude-haiku-5-5', { ...noTokens, input: 200_000 })).toBeCloseTo(0.1, 10)
  expect(costOf('claude-sonnet-4-5-20250929', { ...noTokens, input: million })).toBeCloseTo(3, 10)
  expect(costOf('gpt-next', { ...noTokens, input: 1 })).toBeNull()
})

describe('usage', () => {
  const start = `event: message_start\ndata: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":7,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":5},"output_tokens":1}}}\n\n`
  const delta = `data: {"type":"message_delta","usage":{"output_tokens":40}}\n\n`

  test('is read from a stream that comes byte by byte, with totals and not sums', () => {
    const reader = openUsage('anthropic', 'text/event-stream; charset=utf-8')
    for (const byte of Buffer.from(`${start}data: {"x":"é"}\n\ndata: not json\n\n${delta}`))
      reader.push(Buffer.from([byte]))
    const tokens = { input: 7, output: 40, cacheRead: 0, cacheWrite: 5, cacheWriteHour: 5 }
    expect(reader.end()).toMatchObject({ model: 'm', tokens, isFinal: true })
  })

  test('of a stream that was cut is what was told until then', () => {
    const reader = openUsage('anthropic', 'text/event-stream')
    reader.push(Buffer.from(start.slice(0, -2)))
    const end = reader.end()
    expect(end).toMatchObject({ tokens: { input: 7, output: 1 }, isFinal: false })
    // Counted from above then, by bytes.
    expect(estimate(end, 4000)).toMatchObject({ input: 7, output: Math.ceil(end.bytes / 4) })
    expect(estimate({ ...end, tokens: noTokens }, 4000).input).toBe(1000)
  })

  test('behind a line of any length is still read', () => {
    const reader = openUsage('anthropic', 'text/event-stream')
    const piece = Buffer.alloc(65_536, 'x')
    for (let n = 0; n < 400; n++) reader.push(piece)
    reader.push(Buffer.from(`\n\n${delta}`))
    expect(reader.end()).toMatchObject({ tokens: { output: 40 }, bytes: 400 * 65_536 + delta.length + 2 })
  })

  test('is read from a whole answer, and from the other API', () => {
    const whole = openUsage('anthropic', 'application/json')
    whole.push(Buffer.from('{"model":"m","usage":{"input_tokens":3,'))
    whole.push(Buffer.from('"output_tokens":2}}'))
    expect(whole.end()).toMatchObject({ model: 'm', tokens: { input: 3, output: 2 } })
    const other = openUsage('openai', 'text/event-stream')
    const usage = '{"input_tokens":100,"input_tokens_details":{"cached_tokens":30},"output_tokens":9}'
    other.push(Buffer.from(`data: {"type":"response.completed","response":{"model":"g","usage":${usage}}}\n\n`))
    expect(other.end()).toMatchObject({ model: 'g', tokens: { input: 70, output: 9, cacheRead: 30 } })
  })
})

describe('the upstream', () => {
  test('is https, or this machine', () => {
    expect(messageOf(() => openUpstream('anthropic', 'http://llm.example/x', {}))).toContain(
      'would show the credential',
    )
    for (const url of ['ftp://a', 'nonsense', 'https://u:p@a.example', 'https://a.example/?x=1']) {
      expect(messageOf(() => openUpstream('anthropic', url, {}))).toContain('is not an http or https address')
    }
    openUpstream('anthropic', 'http://127.0.0.1:1', {}).close()
    openUpstream('anthropic', null, {}).close()
  })

  test("is reached through the user's proxy unless NO_PROXY exempts it", () => {
    const env = { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'corp.example,.inside' }
    expect(proxyFor('api.example', env)?.host).toBe('proxy:3128')
    expect(proxyFor('llm.corp.example', env)).toBeNull()
    expect(proxyFor('notcorp.example', env)).not.toBeNull()
    expect(proxyFor('x.inside', env)).toBeNull()
    expect(proxyFor('api.example', { ...env, NO_PROXY: '*' })).toBeNull()
    expect(proxyFor('api.example', {})).toBeNull()
  })
})

describe('the sockets', () => {
  test('lie in a folder of ours alone; the one that is mounted lets a holder in', () => {
    const runtime = newFolder()
    const paths = socketPaths('/state/runs/a', { XDG_RUNTIME_DIR: runtime })
    makeFolders(paths)
    expect(paths.dir).toMatch(/\/bw\/[0-9a-f]{8}$/)
    expect(statSync(join(runtime, 'bw')).mode & 0o777).toBe(0o700)
    expect(statSync(paths.dir).mode & 0o777).toBe(0o711)
  })

  test('are in /tmp where there is no runtime folder', () => {
    for (const env of [{}, { XDG_RUNTIME_DIR: '/nowhere' }, { XDG_RUNTIME_DIR: 'relative' }]) {
      expect(socketPaths('/state/runs/a', env).dir).toMatch(/^\/tmp\/bw-\d+\/[0-9a-f]{8}$/)
    }
  })

  test('are not put where somebody else made a link', () => {
    const [runtime, elsewhere] = [newFolder(), newFolder()]
    symlinkSync(elsewhere, join(runtime, 'bw'))
    const paths = socketPaths('/state/runs/a', { XDG_RUNTIME_DIR: runtime })
    expect(messageOf(() => makeFolders(paths))).toContain('is not a folder of ours alone')
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test('with too long a path are refused with the reason', () => {
    const long = join(newFolder(), 'x'.repeat(90))
    mkdirSync(long)
    expect(messageOf(() => socketPaths('/a', { XDG_RUNTIME_DIR: long }))).toContain('is too long for a socket')
  })
})
