import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Answer } from '../../../test/support/model-api.ts'
import { startGateway } from '../src/gateway.ts'
import { askSocket, mainRequest, newFolder, noBounds, secret, startRig, tokenFile } from './support/rig.ts'

/** Waits for a state to be reached, however busy the machine is. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })

describe('a request', () => {
  test('reaches the API with the real credential, and nothing of it comes back', async () => {
    const rig = await startRig({
      answer: ({ headers }) => ({
        text: `you sent ${headers.authorization}`,
        headers: { 'x-echo': `${headers.authorization}` },
      }),
    })
    const reply = await rig.ask({ path: '/v1/messages?beta=true', headers: { cookie: 'a=b' } })
    expect(reply.status).toBe(200)
    expect(rig.api.asked[0]?.headers).toMatchObject({ authorization: `Bearer ${secret}` })
    expect(rig.api.asked[0]?.headers).not.toHaveProperty('cookie')
    expect(rig.api.asked[0]?.url).toBe('/v1/messages?beta=true')
    expect(reply.text).toContain('you sent Bearer [credential]')
    expect(reply.headers['x-echo']).toBe('Bearer [credential]')
    expect(reply.text + JSON.stringify(reply.headers) + JSON.stringify(rig.log())).not.toContain(secret)
  })

  test('gets each event when the API sends it', async () => {
    const seen: (() => void)[] = []
    const arrived = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
    for (const { resolve } of arrived) seen.push(resolve)
    let next = 0
    // The API sends an event only after the one before it has arrived at the builder: with a buffer this never ends.
    const rig = await startRig({
      answer: () => ({ text: 'hi', pace: () => arrived[next++]?.promise ?? Promise.resolve() }),
    })
    let events = 0
    const reply = await rig.ask({
      onChunk(chunk) {
        for (const _ of chunk.matchAll(/^event:/gm)) seen[events++]?.()
      },
    })
    expect(reply.text).toContain('message_stop')
  })

  test.each([
    [{ path: '/v1/messages/../files' }, 404, 'path'],
    [{ path: '/v1/files', method: 'GET', body: '' }, 404, 'path'],
    [{ path: 'http://127.0.0.1:1/v1/messages' }, 404, 'path'],
    [{ body: 'no json' }, 400, 'body'],
    [{ body: { ...mainRequest, mcp_servers: [{ url: 'https://evil' }] } }, 400, 'body'],
    [{ body: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}` }, 400, 'body'],
  ])('that asks for something else is refused and logged with its item: %j', async (options, status, code) => {
    const rig = await startRig({})
    expect((await rig.ask({ ...options, item: 'sum' })).status).toBe(status)
    expect(rig.api.asked).toHaveLength(0)
    expect(rig.log().at(-1)).toMatchObject({ event: 'refused', item: 'sum', attempt: 1, code })
  })

  test('whose body could be read in two ways passes as we read it', async () => {
    const rig = await startRig({})
    await rig.ask({ body: '{"mcp_servers":[{"url":"https://evil"}],"messages":[],"mcp_servers":[]}' })
    expect(rig.api.asked[0]?.text).toBe('{"mcp_servers":[],"messages":[]}')
  })

  test('is logged without its query and without control characters', async () => {
    const rig = await startRig({})
    await rig.ask({ path: '/v1/files?key=hidden', method: 'GET', body: '' })
    expect(rig.log().at(-1)).toMatchObject({ path: '/v1/files?...' })
    const socket = connect(rig.socketPath)
    socket.end(`POST /\x1b[2J HTTP/1.1\r\nhost: x\r\n\r\n`)
    await eventually(() => rig.log().at(-1)?.['code']).toBe('malformed')
    expect(JSON.stringify(rig.log())).not.toContain('\\u001b')
  })

  test('without a token of this run is refused', async () => {
    const rig = await startRig({})
    for (const headers of [{}, { authorization: `Bearer ${secret}` }, { authorization: 'Bearer bw1~sum~1~AAAA' }]) {
      expect((await askSocket(rig.socketPath, { headers: headers as Record<string, string> })).status).toBe(401)
    }
    expect(rig.api.asked).toHaveLength(0)
    expect(rig.log().at(-1)).toMatchObject({ event: 'refused', code: 'token' })
  })

  test('may carry the token as an API key', async () => {
    const rig = await startRig({})
    const reply = await askSocket(rig.socketPath, { headers: { 'x-api-key': rig.tokenFor('sum') } })
    expect(reply.status).toBe(200)
    expect(rig.api.asked[0]?.headers).not.toHaveProperty('x-api-key')
  })

  test('that the API cuts is cut for the builder too, and what it used is counted', async () => {
    const rig = await startRig({ answer: () => ({ text: 'hello', cutAfter: 3 }) })
    await expect(rig.ask({})).rejects.toThrow()
    const counted = () => rig.log().find((line) => line['event'] === 'request')
    await eventually(counted).toMatchObject({ cut: true, estimated: true, tokens: { input: 100 } })
  })

  test('that meets a connection which the API has just closed is sent again', async () => {
    // It answers the first request of each connection and resets it at the second.
    let requests = 0
    const upstream = createServer((socket) => {
      let isFirst = true
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        if (!chunk.toString('latin1').startsWith('POST')) return
        if (!isFirst) return void socket.resetAndDestroy()
        isFirst = false
        requests++
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
      })
    }).listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    onTestFinished(() => void upstream.close())
    const rig = await startRig({}, { upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` })
    for (let n = 0; n < 3; n++) expect((await rig.ask({ body: { messages: [] } })).status).toBe(200)
    expect(requests).toBe(3)
  })

  test('to an API that cannot be reached is answered so', async () => {
    const rig = await startRig({}, { upstream: 'http://127.0.0.1:9' })
    const reply = await rig.ask({})
    expect(reply.status).toBe(502)
    expect(reply.text).toContain('cannot reach the API')
  })

  test('is one of at most 16 at once', async () => {
    const rig = await startRig({ answer: () => ({ hang: true }) })
    const hanging = Array.from({ length: 16 }, () => rig.ask({}).catch(() => null))
    await eventually(() => rig.api.asked.length).toBe(16)
    expect((await rig.ask({})).status).toBe(503)
    await rig.stop()
    await Promise.all(hanging)
  })

  test('that the builder gives up is given up at the API', async () => {
    const rig = await startRig({ answer: () => ({ hang: true }) })
    const socket = connect(rig.socketPath)
    const body = JSON.stringify(mainRequest)
    const auth = `authorization: Bearer ${rig.tokenFor('sum')}`
    socket.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\n${auth}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await eventually(() => rig.api.asked.length).toBe(1)
    socket.destroy()
    // Its place among the 16 is free again: the gateway has dropped it.
    const others = Array.from({ length: 16 }, () => rig.ask({}).catch(() => null))
    await eventually(() => rig.api.asked.length).toBe(17)
    await rig.stop()
    await Promise.all(others)
  })
})

describe('bounds', () => {
  const turns = (bounds: object) => startRig({}, { bounds: { item: { ...noBounds, ...bounds }, run: noBounds } })

  test.each([
    [{ turns: 2 }, 2],
    [{ tokens: 200 }, 2],
    [{ usd: 0.0005 }, 2],
  ])('%j hold whatever the agent does', async (bounds, allowed) => {
    const rig = await turns(bounds)
    for (let n = 0; n < allowed; n++) expect((await rig.ask({})).status).toBe(200)
    const reply = await rig.ask({})
    expect(reply.status).toBe(400)
    expect(reply.text).toContain('[buildwave-budget]')
    expect(rig.log().at(-1)).toMatchObject({ event: 'refused', code: 'budget', item: 'sum' })
    expect((await rig.ask({ item: 'other' })).status).toBe(200)
    expect(rig.api.asked).toHaveLength(allowed + 1)
  })

  test('of the run hold over all items', async () => {
    const rig = await startRig({}, { bounds: { item: noBounds, run: { ...noBounds, turns: 2 } } })
    await rig.ask({ item: 'a' })
    await rig.ask({ item: 'b' })
    expect((await rig.ask({ item: 'c' })).text).toContain('the 2 turns of the run are used up')
  })

  test('still hold after the gateway was restarted', async () => {
    const bounds = { item: { ...noBounds, turns: 1 }, run: noBounds }
    const first = await startRig({}, { bounds })
    await first.ask({})
    await first.stop()
    const second = await startRig({}, { bounds, runDir: first.runDir })
    expect((await second.ask({})).status).toBe(400)
  })

  test('on tokens hold for a builder that hangs up before the figures come', async () => {
    const text = 'x'.repeat(4000)
    const rig = await startRig(
      { answer: () => ({ text, cutAfter: 4 }) },
      { bounds: { item: { ...noBounds, tokens: 1000 }, run: noBounds } },
    )
    await expect(rig.ask({})).rejects.toThrow()
    const refused = () =>
      rig.ask({}).then(
        (reply) => reply.text,
        () => '',
      )
    await eventually(refused).toContain('the 1000 tokens of this item are used up')
    expect(rig.api.asked).toHaveLength(1)
  })

  test('on money are said not to hold for a model without a known price, once', async () => {
    const rig = await startRig({}, { bounds: { item: { ...noBounds, usd: 0.0001 }, run: noBounds } })
    for (let n = 0; n < 3; n++) expect((await rig.ask({ body: { ...mainRequest, model: 'other-1' } })).status).toBe(200)
    const said = () => rig.log().filter((line) => line['event'] === 'unpriced')
    await eventually(said).toMatchObject([{ model: 'other-1' }])
  })

  test('hold for requests that waited for the API together', async () => {
    const limited: Answer = { status: 429, headers: { 'retry-after': '1' } }
    const rig = await startRig(
      { answer: ({ ordinal }) => (ordinal === 1 ? limited : { text: 'ok' }) },
      { bounds: { item: { ...noBounds, turns: 2 }, run: noBounds } },
    )
    const first = rig.ask({})
    await eventually(() => rig.log().some((line) => line['event'] === 'parked')).toBe(true)
    const replies = await Promise.all([first, ...Array.from({ length: 5 }, () => rig.ask({}))])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400, 400, 400])
  })

  test('on tokens hold for a builder that hangs up before anything comes', async () => {
    const rig = await startRig(
      { answer: () => ({ hang: true }) },
      { bounds: { item: { ...noBounds, tokens: 1000 }, run: noBounds } },
    )
    const socket = connect(rig.socketPath)
    const body = JSON.stringify({ ...mainRequest, system: 'x'.repeat(4000) })
    const head = `POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${rig.tokenFor('sum')}`
    socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await eventually(() => rig.api.asked.length).toBe(1)
    socket.destroy()
    await eventually(() => rig.log().at(-1)).toMatchObject({ event: 'request', cut: true, estimated: true })
    expect((await rig.ask({})).text).toContain('the 1000 tokens of this item are used up')
  })

  test('count no turnfor a request that failed', async () => {
    let failing = true
    const rig = await startRig(
      { answer: () => (failing ? { status: 500 } : { text: 'ok' }) },
      { bounds: { item: { ...noBounds, turns: 1 }, run: noBounds } },
    )
    expect((await rig.ask({})).status).toBe(500)
    await eventually(() => rig.log().at(-1)).toMatchObject({ status: 500, turn: false })
    failing = false
    expect((await rig.ask({})).status).toBe(200)
  })
})

describe('an API that has had enough', () => {
  const limited: Answer = {
    status: 429,
    headers: { 'retry-after': '1' },
    error: { type: 'rate_limit_error', message: 'slow' },
  }

  test('is asked again after the wait, and the builder sees one good answer', async () => {
    const rig = await startRig({ answer: ({ ordinal }) => (ordinal === 1 ? limited : { text: 'late' }) })
    const reply = await rig.ask({})
    expect([reply.status, rig.api.asked.length]).toEqual([200, 2])
    expect(rig.log().find((line) => line['event'] === 'parked')).toMatchObject({ reason: 'rate-limit', item: 'sum' })
  })

  test('is asked by nobody while it wants to be left alone', async () => {
    const rig = await startRig({ answer: ({ ordinal }) => (ordinal === 1 ? limited : { text: 'late' }) })
    const first = rig.ask({ item: 'a' })
    await eventually(() => rig.log().some((line) => line['event'] === 'parked')).toBe(true)
    const others = ['b', 'c', 'd'].map((item) => rig.ask({ item }))
    expect(rig.api.asked).toHaveLength(1)
    for (const reply of [await first, ...(await Promise.all(others))]) expect(reply.status).toBe(200)
    expect(rig.api.asked).toHaveLength(5)
  })

  test('for longer than a request is held: the client is asked to come again at once, and the API is left alone', async () => {
    const rig = await startRig({ answer: () => ({ ...limited, headers: { 'retry-after': '30' } }) }, { holdMs: 1000 })
    const reply = await rig.ask({})
    expect([reply.status, reply.headers['retry-after'], rig.api.asked.length]).toEqual([503, '1', 1])
  })

  test('for longer than patience lasts:every builder hears it at once, with the time, and the API is asked no more', async () => {
    const reset = String(Math.floor(Date.now() / 1000) + 18_000)
    const headers = { 'anthropic-ratelimit-unified-status': 'rejected', 'anthropic-ratelimit-unified-reset': reset }
    const rig = await startRig({ answer: () => ({ status: 429, headers }) })
    for (const item of ['a', 'b']) {
      const reply = await rig.ask({ item })
      expect(reply.status).toBe(429)
      expect(reply.headers['anthropic-ratelimit-unified-reset']).toBe(reset)
    }
    expect(rig.api.asked).toHaveLength(1)
  })
})

describe('CONNECT', () => {
  async function connectVia(rig: { socketPath: string }, target: string, token: string | null): Promise<Socket> {
    const socket = connect(rig.socketPath)
    onTestFinished(() => void socket.destroy())
    const login =
      token === null ? '' : `proxy-authorization: Basic ${Buffer.from(`bw:${token}`).toString('base64')}\r\n`
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${login}\r\n`)
    return socket
  }

  async function statusOf(socket: Socket): Promise<string> {
    const [first] = (await once(socket, 'data')) as [Buffer]
    return first.toString('utf8').split('\r\n')[0] ?? ''
  }

  const allowHosts = [{ host: 'registry.example', port: 443 }]

  test.each([
    ['evil.example:443', 'connect-host'],
    ['registry.example:80', 'connect-host'],
    ['sub.registry.example:443', 'connect-host'],
    ['registry.example.evil.example:443', 'connect-host'],
    ['1.1.1.1:443', 'connect-target'],
    ['169.254.169.254:80', 'connect-target'],
    ['[::1]:443', 'connect-target'],
    ['localhost:22', 'connect-target'],
    ['registry.example:443', 'connect-address'],
  ])('to %s is refused and logged', async (target, code) => {
    const rig = await startRig({}, { allowHosts, resolve: async () => ['127.0.0.1'] })
    expect(await statusOf(await connectVia(rig, target, rig.tokenFor('sum')))).toBe('HTTP/1.1 403 Forbidden')
    expect(rig.log().at(-1)).toMatchObject({ event: 'refused', item: 'sum', code, method: 'CONNECT' })
  })

  test('without a token is refused before a name is resolved', async () => {
    let resolved = 0
    const resolve = async () => [String(resolved++)]
    const rig = await startRig({}, { allowHosts, resolve })
    expect(await statusOf(await connectVia(rig, 'registry.example:443', null))).toContain('407')
    expect(resolved).toBe(0)
  })

  test("to an allowed name goes through the user's own proxy, both ways and half-closed", async () => {
    const asked: string[] = []
    const proxy: Server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.once('data', async (head) => {
        asked.push(head.toString('utf8').split('\r\n')[0] ?? '')
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.end(`all of: ${await text(socket)}`)
      })
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    onTestFinished(() => void proxy.close())
    const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const rig = await startRig({}, { allowHosts, env: { XDG_RUNTIME_DIR: (await startRig({})).runDir, HTTPS_PROXY } })
    const socket = await connectVia(rig, 'Registry.Example:443', rig.tokenFor('setup'))
    expect(await statusOf(socket)).toContain('200')
    socket.end('question')
    expect(await text(socket)).toBe('all of: question')
    expect(asked).toEqual(['CONNECT registry.example:443 HTTP/1.1'])
    expect(rig.log().at(-1)).toMatchObject({ event: 'connect', item: 'setup', target: 'registry.example:443' })
  })
})

test('a second gateway of a run steps back', async () => {
  const rig = await startRig({})
  const settings = { bounds: { item: noBounds, run: noBounds }, upstream: rig.api.url, allowHosts: [], env: rig.env }
  const times = { patienceMs: 60_000, graceMs: 60_000 }
  const tokenPath = tokenFile(newFolder())
  expect(
    await startGateway({ runDir: rig.runDir, api: 'anthropic', tokenFile: tokenPath, ...settings, ...times }),
  ).toBeNull()
  expect((await rig.ask({})).status).toBe(200)
})

test('refusals of an attempt are logged up to a bound', async () => {
  const rig = await startRig({})
  for (let n = 0; n < 505; n++) await rig.ask({ path: '/x', body: '' })
  const refusals = rig.log().filter((line) => line['event'] === 'refused')
  expect(refusals).toHaveLength(500)
  expect(refusals.at(-1)).toMatchObject({ last: true })
})
