import { execFileSync, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { newFolder } from './folder.ts'

/** A real repository in a temporary folder, its environment pinned. */
export interface TestRepo {
  dir: string
  git: (...args: readonly string[]) => string
  /** Puts bytes into the object store; gives the oid. */
  gitWith: (input: string | Buffer, ...args: readonly string[]) => string
  /** Commits the working folder as it is; gives the oid. */
  commit: (title: string) => string
  bundle: (commit: string, not: readonly string[]) => Promise<Readable>
}

export function makeRepo(...initArgs: readonly string[]): TestRepo {
  const dir = newFolder()
  execFileSync('git', ['init', '--quiet', '--template=', ...initArgs, dir], { env })
  return repoAt(dir)
}

export function repoAt(dir: string): TestRepo {
  const gitWith = (input: string | Buffer, ...args: readonly string[]) =>
    execFileSync('git', ['-C', dir, ...args], { env, input, encoding: 'utf8' }).trim()
  const git = (...args: readonly string[]) => gitWith('', ...args)
  return {
    dir,
    git,
    gitWith,
    commit: (title) => {
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '--message', title)
      return git('rev-parse', 'HEAD')
    },
    bundle: async (commit, not) => {
      // A bundle needs a ref to name what it holds.
      git('update-ref', `refs/bundled/${commit}`, commit)
      const args = ['bundle', 'create', '--quiet', '-', `refs/bundled/${commit}`, ...not.map((oid) => `^${oid}`)]
      return spawn('git', ['-C', dir, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] }).stdout
    },
  }
}

const person = { name: 'Test', email: 'test@example.org', date: '2020-01-01T00:00:00Z' }
const env = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: person.name,
  GIT_AUTHOR_EMAIL: person.email,
  GIT_AUTHOR_DATE: person.date,
  GIT_COMMITTER_NAME: person.name,
  GIT_COMMITTER_EMAIL: person.email,
  GIT_COMMITTER_DATE: person.date,
}
