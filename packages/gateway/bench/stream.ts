/**
 * A streamed answer through relay and gateway against the same answer straight from the API, in turns and in one run:
 * time to the first byte, and time for a long answer. Prints one JSON line; only the ratios mean anything elsewhere.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startModelApi } from '../../../test/support/model-api.ts'
import { startGateway } from '../src/gateway.ts'
import { makeToken, runKey } from '../src/token.ts'

const rounds = 30
const none = { tokens: null, usd: null, turns: null }
const folder = mkdtempSync(join(tmpdir(), 'bwg-'))
const port = 20_000 + (process.pid % 10_000)
const long = 'word '.repeat(2_000_000)

const api = await startModelApi({ answer: ({ body }) => ({ text: body.long ? long : 'hello' }) })
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, ['sk', 'ant', 'oat01', 'b'.repeat(40)].join('-'), { mode: 0o600 })
const gateway = await startGateway({
  runDir: folder,
  api: 'anthropic',
  tokenFile,
  upstream: api.url,
  allowHosts: [],
  bounds: { item: none, run: none },
  patienceMs: 1000,
  graceMs: 60_000,
  env: { XDG_RUNTIME_DIR: folder },
})
if (gateway === null) throw new Error('another gateway is there')
const relay = join(import.meta.dirname, '..', 'relay', 'relay.py')
const child = spawn('python3', [relay, String(port), join(gateway.socketDir, 'api.sock')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
await once(child.stdout, 'data')
const headers = { authorization: `Bearer ${makeToken(runKey(folder), { item: 'bench', attempt: 1 })}` }

const direct = new URL(api.url).port
const times = {
  first: { direct: [] as number[], gateway: [] as number[] },
  whole: { direct: [] as number[], gateway: [] as number[] },
}
for (let round = 0; round < rounds; round++) {
  for (const [way, to] of [
    ['direct', Number(direct)],
    ['gateway', port],
  ] as const) {
    times.first[way].push((await ask(to, false)).first)
    if (round < rounds / 5) times.whole[way].push((await ask(to, true)).whole)
  }
}
const [first, whole] = [compare(times.first), compare(times.whole)]
process.stdout.write(
  `${JSON.stringify({ bench: 'gateway', rounds, firstByte: first, longAnswer: { bytes: long.length, ...whole } })}\n`,
)
child.kill()
gateway.stop()
await gateway.ended
await api.close()
rmSync(folder, { recursive: true, force: true })

function ask(to: number, isLong: boolean): Promise<{ first: number; whole: number }> {
  const body = JSON.stringify({
    model: 'claude-sonnet-5-5',
    stream: true,
    long: isLong,
    messages: [],
    tools: [{ name: 'x' }],
  })
  const begin = performance.now()
  return new Promise((resolve, reject) => {
    const call = request({ port: to, host: '127.0.0.1', path: '/v1/messages', method: 'POST', headers, agent: false })
    call.on('error', reject)
    call.on('response', (answer) => {
      let first = 0
      answer.on('data', () => {
        first ||= performance.now() - begin
      })
      answer.on('end', () => resolve({ first, whole: performance.now() - begin }))
    })
    call.end(body)
  })
}

function compare(measured: { direct: number[]; gateway: number[] }) {
  const [directMs, gatewayMs] = [median(measured.direct), median(measured.gateway)]
  return { directMs, gatewayMs, ratio: Number((gatewayMs / directMs).toFixed(2)) }
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Number((sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(2))
}
