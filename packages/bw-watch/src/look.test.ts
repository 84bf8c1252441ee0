import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runPaths } from '@buildwave/store'
import { expect, test } from 'vitest'
import { isFollowed, lookOn } from './look.ts'

test('a run that another bw-watch follows is shown until that one is done, and nothing is written', async () => {
  const paths = runPaths(mkdtempSync(join(tmpdir(), 'bw-look-')), 'plan-00000000')
  const attempt = paths.attempt('a', 1)
  mkdirSync(attempt.out, { recursive: true })
  writeFileSync(attempt.stream, '{"turn":true}\n{"tool":"Bash","detail":"make"}\n')
  const about = { v: 1, run: paths.id, item: 'a' }
  const line = (record: object) => `${JSON.stringify(record)}\n`
  writeFileSync(
    paths.journal,
    line({ kind: 'item', ...about }) + line({ kind: 'builder', ...about, attempt: 1, agent: 'script' }),
  )
  expect(isFollowed(paths)).toBe(false)

  const lease = `import { acquireLease } from ${JSON.stringify(join(import.meta.dirname, '../../store/src/lease.ts'))}; acquireLease(${JSON.stringify(paths.leases)}, 'bw-watch'); console.log('held'); setInterval(() => {}, 1000)`
  const other = spawn(process.execPath, ['--input-type=module', '-e', lease], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(other.stdout, 'data')
  expect(isFollowed(paths)).toBe(true)

  const seen: string[] = []
  const view = {
    close: () => undefined,
    update(item: string, change: { state?: string; lastTool?: string }) {
      seen.push(`${item} ${change.state ?? change.lastTool ?? ''}`)
      if (change.lastTool === 'Bash make') {
        const end = { outcome: 'done', seconds: 1, turns: 1, tokens: { input: 0, output: 0 }, costUsd: null }
        appendFileSync(paths.journal, line({ kind: 'build', ...about, attempt: 1, ...end }))
      }
      if (change.state === 'done') other.kill('SIGKILL')
    },
  }
  await lookOn(paths, view, new AbortController().signal)
  expect(seen).toEqual(['a waiting', 'a running', 'a Bash make', 'a done'])
})
