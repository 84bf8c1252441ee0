import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createContainer } from '../src/container.ts'
import { connect, imageDigest } from '../src/index.ts'
import { makeVolume } from '../src/volume.ts'
import { newFolder } from './support/folder.ts'

const folder = newFolder()
const before = process.env.DOCKER_HOST
let server: Server | undefined

afterEach(() => {
  server?.close()
  process.env.DOCKER_HOST = before
  if (before === undefined) delete process.env.DOCKER_HOST
})

/** An engine that only answers, and remembers what it was asked. */
async function listen(answer: (path: string) => [number, object | string]): Promise<string[]> {
  const asked: string[] = []
  const socket = join(newFolder(), 's')
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume()
    const [status, body] = answer(request.url ?? '')
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server?.listen(socket, resolve))
  process.env.DOCKER_HOST = `unix://${socket}`
  return asked
}

it('says what to do when no engine answers', async () => {
  process.env.DOCKER_HOST = `unix://${folder}/none.sock`
  await expect(connect()).rejects.toMatchObject({
    code: 'no-engine',
    message: `no container engine answers at 'unix://${folder}/none.sock'`,
    hint: expect.stringContaining('scripts/setup'),
    status: 1,
  })
  process.env.DOCKER_HOST = 'carrier-pigeon://x'
  await expect(connect()).rejects.toMatchObject({ code: 'no-engine' })
})

it('names no API version and puts nothing of a container into a URL but its name', async () => {
  const asked = await listen((path) => [
    path.startsWith('/containers') ? 201 : 200,
    path === '/_ping' ? 'OK' : { Id: 'x', Name: 'v', Mountpoint: '/v' },
  ])
  const engine = await connect()
  await createContainer(engine, 'bw-x', { Image: 'i', Env: ['TOKEN=of-this-attempt'], Cmd: ['secret'] })
  await makeVolume(engine, 'v', { label: 'secret' })
  expect(asked).toEqual(['GET /_ping', 'POST /containers/create?name=bw-x', 'POST /volumes/create?', 'GET /volumes/v'])
})

it('says what to do when an image is missing', async () => {
  await listen((path) => (path === '/_ping' ? [200, 'OK'] : [404, { message: 'No such image: buildwave/base' }]))
  const engine = await connect()
  const missing = { code: 'no-image', hint: expect.stringContaining('bw-image'), status: 1 }
  await expect(imageDigest(engine, 'buildwave/base')).rejects.toMatchObject(missing)
  await expect(createContainer(engine, 'x', { Image: 'buildwave/base' })).rejects.toMatchObject(missing)
})
