import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that is gone when the test is over. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bw-git-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const pinned = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
}

/** Git as a user calls it, in a pinned environment. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], {
    env: pinned,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}

/** A user's repository with one commit of these files. */
export function userRepo(files: Readonly<Record<string, string>> = { 'a.txt': 'one\ntwo\nthree\n' }): string {
  const folder = join(scratchFolder(), 'repo')
  mkdirSync(folder)
  git(folder, 'init', '--quiet', '--initial-branch=main')
  commitFiles(folder, files, 'base')
  return folder
}

/** Writes the files and commits everything; gives back the commit. */
export function commitFiles(folder: string, files: Readonly<Record<string, string>>, title: string): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  git(folder, 'add', '--all')
  git(folder, 'commit', '--quiet', '--allow-empty', '-m', title)
  return git(folder, 'rev-parse', 'HEAD')
}

/** One line for each thing under `folder`: type, mode, size, time of change, and a hash of what it holds. */
export function fingerprint(folder: string): Map<string, string> {
  const seen = new Map<string, string>()
  const visit = (path: string): void => {
    const found = lstatSync(path)
    const kind = found.isDirectory() ? 'd' : found.isSymbolicLink() ? 'l' : 'f'
    const held = kind === 'f' ? readFileSync(path) : kind === 'l' ? readlinkSync(path) : ''
    const hash = createHash('sha256').update(held).digest('hex')
    const times = kind === 'd' ? '' : ` ${found.mtimeMs}`
    seen.set(path.slice(folder.length), `${kind} ${found.mode.toString(8)} ${found.uid}${times} ${hash}`)
    if (kind === 'd') for (const name of readdirSync(path)) visit(join(path, name))
  }
  visit(folder)
  return seen
}

/** What is new, gone or different between two fingerprints. */
export function difference(before: Map<string, string>, after: Map<string, string>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort()
}
