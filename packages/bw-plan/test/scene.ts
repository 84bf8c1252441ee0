/** A repository of its own for a test, and the tool run in this process on streams of the test's. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { callTool, type Io } from '@buildwave/stdio'
import { planTool } from '../src/tool.ts'

export interface Scene {
  dir: string
  env: Record<string, string>
  git(...args: string[]): string
  write(path: string, text: string): void
  /** sha256 over every file below the repository, its git directory included. */
  fingerprint(): string
  remove(): void
}

export interface SceneOptions {
  files?: Record<string, string>
  identity?: boolean
  commit?: boolean
}

export function makeScene({ files = {}, identity = true, commit = true }: SceneOptions = {}): Scene {
  const place = mkdtempSync(join(tmpdir(), 'bw-plan-'))
  const dir = join(place, 'repo')
  mkdirSync(dir)
  const env = {
    HOME: place,
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
    GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  }
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
  const scene: Scene = {
    dir,
    env,
    git: (...args) => execFileSync('git', [...who, '-C', dir, ...args], { env, encoding: 'utf8' }),
    write(path, text) {
      mkdirSync(dirname(join(dir, path)), { recursive: true })
      writeFileSync(join(dir, path), text)
    },
    fingerprint: () => fingerprint(dir),
    remove: () => rmSync(place, { recursive: true, force: true }),
  }
  scene.git('init', '-q', '-b', 'main')
  // Even the name of the machine must not stand in for an identity.
  scene.git('config', 'user.useConfigOnly', 'true')
  if (identity) {
    scene.git('config', 'user.name', 'Ada')
    scene.git('config', 'user.email', 'ada@example.com')
  }
  for (const [path, text] of Object.entries({ 'pytest.ini': '', 'src/a.py': '', ...files })) scene.write(path, text)
  if (commit) {
    scene.git('add', '-A')
    scene.git('commit', '-q', '-m', 'Start')
  }
  return scene
}

export interface Answer {
  status: number
  stdout: string
  stderr: string
  records: Record<string, unknown>[]
}

interface CallOptions {
  stdin?: string
  isTTY?: boolean
  env?: Record<string, string>
  cwd?: string
}

export async function plan(scene: Scene, argv: string[], options: CallOptions = {}): Promise<Answer> {
  const stdout = collector(options.isTTY === true)
  const stderr = collector(false)
  const io: Io = {
    argv,
    env: { ...scene.env, ...options.env },
    cwd: options.cwd ?? scene.dir,
    stdin: Readable.from([Buffer.from(options.stdin ?? '')]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    startedAt: 0,
    onSignal: () => () => undefined,
  }
  const status = await callTool(planTool, io)
  const text = stdout.text()
  const records = options.isTTY ? [] : text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  return { status, stdout: text, stderr: stderr.text(), records }
}

export function itemsOf({ records }: Answer): Record<string, unknown>[] {
  return records.filter(({ kind }) => kind === 'item')
}

function collector(isTTY: boolean) {
  const stream = Object.assign(new PassThrough({ highWaterMark: 1 << 26 }), { isTTY, columns: 100 })
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}

function fingerprint(dir: string): string {
  const hash = createHash('sha256')
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true }).toSorted(byPath)) {
    const path = join(entry.parentPath, entry.name)
    hash.update(`${path}\0`)
    if (entry.isFile()) hash.update(readFileSync(path))
  }
  return hash.digest('hex')
}

function byPath(a: { parentPath: string; name: string }, b: { parentPath: string; name: string }): number {
  return join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1
}
