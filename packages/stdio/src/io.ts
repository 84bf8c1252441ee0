import process from 'node:process'
import type { Readable, Writable } from 'node:stream'

/** Everything of the process that a tool may touch. Tests hand in their own. */
export interface Io {
  argv: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & { isTTY?: boolean; columns?: number }
  stderr: Writable & { isTTY?: boolean; columns?: number; rows?: number }
  /** Called for SIGINT and SIGTERM; returns the function that stops listening. */
  onSignal(listener: (signal: 'SIGINT' | 'SIGTERM') => void): () => void
  /** When this process was started, in milliseconds since the epoch. */
  startedAt: number
}

/** The real process. */
export function processIo(): Io {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    startedAt: Date.now() - process.uptime() * 1000,
    onSignal(listener) {
      const onInt = () => listener('SIGINT')
      const onTerm = () => listener('SIGTERM')
      process.on('SIGINT', onInt)
      process.on('SIGTERM', onTerm)
      return () => {
        process.off('SIGINT', onInt)
        process.off('SIGTERM', onTerm)
      }
    },
  }
}

/** Colour is for terminals that want it: no-color.org takes any non-empty NO_COLOR. */
export function wantsColour(stream: { isTTY?: boolean }, env: Io['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}
