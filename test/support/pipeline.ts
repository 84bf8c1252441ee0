/** Real pipelines: each stage a process of its own, joined by real pipes, with the status of every one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export const root = join(import.meta.dirname, '..', '..')
export const bin = (tool: string) => join(root, 'bin', tool)

/** The whole pipe of README and demo, in order. */
export const wholePipe = [
  'bw-plan',
  'bw-baseline',
  'bw-spawn',
  'bw-watch',
  'bw-collect',
  'bw-scan',
  'bw-merge',
  'bw-verify',
  'bw-deliver',
] as const

export interface StageCall {
  tool: string
  args?: readonly string[]
}

export interface PipeOptions {
  cwd: string
  env: Readonly<Record<string, string>>
  uid?: number
  gid?: number
  stdin?: string
  /** Called with each process as soon as all are started. */
  onStart?(children: ReadonlyMap<string, ChildProcess>): void
}

export interface PipeResult {
  /** Exit status by tool; a signal as 128 + its number, as a shell says it. */
  status: Record<string, number>
  records: { kind: string; [field: string]: unknown }[]
  stdout: string
  stderr: Record<string, string>
}

/** Runs the stages joined by pipes and waits for all of them. */
export async function runPipe(stages: readonly StageCall[], options: PipeOptions): Promise<PipeResult> {
  const children = stages.map(({ tool, args = [] }, index) =>
    spawn(bin(tool), [...args], {
      cwd: options.cwd,
      env: { PATH: process.env['PATH'] ?? '', ...options.env },
      stdio: [index === 0 && options.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid ?? options.uid }),
    }),
  )
  const errors = children.map((child) => (child.stderr === null ? Promise.resolve('') : text(child.stderr)))
  const ends = children.map((child) => once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>)
  for (const [index, child] of children.entries()) {
    const next = children[index + 1]
    if (next !== undefined && child.stdout !== null && next.stdin !== null) join2(child.stdout, next.stdin)
  }
  const first = children[0]
  if (options.stdin !== undefined && first?.stdin) first.stdin.end(options.stdin)
  options.onStart?.(new Map(stages.map(({ tool }, index) => [tool, children[index] as ChildProcess])))
  const last = children.at(-1)?.stdout
  const stdout = last === null || last === undefined ? '' : await text(last)
  const exits = await Promise.all(ends)
  const named = <T>(values: readonly T[]) =>
    Object.fromEntries(stages.map(({ tool }, index) => [tool, values[index] as T]))
  return {
    status: named(exits.map(([code, signal]) => code ?? 128 + (signalNumbers[signal ?? ''] ?? 0))),
    stderr: named(await Promise.all(errors)),
    stdout,
    records: stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  }
}

const signalNumbers: Record<string, number> = { SIGINT: 2, SIGKILL: 9, SIGTERM: 15, SIGPIPE: 13 }

/** Joins two processes as a shell would: either end going away closes the other. */
function join2(from: NodeJS.ReadableStream & { destroy?(): void }, to: NodeJS.WritableStream): void {
  from.pipe(to)
  to.on('error', () => from.destroy?.())
  from.on('error', () => to.end())
}

/** The whole pipe with the script agent. */
export function scriptPipe(
  scripts: string,
  { plan = 'PLAN.md', planArgs = [] as string[], deliverArgs = [] as string[] } = {},
): StageCall[] {
  return wholePipe.map((tool) => {
    if (tool === 'bw-plan') return { tool, args: [plan, ...planArgs] }
    if (tool === 'bw-spawn') return { tool, args: ['--agent', 'script', '--script', scripts] }
    return tool === 'bw-deliver' ? { tool, args: deliverArgs } : { tool }
  })
}
