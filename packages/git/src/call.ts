import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type ExitStatus, UserError } from '@buildwave/core'
import { execa } from 'execa'
import type { Repo } from './repo.ts'
import { gitEnvironment } from './settings.ts'

/** No single question to git takes longer; a whole history that is packed may. */
const minutes = { call: 10, transfer: 120 } as const

export interface CallOptions {
  stdin?: string | Buffer | Readable
  /** Variables on top of ours, say GIT_INDEX_FILE. */
  env?: Readonly<Record<string, string>>
  /** Exit statuses that are an answer; 0 only unless said. */
  answers?: readonly number[]
  /** Run as this owner, so that what is written belongs to them. */
  owner?: Owner | undefined
  transfer?: boolean
  /** The process lives until its stdin is closed: no time limit. */
  isDialogue?: boolean
}

export interface Owner {
  uid: number
  gid: number
}

export interface Answer {
  status: number
  stdout: Buffer
  stderr: string
}

/** A git process whose stdout is read while it runs. */
export interface GitStream {
  stdout: Readable
  /** Settles when the process has ended well; rejects with a UserError when it has not, and then `stdout` fails as well. */
  ended: Promise<void>
  kill(): void
}

/** Runs git in `repo` (null: in none) and gives back its whole stdout. Throws UserError `git-failed` on any other status. */
export async function callGit(repo: Repo | null, args: readonly string[], options: CallOptions = {}): Promise<Answer> {
  const result = await start(repo, args, options, true)
  const status = result.exitCode ?? -1
  if (result.failed && !(options.answers ?? [0]).includes(status)) throw gitFailure(args, result)
  return { status, stdout: Buffer.from(result.stdout ?? []), stderr: Buffer.from(result.stderr ?? []).toString('utf8') }
}

/** Like `callGit`, for an answer that is one line of text. */
export async function gitLine(repo: Repo | null, args: readonly string[], options: CallOptions = {}): Promise<string> {
  return (await callGit(repo, args, options)).stdout.toString('utf8').replace(/\n$/, '')
}

/** Like `callGit`, for an answer of NUL-terminated fields. */
export async function gitFields(repo: Repo, args: readonly string[], options: CallOptions = {}): Promise<Buffer[]> {
  return splitFields((await callGit(repo, args, options)).stdout)
}

/** Starts git and hands out its stdout as it comes; the stream fails when git does, so nobody takes half an answer for a whole one. */
export function streamGit(repo: Repo, args: readonly string[], options: CallOptions = {}): GitStream {
  const subprocess = start(repo, args, { ...options, transfer: true }, false)
  const stdout = new PassThrough()
  const ended = Promise.all([
    subprocess,
    pipeline(subprocess.stdout, stdout, { end: false }).catch(() => undefined),
  ]).then(([result]) => {
    if (result.failed) throw gitFailure(args, result)
    stdout.end()
  })
  // Whoever reads the stream may stop before it awaits the end; that alone must not end the program.
  ended.catch((error: Error) => stdout.destroy(error))
  stdout.on('error', () => undefined)
  return { stdout, ended, kill: () => subprocess.kill() }
}

function start(repo: Repo | null, args: readonly string[], options: CallOptions, buffered: boolean) {
  const where = repo === null ? [] : [`--git-dir=${repo.gitDir}`]
  const { stdin } = options
  const subprocess = execa('git', [...where, ...args], {
    env: gitEnvironment(options.env),
    extendEnv: false,
    cwd: '/',
    encoding: 'buffer',
    stripFinalNewline: false,
    maxBuffer: 2 ** 30,
    reject: false,
    killDescendants: true,
    ...(options.isDialogue ? {} : { timeout: (options.transfer ? minutes.transfer : minutes.call) * 60_000 }),
    buffer: { stdout: buffered, stderr: true },
    ...(stdin === undefined ? { stdin: 'ignore' } : isStream(stdin) ? { stdin: 'pipe' } : { input: stdin }),
    ...(options.owner === undefined ? {} : options.owner),
  })
  if (stdin !== undefined && isStream(stdin) && subprocess.stdin !== null) {
    // A stream that breaks ends git's input early, and git says so; git that ends early closes the stream.
    pipeline(stdin, subprocess.stdin).catch(() => undefined)
  }
  return subprocess
}

function isStream(stdin: string | Buffer | Readable): stdin is Readable {
  return typeof stdin !== 'string' && !Buffer.isBuffer(stdin)
}

interface Failure {
  code?: string | undefined
  timedOut: boolean
  exitCode?: number | undefined
  stderr: unknown
  shortMessage?: string | undefined
}

function gitFailure(args: readonly string[], failure: Failure): UserError {
  const verb = args.find((arg) => !arg.startsWith('-')) ?? 'git'
  if (failure.code === 'ENOENT')
    return new UserError('git-missing', "cannot run 'git'", { hint: 'install git 2.38 or newer' })
  if (failure.timedOut) return new UserError('git-timed-out', `'git ${verb}' took too long`)
  const said = firstComplaint(failure.stderr)
  return new UserError(
    'git-failed',
    `'git ${verb}' failed: ${said || failure.shortMessage || `exit ${failure.exitCode}`}`,
    {
      status: unusable.test(said) ? 4 : (1 satisfies ExitStatus),
    },
  )
}

/** What git says when an object is missing or broken, in the words of its C locale. */
const unusable =
  /bad object|not a tree object|missing (blob|tree|commit|object)|corrupt|hash mismatch|unable to read|could not read|not a valid object|inflate|unable to parse|unable to unpack|bad tree|did not match|fsck|unresolved delta|invalid object|pack has bad|not our ref|cannot read/i

function firstComplaint(stderr: unknown): string {
  const text = stderr instanceof Uint8Array ? Buffer.from(stderr).toString('utf8') : String(stderr ?? '')
  const lines = text.split('\n').filter((line) => line !== '')
  const line = lines.find((candidate) => /^(fatal|error): /.test(candidate)) ?? lines[0] ?? ''
  return line.replace(/^(fatal|error): /, '').slice(0, 500)
}

/** Splits NUL-terminated fields. */
export function splitFields(bytes: Buffer): Buffer[] {
  const fields: Buffer[] = []
  let from = 0
  for (let end = bytes.indexOf(0, from); end !== -1; end = bytes.indexOf(0, from)) {
    fields.push(bytes.subarray(from, end))
    from = end + 1
  }
  if (from < bytes.length) fields.push(bytes.subarray(from))
  return fields
}
