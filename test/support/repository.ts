/** Repositories for end-to-end tests: real git, a pinned environment, and a fingerprint of everything under a folder. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from './pipeline.ts'

export const fixedDate = '2026-01-01T00:00:00Z'

/** git in a folder, without any setting of the machine. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_DATE: fixedDate,
      GIT_COMMITTER_DATE: fixedDate,
      LC_ALL: 'C',
    },
  }).trimEnd()
}

export function temporaryFolder(name = 'bw-test-'): string {
  return mkdtempSync(join(tmpdir(), name))
}

/** A repository with these files in one commit. */
export function makeRepository(
  files: Readonly<Record<string, string>>,
  folder = join(temporaryFolder(), 'repo'),
): string {
  mkdirSync(folder, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return commitAll(folder)
}

/** The mathkit example as a repository. */
export function makeMathkit(folder = join(temporaryFolder(), 'mathkit')): string {
  cpSync(join(root, 'examples', 'mathkit'), folder, { recursive: true })
  return commitAll(folder)
}

function commitAll(folder: string): string {
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'config', 'user.name', 'Test User')
  git(folder, 'config', 'user.email', 'test@example.com')
  git(folder, 'add', '-A')
  git(folder, 'commit', '-q', '-m', 'Start')
  return folder
}

/** Every path under a folder with its mode and content, so that any change shows. */
export function fingerprint(folder: string): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (path: string, name: string) => {
    const { mode, uid, gid } = lstatSync(path)
    const kind = mode & 0o170000
    const content = kind === 0o100000 ? sha256(readFileSync(path)) : kind === 0o120000 ? readlinkSync(path) : ''
    found.set(name, `${mode.toString(8)} ${uid}:${gid} ${content}`)
    if (kind === 0o040000) for (const entry of readdirSync(path).sort()) walk(join(path, entry), `${name}/${entry}`)
  }
  walk(folder, '.')
  return found
}

/** Names whose fingerprint differs or that are new or gone. */
export function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name)).sort()
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
