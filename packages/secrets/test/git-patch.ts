import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The patch that real git writes for a file that was `before` (null: not there) and is `after`. */
export function gitPatch(name: string, before: Buffer | null, after: Buffer): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'bw-secrets-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      env: { PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  try {
    git('init', '--quiet')
    if (before !== null) writeFileSync(join(folder, name), before)
    git('add', '--all')
    git('commit', '--quiet', '--allow-empty', '--message', 'base')
    writeFileSync(join(folder, name), after)
    git('add', '--all')
    return git('diff', '--cached', '--binary')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
