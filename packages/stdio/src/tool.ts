import { dirname, join } from 'node:path'
import process from 'node:process'
import { type ExitStatus, exit, UserError } from '@buildwave/core'
import { type Flags, type FlagValues, parseFlags } from './flags.ts'
import { type HelpText, renderHelp } from './help.ts'
import { type Io, processIo } from './io.ts'
import { type Messages, messagesTo } from './messages.ts'

export interface Call<T extends Flags> {
  tool: string
  flags: FlagValues<T>
  args: string[]
  io: Io
  say: Messages
}

export interface Tool<T extends Flags> extends HelpText {
  flags: T
  run(call: Call<T & typeof commonFlags>): Promise<ExitStatus>
}

/** Flags that every tool has. */
export const commonFlags = {
  help: { type: 'boolean', short: 'h', help: 'show this help' },
  version: { type: 'boolean', help: 'show the version' },
} as const satisfies Flags

/** Keeps the flag types of a tool's definition. */
export function defineTool<const T extends Flags>(tool: Tool<T>): Tool<T> {
  return tool
}

/**
 * Runs a tool in this process and sets `process.exitCode`; the only place where an error is printed. Never exits by
 * itself: stdout may still hold data (a pipe was cut at 65,536 bytes by `process.exit`).
 */
export async function runTool<T extends Flags>(tool: Tool<T>): Promise<void> {
  // A dependency's deprecations are no message of ours.
  process.noDeprecation = true
  process.exitCode = await callTool(tool, processIo())
  process.stdin.destroy()
}

/** Runs a tool on given streams; gives its exit status. */
export async function callTool<T extends Flags>(tool: Tool<T>, io: Io): Promise<ExitStatus> {
  const flags = { ...tool.flags, ...commonFlags }
  const say = messagesTo(io, tool.name)
  io.stderr.on('error', () => undefined)
  try {
    const early = io.argv.includes('--') ? io.argv.slice(0, io.argv.indexOf('--')) : io.argv
    if (early.includes('--help') || early.includes('-h')) return await print(io, renderHelp({ ...tool, flags }))
    if (early.includes('--version')) return await print(io, `${tool.name} ${version()}\n`)
    const parsed = parseFlags(io, flags)
    return await tool.run({ tool: tool.name, ...parsed, io, say } as Call<T & typeof commonFlags>)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    say.error(error.message, error.hint)
    return error.status
  }
}

/** The version of the package; set when the bundle is built. */
export function version(): string {
  return process.env['BW_VERSION'] ?? '0.0.0-dev'
}

function print(io: Io, text: string): Promise<ExitStatus> {
  return new Promise((resolve) => {
    io.stdout.on('error', () => resolve(exit.ok))
    io.stdout.write(text, () => resolve(exit.ok))
  })
}

/** Program and first arguments that start another tool of this installation: beside the bundle, or from its source. */
export function otherTool(name: string): string[] {
  const own = process.argv[1] ?? ''
  const bundled = join(dirname(own), `${name}.mjs`)
  return [process.execPath, own.endsWith('.mjs') ? bundled : join(dirname(own), '..', '..', name, 'src', 'main.ts')]
}
