import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { PatchRecord, RunRecord } from '@buildwave/core'
import { importCommit, initStore, inspectSource, patchDigest } from '@buildwave/git'
import { type RunPaths, runPaths } from '@buildwave/store'
import { onTestFinished } from 'vitest'
import { itemRecord, lines, runRecord } from '../../../test/support/records.ts'
import { git, makeRepository, temporaryFolder } from '../../../test/support/repository.ts'

export interface Answer {
  status: number | null
  stdout: string
  stderr: string
  records: { kind: string; [field: string]: unknown }[]
}

const main = join(import.meta.dirname, '..', 'src', 'main.ts')

/** A token of the kind that the product is about, put together here so that it stands nowhere. */
export function claudeToken(seed = 7): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
  const body = Array.from({ length: 93 }, (_, index) => letters[(index * 37 + seed * 11 + index * index * 5) % 64])
  return `${['sk', 'ant', 'oat01'].join('-')}-${body.join('')}AA`
}

/** A folder that is gone when the test is over, and a tool that runs in it with a home of its own. */
export function workplace() {
  const folder = temporaryFolder('bw-scan-')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  mkdirSync(home)
  return {
    folder,
    home,
    async scan(cwd: string, args: readonly string[], input: string | Buffer = ''): Promise<Answer> {
      const child = spawn(process.execPath, [main, ...args], {
        cwd,
        env: { PATH: process.env['PATH'] ?? '', HOME: home, BW_STATE_DIR: join(folder, 'state') },
      })
      child.stdin.on('error', () => undefined)
      child.stdin.end(input)
      const [stdout, stderr, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ])
      return { status: status as number | null, stdout, stderr, records: readLines(stdout) }
    },
  }
}

function readLines(stdout: string): Answer['records'] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Answer['records'][number])
}

export type Files = Readonly<Record<string, string | Buffer | { link: string }>>

export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const full = join(folder, path)
    mkdirSync(dirname(full), { recursive: true })
    if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, full)
    else writeFileSync(full, content)
  }
}

export function commit(folder: string, files: Files, message: string): string {
  writeFiles(folder, files)
  git(folder, 'add', '--all')
  git(folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-q', '--allow-empty', '-m', message)
  return git(folder, 'rev-parse', 'HEAD')
}

/** A run with one collected attempt: a base, what the builder made of it, and the files beside. */
export async function collected(setting: {
  base?: Readonly<Record<string, string>>
  made: Files
  message?: string
  logs?: Readonly<Record<string, string>>
}) {
  const place = workplace()
  const repo = makeRepository({ 'readme.md': 'hello\n', ...setting.base }, join(place.folder, 'repo'))
  const base = git(repo, 'rev-parse', 'HEAD')
  const made = commit(repo, setting.made, setting.message ?? 'Do it')
  const run: RunRecord = runRecord({ run: 'scan-run', repo, base })
  const paths: RunPaths = runPaths(join(place.folder, 'state'), run.run)
  const store = await initStore(paths.repo)
  await importCommit(store, await inspectSource(repo), made)
  const attempt = paths.attempt('one', 1)
  for (const [name, content] of Object.entries(setting.logs ?? {})) writeFiles(attempt.dir, { [name]: content })
  const patch: PatchRecord = {
    kind: 'patch',
    v: 1,
    run: run.run,
    item: 'one',
    attempt: 1,
    key: '0123456789abcdef',
    at: '2026-11-29T12:00:00.000Z',
    commit: made,
    start: base,
    tree: git(repo, 'rev-parse', 'HEAD^{tree}'),
    digest: await patchDigest(store, made),
    files: [],
    outOfScope: [],
    tests: null,
    changes: null,
    verdict: 'ok',
    blockedBy: [],
  }
  const item = itemRecord('one', { run: run.run })
  const end = { kind: 'end', v: 1, run: run.run, stage: 'bw-collect', complete: true, counts: {} }
  return {
    ...place,
    repo,
    attempt,
    patch,
    input: (change: Partial<PatchRecord> = {}) => lines(run, item, { ...patch, ...change }, end),
    /** Every byte that the run keeps or printed, for asking what must not be in it. */
    journal: paths.journal,
  }
}
