/** Run folders made by hand, and tools called on them from source: for tests of what looks at runs. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { BuilderRecord, BuildRecord, PatchRecord } from '@buildwave/core'
import { runPaths } from '@buildwave/store'
import { root } from './pipeline.ts'
import { lines } from './records.ts'

export const someOid = '1'.repeat(40)
const someKey = '0'.repeat(16)
const at = '2026-01-01T00:00:00.000Z'

/** Writes a run folder with this journal and these files (by path below the run's folder); gives its paths. */
export function makeRun(
  state: string,
  { run, records, files = {} }: { run: string; records: readonly object[]; files?: Readonly<Record<string, string>> },
) {
  const paths = runPaths(state, run)
  const all = { 'journal.ndjson': lines(...records.map((record) => ({ ...record, run }))), ...files }
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(paths.dir, path)), { recursive: true })
    writeFileSync(join(paths.dir, path), content)
  }
  return paths
}

export function builderRecord(item: string, attempt = 1): BuilderRecord {
  const places = { container: 'c', holder: 'h', work: 'w', out: '/nowhere', image: 'i' }
  const about = { run: 'x', item, attempt, key: someKey, at }
  return { kind: 'builder', v: 1, ...about, start: someOid, ...places, agent: 'script', model: null }
}

export function buildRecord(item: string, change: Partial<BuildRecord> = {}): BuildRecord {
  const spent = { seconds: 3, turns: 1, tokens: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }, costUsd: null }
  const about = { run: 'x', item, attempt: 1, key: someKey, at }
  const end = { outcome: 'done', limit: null, exit: 0, resetsAt: null, message: '' } as const
  return { kind: 'build', v: 1, ...about, ...end, ...spent, ...change }
}

export function patchRecord(item: string, change: Partial<PatchRecord> = {}): PatchRecord {
  const about = { run: 'x', item, attempt: 1, key: someKey, at }
  const work = { commit: someOid, start: someOid, tree: someOid, digest: null, files: [], outOfScope: [] }
  const verdict = { tests: null, changes: null, verdict: 'ok', blockedBy: [] } as const
  return { kind: 'patch', v: 1, ...about, ...work, ...verdict, blockedBy: [], ...change }
}

export interface Answer {
  status: number | null
  stdout: string
  stderr: string
  records: { kind: string; [field: string]: unknown }[]
}

export interface Surroundings {
  state: string
  env?: Record<string, string>
  /** As this user and group instead of one's own. */
  uid?: number
}

/** Calls a tool from source on a state folder. */
export async function callTool(
  tool: string,
  args: readonly string[],
  { state, env = {}, uid }: Surroundings,
): Promise<Answer> {
  const child = spawn(process.execPath, [join(root, 'packages', tool, 'src', 'main.ts'), ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: state, BW_STATE_DIR: state, ...env },
    cwd: '/',
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  child.stdin.end()
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const isRecords = stdout.startsWith('{"kind"')
  const records = isRecords
    ? stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []
  return { status, stdout, stderr, records }
}

/** Where no engine answers. */
export const noEngine = { DOCKER_HOST: 'unix:///nonexistent/engine.sock' }

/** A made-up credential of a form that every mask knows, put together here so that none stands in a file. */
export function madeUpToken(seed = 'seed'): string {
  const body =
    createHash('sha512').update(seed).digest('base64url') + createHash('sha256').update(seed).digest('base64url')
  return `${['sk', 'ant', 'oat01'].join('-')}-${body.slice(0, 93)}AA`
}
