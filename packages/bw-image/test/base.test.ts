import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Engine } from '@buildwave/engine'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeBase } from '../src/base.ts'
import { runProgram } from '../src/run-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'bw-base-'))
const before = { host: process.env.DOCKER_HOST, path: process.env.PATH }
let engine: Engine

// An engine without images whose host reaches no registry.
const server = createServer((request, response) => {
  request.resume()
  if (request.url === '/_ping') response.end('OK')
  else if (request.url?.startsWith('/images/create')) {
    const message = 'Get "https://registry.example/v2/": dial tcp: lookup registry.example: no such host'
    response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
  } else
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ message: 'no such image' }))
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve))
  process.env.DOCKER_HOST = `unix://${join(folder, 's')}`
  engine = await connect()
})

afterAll(() => {
  if (before.host === undefined) delete process.env.DOCKER_HOST
  else process.env.DOCKER_HOST = before.host
  process.env.PATH = before.path
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

it('points to --bootstrap when no registry can be reached', async () => {
  await expect(makeBase(engine, { bootstrap: false, cacheDir: folder, note: () => undefined })).rejects.toMatchObject({
    code: 'no-registry',
    message: expect.stringMatching(/^cannot fetch 'debian:bookworm-slim': .*no such host/),
    hint: expect.stringContaining('--bootstrap'),
    status: 1,
  })
})

it('says which program is missing for --bootstrap, and leaves no half of a file', async () => {
  process.env.PATH = folder
  const cacheDir = join(folder, 'cache')
  await expect(makeBase(engine, { bootstrap: true, cacheDir, note: () => undefined })).rejects.toMatchObject({
    code: 'missing-program',
    message: "cannot run 'mmdebstrap'",
    hint: 'apt-get install mmdebstrap',
  })
  process.env.PATH = before.path
  expect(readdirSync(cacheDir)).toEqual([])
})

it('tells how a program failed', async () => {
  const script = join(folder, 'fails')
  writeFileSync(script, 'echo it broke >&2; exit 3')
  await expect(runProgram('sh', [script])).rejects.toMatchObject({
    code: 'program-failed',
    message: 'sh ended with 3: it broke',
  })
})
