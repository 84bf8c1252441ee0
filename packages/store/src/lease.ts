/**
 * Leases say who works on a run. Each acting stage holds one from its first record to its `end`. A lease whose process is
 * gone but whose file is still there belongs to a stage that died: an interrupt for the others, since an idle writer in a
 * pipe never notices a dead reader. A process is the same one only if pid and start time agree (pids are used again).
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'

export interface Lease {
  stage: string
  pid: number
  /** Clock ticks between boot and the start of the process, from /proc; null where there is no /proc. */
  startTicks: number | null
  host: string
  /** Milliseconds since the epoch. */
  acquiredAt: number
}

export interface HeldLease {
  release(): void
}

/** Takes the one writing lease of a stage. Throws UserError `stage-is-running` when another process holds it. */
export function acquireLease(dir: string, stage: string): HeldLease {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const other = readLeases(dir).find((lease) => lease.stage === stage && lease.pid !== process.pid && isAlive(lease))
  if (other !== undefined) {
    throw new UserError('stage-is-running', `another ${stage} (pid ${other.pid}) is at work on this run`, {
      hint: 'wait for it, or stop it and run the same command line again',
    })
  }
  const lease: Lease = {
    stage,
    pid: process.pid,
    startTicks: startTicks(process.pid),
    host: hostname(),
    acquiredAt: Date.now(),
  }
  const path = join(dir, fileName(lease))
  writeFileSync(`${path}.new`, JSON.stringify(lease), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return { release: () => rmSync(path, { force: true }) }
}

/** All leases of a run, dead or alive. */
export function readLeases(dir: string): Lease[] {
  let names: string[]
  try {
    names = readdirSync(dir)
  } catch {
    return []
  }
  return names.filter((name) => name.endsWith('.json')).flatMap((name) => readLease(join(dir, name)))
}

/** Forgets the leases of dead processes that were taken before `before` (milliseconds): an earlier, killed pipeline. */
export function forgetDeadLeases(dir: string, before: number): void {
  for (const lease of readLeases(dir)) {
    if (lease.acquiredAt < before && !isAlive(lease)) rmSync(join(dir, fileName(lease)), { force: true })
  }
}

/** True while the process that took the lease lives; on another host that cannot be told, so true. */
export function isAlive(lease: Lease): boolean {
  if (lease.host !== hostname()) return true
  const ticks = startTicks(lease.pid)
  if (lease.startTicks !== null) return ticks === lease.startTicks
  try {
    process.kill(lease.pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Watches the other leases of a run: `died(lease)` says which stage ended without taking its lease back. A lease already
 * dead when first seen counts only if it was taken after `startedAt`, when this process began: then it is of this pipeline.
 */
export function watchLeases(dir: string, startedAt: number): { firstDead(): Lease | undefined } {
  const seenAlive = new Set<string>()
  return {
    firstDead() {
      for (const lease of readLeases(dir)) {
        if (lease.pid === process.pid) continue
        const name = fileName(lease)
        if (isAlive(lease)) seenAlive.add(name)
        else if (seenAlive.has(name) || lease.acquiredAt > startedAt) return lease
      }
      return undefined
    },
  }
}

function fileName(lease: Lease): string {
  return `${lease.stage}.${lease.pid}.json`
}

function readLease(path: string): Lease[] {
  try {
    return [JSON.parse(readFileSync(path, 'utf8')) as Lease]
  } catch {
    return []
  }
}

/** Field 22 of /proc/PID/stat, null when the process is gone, a zombie, or there is no /proc. */
function startTicks(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? null : Number(fields[19])
  } catch {
    return null
  }
}
