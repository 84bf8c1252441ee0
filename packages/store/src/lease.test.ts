import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acquireLease, forgetDeadLeases, isAlive, readLeases, watchLeases } from './lease.ts'

const place = () => join(mkdtempSync(join(tmpdir(), 'bw-lease-')), 'leases')

/** A process of its own that takes the lease of `stage` and then waits to be killed. */
async function holder(dir: string, stage: string) {
  const code = `import { acquireLease } from ${JSON.stringify(join(import.meta.dirname, 'lease.ts'))}; acquireLease(${JSON.stringify(dir)}, ${JSON.stringify(stage)}); console.log('held'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('a stage has one writer, until it lets go or dies', async () => {
  const dir = place()
  const other = await holder(dir, 'bw-merge')
  expect(() => acquireLease(dir, 'bw-merge')).toThrow('another bw-merge')
  acquireLease(dir, 'bw-scan').release()
  await other.kill()
  acquireLease(dir, 'bw-merge').release()
})

test('a lease that was alive and whose process was killed is a death for all others', async () => {
  const dir = place()
  const watch = watchLeases(dir, Date.now())
  const other = await holder(dir, 'bw-spawn')
  expect(watch.firstDead()).toBeUndefined()
  await other.kill()
  expect(watch.firstDead()?.stage).toBe('bw-spawn')
})

test('a lease that died in an earlier pipeline is not a death in this one, and is forgotten', async () => {
  const dir = place()
  const other = await holder(dir, 'bw-spawn')
  await other.kill()
  const startedAt = Date.now() + 1
  expect(watchLeases(dir, startedAt).firstDead()).toBeUndefined()
  forgetDeadLeases(dir, startedAt)
  expect(readdirSync(dir)).toEqual([])
})

test('a lease taken by this pipeline and dead before anybody looked is a death', async () => {
  const dir = place()
  const startedAt = Date.now() - 1
  const other = await holder(dir, 'bw-spawn')
  await other.kill()
  forgetDeadLeases(dir, startedAt)
  expect(watchLeases(dir, startedAt).firstDead()?.stage).toBe('bw-spawn')
})

test('a pid that another process has now is not the process that took the lease', () => {
  const dir = place()
  acquireLease(dir, 'bw-watch')
  const [lease] = readLeases(dir)
  if (lease === undefined) throw new Error('no lease')
  expect(isAlive(lease)).toBe(true)
  expect(isAlive({ ...lease, startTicks: (lease.startTicks ?? 0) - 1 })).toBe(false)
})
