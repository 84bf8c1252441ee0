import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { UserError } from '@buildwave/core'
import { type Gateway, type GatewayOptions, gatewayFor } from '@buildwave/gateway'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ModelApiOptions, startModelApi } from '../../../test/support/model-api.ts'

const main = join(import.meta.dirname, '..', 'src', 'main.ts')
const relay = join(import.meta.dirname, '..', '..', 'gateway', 'relay', 'relay.py')
const secret = ['sk', 'ant', 'oat01', 's'.repeat(40)].join('-')
/** Waits for a state to be reached, however busy the machine is. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })

const none = { tokens: null, usd: null, turns: null }
const body = JSON.stringify({ model: 'claude-sonnet-5-5', stream: true, messages: [], tools: [{ name: 'Bash' }] })

interface Place {
  folder: string
  options: GatewayOptions
  log(): Record<string, unknown>[]
}

function newPlace(upstream: string, change: Partial<GatewayOptions> = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), 'bwg-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const runDir = join(folder, 'run')
  mkdirSync(runDir)
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, secret, { mode: 0o600 })
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: folder, ...change.env }
  const options: GatewayOptions = {
    runDir,
    program: [process.execPath, main, '--grace', '0.2'],
    api: 'anthropic',
    tokenFile,
    upstream,
    allowHosts: [],
    bounds: { item: none, run: none },
    ...change,
    env,
  }
  const log = () =>
    readFileSync(join(runDir, 'gateway.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  return { folder, options, log }
}

async function open(options: GatewayOptions): Promise<Gateway> {
  const gateway = await gatewayFor(options)
  onTestFinished(() => gateway.close())
  return gateway
}

async function scripted(options: Partial<ModelApiOptions> = {}) {
  const api = await startModelApi({ answer: () => ({ text: 'hello' }), ...options })
  onTestFinished(() => api.close())
  return api
}

function post(target: object, token: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const ask = request({ path: '/v1/messages', method: 'POST', agent: false, headers, ...target }, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, text: await text(answer) })
    })
    ask.on('error', reject)
    ask.end(body)
  })
}

function viaSocket(gateway: Gateway): object {
  return { socketPath: join(gateway.socketDir, 'api.sock') }
}

async function startRelay({ port, socketDir }: Pick<Gateway, 'socketDir' | 'port'>): Promise<ChildProcess> {
  const argv = [relay, String(port), join(socketDir, 'api.sock')]
  const child = spawn('python3', argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

const count = (place: Place, event: string) => place.log().filter((line) => line['event'] === event).length
const pidOf = (place: Place) => Number(place.log().findLast((line) => line['event'] === 'started')?.['pid'])

describe('a lease', () => {
  test('starts the gateway; after the last one it ends by itself and leaves no socket', async () => {
    const place = newPlace((await scripted()).url)
    const first = await open(place.options)
    const second = await open(place.options)
    expect(count(place, 'started')).toBe(1)
    const { token } = first.addressFor('sum', 1)
    expect((await post(viaSocket(first), token)).status).toBe(200)
    const used = async () => (await first.state()).items['sum']
    await eventually(used).toMatchObject({ turns: 1, tokens: { input: 100, output: 25 } })
    first.close()
    second.close()
    await eventually(() => count(place, 'ended')).toBe(1)
    await eventually(() => readdirSync(join(place.folder, 'bw'))).toEqual([])
  })

  test('brings a gateway that was killed back, with the same tokens, counts and folder', async () => {
    const place = newPlace((await scripted()).url)
    const gateway = await open(place.options)
    const { token } = gateway.addressFor('sum', 1)
    await post(viaSocket(gateway), token)
    await eventually(() => count(place, 'request')).toBe(1)
    process.kill(pidOf(place), 'SIGKILL')
    await eventually(() => count(place, 'started')).toBe(2)
    await expect
      .poll(() =>
        post(viaSocket(gateway), token).then(
          (reply) => reply.status,
          () => 0,
        ),
      )
      .toBe(200)
    await eventually(async () => (await gateway.state()).items['sum']?.tokens.input).toBe(200)
  })

  test('may bring higher bounds, but not another upstream or list of hosts', async () => {
    const place = newPlace((await scripted()).url, { bounds: { item: { ...none, turns: 1 }, run: none } })
    const first = await open(place.options)
    const { token } = first.addressFor('sum', 1)
    await post(viaSocket(first), token)
    expect((await post(viaSocket(first), token)).status).toBe(400)
    await open({ ...place.options, bounds: { item: { ...none, turns: 5 }, run: none } })
    expect((await post(viaSocket(first), token)).status).toBe(200)
    const other = open({ ...place.options, allowHosts: ['registry.example:443'] })
    await expect(other).rejects.toMatchObject({ code: 'gateway-differs' })
  })

  test('brings a mended credential; one that was refused is told until then', async () => {
    const good = ['sk', 'ant', 'oat01', 'g'.repeat(40)].join('-')
    const answer: ModelApiOptions['answer'] = ({ headers }) =>
      headers.authorization === `Bearer ${good}` ? {} : { status: 401 }
    const place = newPlace((await scripted({ answer })).url)
    const first = await open(place.options)
    const { token } = first.addressFor('sum', 1)
    expect((await post(viaSocket(first), token)).status).toBe(401)
    expect(await first.state()).toMatchObject({ isRefused: true })
    writeFileSync(place.options.tokenFile, good)
    await open(place.options)
    expect((await post(viaSocket(first), token)).status).toBe(200)
    expect(await first.state()).toMatchObject({ isRefused: false })
  })

  test('fails with the wordsof a gateway that cannot start', async () => {
    const place = newPlace('http://127.0.0.1:1')
    writeFileSync(join(place.folder, 'open'), secret, { mode: 0o644 })
    const tokenFile = join(place.folder, 'open')
    const caught = await gatewayFor({ ...place.options, tokenFile }).catch((error: unknown) => error)
    expect(caught).toBeInstanceOf(UserError)
    expect(caught).toMatchObject({ code: 'gateway-start', hint: `chmod 600 '${tokenFile}'` })
    expect((caught as UserError).message).toContain('others can open it (mode 644)')
    const missing = gatewayFor({ ...place.options, program: ['/nowhere/bw-gateway'] })
    await expect(missing).rejects.toThrow('cannot start the gateway')
  })

  test('under a protected path is refused', async () => {
    const place = newPlace('http://127.0.0.1:1')
    const env = { ...place.options.env, BW_PROTECTED_PATHS: place.folder }
    await expect(gatewayFor({ ...place.options, env })).rejects.toThrow('is under the protected path')
  })
})

test('a signal ends the gateway with its status, and its sockets with it', async () => {
  const place = newPlace((await scripted()).url)
  const argv = [main, '--run-dir', place.options.runDir, '--token-file', place.options.tokenFile]
  const child = spawn(process.execPath, argv, {
    env: place.options.env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([143, null])
  expect(readdirSync(join(place.folder, 'bw'))).toEqual([])
})

test('two gateways that are started at the same moment leave one', async () => {
  const place = newPlace((await scripted()).url)
  const [first, second] = await Promise.all([open(place.options), open(place.options)])
  const { token } = first.addressFor('sum', 1)
  expect((await post(viaSocket(second), token)).status).toBe(200)
  first.close()
  second.close()
  await eventually(() => count(place, 'ended')).toBe(count(place, 'started'))
  await eventually(() => readdirSync(join(place.folder, 'bw'))).toEqual([])
})

test('the credential is in neither the argv, the environment nor a file of the gateway', async () => {
  const place = newPlace((await scripted()).url)
  await open(place.options)
  const proc = `/proc/${pidOf(place)}`
  for (const file of ['cmdline', 'environ']) expect(readFileSync(join(proc, file), 'utf8')).not.toContain(secret)
  for (const file of readdirSync(place.options.runDir)) {
    expect(readFileSync(join(place.options.runDir, file), 'latin1')).not.toContain(secret)
  }
})

describe('the relay', () => {
  test('carries requests of a builder, many at once', async () => {
    const place = newPlace((await scripted()).url)
    const gateway = await open(place.options)
    await startRelay(gateway)
    const replies = Array.from({ length: 40 }, (_, n) => {
      return post({ host: '127.0.0.1', port: gateway.port }, gateway.addressFor(`item-${n}`, 1).token)
    })
    for (const { status, text: said } of await Promise.all(replies)) {
      expect(status).toBe(200)
      expect(said).toContain('message_stop')
    }
  })

  test('hands on the end of one direction and goes on with the other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bwg-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const large = 'x'.repeat(5_000_000)
    const server = createServer({ allowHalfOpen: true }, async (socket) => {
      socket.on('error', () => undefined)
      const asked = await text(socket)
      if (!asked.startsWith('GET')) socket.end(`${asked.length}:${large}`)
    })
    server.listen(join(folder, 'api.sock'))
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const gateway = { socketDir: folder, port: 20_000 + (process.pid % 10_000) }
    await startRelay(gateway)
    const socket = connect({ host: '127.0.0.1', port: gateway.port, allowHalfOpen: true })
    socket.end('y'.repeat(3_000_000))
    expect(await text(socket)).toBe(`3000000:${large}`)
  })

  test('keeps the gateway alive without any lease, and is its end when it goes', async () => {
    const place = newPlace((await scripted()).url)
    const gateway = await open(place.options)
    const child = await startRelay(gateway)
    const { token } = gateway.addressFor('sum', 1)
    await post({ host: '127.0.0.1', port: gateway.port }, token)
    gateway.close()
    // Five times the grace in requests: it would be gone by now.
    for (let until = Date.now() + 1000; Date.now() < until; ) {
      expect((await post({ host: '127.0.0.1', port: gateway.port }, token)).status).toBe(200)
    }
    child.kill('SIGKILL')
    await eventually(() => count(place, 'ended')).toBe(1)
  })

  test('lets a request live through a restart of the gateway', async () => {
    const place = newPlace((await scripted()).url)
    const gateway = await open(place.options)
    await startRelay(gateway)
    const { token } = gateway.addressFor('sum', 1)
    const pid = pidOf(place)
    process.kill(pid, 'SIGKILL')
    // It is our child: its entry goes when its last thread has ended and its sockets are closed.
    await eventually(() => existsSync(`/proc/${pid}`)).toBe(false)
    const reply = await post({ host: '127.0.0.1', port: gateway.port }, token)
    expect(reply.status).toBe(200)
  })
})

describe('an upstream over TLS', () => {
  function certificate(folder: string, name: string): { key: string; cert: string; file: string } {
    const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
    const argv = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      keyFile,
      '-out',
      file,
      ...subject,
    ]
    execFileSync('openssl', argv, { stdio: 'ignore' })
    return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(file, 'utf8'), file }
  }

  /** A proxy that leads every name to this machine. */
  async function startProxy() {
    const asked: string[] = []
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (head) => {
        const [, target = ''] = head.toString('utf8').split(' ')
        asked.push(target)
        const outside = connect(Number(target.split(':')[1]), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n')
          socket.pipe(outside).pipe(socket)
        })
        outside.on('error', () => socket.destroy())
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
  }

  async function tlsPlace(name: string) {
    const tls = certificate(newPlace('http://127.0.0.1:1').folder, 'api.example')
    const api = await scripted({ tls })
    const proxy = await startProxy()
    const upstream = `https://${name}:${new URL(api.url).port}`
    const env = { NODE_EXTRA_CA_CERTS: tls.file, HTTPS_PROXY: proxy.url }
    return { place: newPlace(upstream, { env }), proxy, api }
  }

  test("is reached through the user's proxy by one tunnel for many requests", async () => {
    const { place, proxy, api } = await tlsPlace('api.example')
    const gateway = await open(place.options)
    const { token } = gateway.addressFor('sum', 1)
    for (let n = 0; n < 3; n++) expect((await post(viaSocket(gateway), token)).status).toBe(200)
    expect(proxy.asked).toEqual([`api.example:${new URL(api.url).port}`])
    expect(api.asked[0]?.headers.authorization).toBe(`Bearer ${secret}`)
  })

  test('whose certificate is for another name gets no credential', async () => {
    const { place, api } = await tlsPlace('other.example')
    const gateway = await open(place.options)
    expect((await post(viaSocket(gateway), gateway.addressFor('sum', 1).token)).status).toBe(502)
    expect(api.asked).toEqual([])
  })
})
