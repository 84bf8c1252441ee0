import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { confinement } from './confinement.ts'
import type { Engine } from './connect.ts'
import { holderImage } from './image.ts'
import { runOnce } from './one-shot.ts'
import { program } from './program.ts'
import { builderGid, builderUid } from './uid.ts'

/** What a container showed, not what the engine's `info` says: some engines accept bounds and ignore them. */
export interface CanaryResult {
  memory: boolean
  pids: boolean
  cpus: boolean
  readOnlyRoot: boolean
  noNetwork: boolean
  /** No capability, no way to gain one, and a system call filter. */
  noPrivileges: boolean
  /** True when all of it held. */
  ok: boolean
  /** One line for each that did not hold, for people. */
  problems: string[]
}

/** Proves with one container, made as a builder is, that limits and walls are real on this engine. */
export async function canary(engine: Engine): Promise<CanaryResult> {
  const shown = readReport(await text(Readable.from(await startCanary(engine))))
  const held = {
    memory: shown.memory === memoryBytes && swapIsBounded(shown.swap),
    pids: shown.pids === String(limits.pids),
    cpus: shown.cpus === cpuQuota,
    readOnlyRoot: shown.root === 'read-only',
    noNetwork: shown.interfaces === 'lo' && shown.routes === '0',
    noPrivileges: /^0+$/.test(shown.capabilities ?? '') && shown.nonewprivs === '1' && shown.seccomp === '2',
  }
  const problems = (Object.keys(held) as (keyof typeof held)[])
    .filter((wall) => !held[wall])
    .map((wall) => complaints[wall])
  return { ...held, ok: problems.length === 0, problems }
}

const complaints = {
  memory: 'the engine does not bound memory: a builder could take all of the host',
  pids: 'the engine does not bound the number of processes: a fork bomb would reach the host',
  cpus: 'the engine does not bound the use of the processors',
  readOnlyRoot: 'the engine lets a builder write outside of its own places',
  noNetwork: 'the engine gives a builder a network',
  noPrivileges: 'the engine leaves a builder with privileges',
}

const limits = { memoryMiB: 96, pids: 37, cpus: 0.5, tmpMiB: 8, homeMiB: 8, workMiB: 8 }
const memoryBytes = String(limits.memoryMiB * 1024 * 1024)

/** Half of the kernel's period of 100 ms, in microseconds. */
const cpuQuota = '50000'

/** cgroup v1 counts memory and swap together, v2 swap alone; a kernel without swap accounting has neither file. */
function swapIsBounded(swap: string | undefined): boolean {
  return swap === memoryBytes || swap === '0' || swap === 'missing'
}

function startCanary(engine: Engine): ReturnType<typeof runOnce> {
  return runOnce(engine, {
    identity: { role: 'canary', stage: 'canary' },
    image: holderImage(),
    argv: program('canary'),
    user: `${builderUid()}:${builderGid()}`,
    host: confinement(limits, builderUid()),
    ttlSeconds: 60,
  })
}

function readReport(report: string): Partial<Record<string, string>> {
  const pairs = report.split('\n').map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)])
  return Object.fromEntries(pairs)
}
