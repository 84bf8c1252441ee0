import { spawn } from 'node:child_process'
import { UserError } from '@buildwave/core'

/**
 * Runs a program of the host to its end in a process group of its own, without a shell and without a terminal. Throws
 * UserError `missing-program` or `program-failed` with the last of what it said.
 */
export async function runProgram(name: string, args: readonly string[]): Promise<void> {
  const child = spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-4096)
  })
  const timer = setTimeout(() => killGroup(child.pid), limitMilliseconds)
  try {
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (status !== 0) throw new UserError('program-failed', `${name} ended with ${status}: ${said.trim()}`)
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw new UserError('missing-program', `cannot run '${name}'`, { hint: `apt-get install ${name}`, cause })
  } finally {
    clearTimeout(timer)
  }
}

/** mmdebstrap took 51 s on a busy machine; on a slow line it may take minutes. */
const limitMilliseconds = 30 * 60_000

function killGroup(pid: number | undefined): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}
