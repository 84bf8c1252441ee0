import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { UserError } from '@buildwave/core'
import { execa } from 'execa'
import { callGit, gitFields, gitLine } from './call.ts'
import { decodeFileName, encodeFileName } from './file-name.ts'
import { readNamed } from './objects.ts'
import type { Identity, Repo, Source } from './repo.ts'
import { userEnvironment } from './settings.ts'

/**
 * Looks at the user's repository that holds `path` and writes nothing there, not even its index. Works for a repository
 * of another user, without a passwd entry and without HOME. Throws UserError `no-such-folder` or `not-a-repository`.
 */
export async function inspectSource(path: string): Promise<Source> {
  const folder = resolve(path)
  const repo = await discover(folder)
  const [bare, shallow, objectFormat] = await facts(repo)
  const head = await headCommit(repo)
  return {
    ...repo,
    top: bare ? repo.gitDir : await askAt(folder, '--show-toplevel'),
    head,
    branch: await currentBranch(repo),
    identity: await readIdentity(repo),
    linkedWorktree: (await commonDir(repo)) !== repo.gitDir,
    submodules: head === null ? [] : await listSubmodules(repo, head),
    shallow,
    objectFormat,
  }
}

/** The oid of the commit that `rev` names. Throws UserError `unknown-commit`. */
export async function resolveCommit(repo: Repo, rev: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${rev}^{commit}`]
  const answer = await callGit(repo, args, { answers: [0, 1, 128] })
  const oid = answer.stdout.toString('utf8').trim()
  if (answer.status !== 0 || !/^[0-9a-f]{40,64}$/.test(oid)) {
    throw new UserError('unknown-commit', `cannot read '${rev}'`, { hint: 'name a commit of this repository' })
  }
  return oid
}

/** The paths of all files (links and submodules too) of a commit or tree, as `decodeFileName` writes them. */
export async function listTracked(repo: Repo, oid: string): Promise<string[]> {
  return (await gitFields(repo, ['ls-tree', '-r', '-z', '--full-tree', '--name-only', oid])).map(decodeFileName)
}

/** The paths at which a commit or tree holds another repository's commit. */
export async function listSubmodules(repo: Repo, oid: string): Promise<string[]> {
  const lines = await gitFields(repo, ['ls-tree', '-r', '-z', '--full-tree', oid])
  const gitlinks = lines.filter((line) => line.subarray(0, 7).toString('latin1') === '160000 ')
  return gitlinks.map((line) => decodeFileName(line.subarray(line.indexOf(0x09) + 1)))
}

/** The bytes of a file in a commit or tree (of a link: its target), null when there is none at that path. */
export async function readFileAt(repo: Repo, oid: string, path: string): Promise<Buffer | null> {
  const [found] = await readNamed(repo, [Buffer.concat([Buffer.from(`${oid}:`), encodeFileName(path)])])
  return found?.type === 'blob' ? found.content : null
}

/** Finds the git directory as git does, whoever owns it: this question runs nothing that a repository could name. */
async function discover(folder: string): Promise<Repo> {
  const found = await stat(folder).catch(() => null)
  if (!found?.isDirectory()) throw new UserError('no-such-folder', `cannot open '${folder}'`)
  try {
    return { gitDir: await askAt(folder, '--absolute-git-dir') }
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
    throw new UserError('not-a-repository', `'${folder}' is not in a git repository`, {
      hint: 'run git init and make a first commit',
      cause: error,
    })
  }
}

function askAt(folder: string, question: string): Promise<string> {
  return gitLine(null, ['-c', 'safe.directory=*', '-C', folder, 'rev-parse', question])
}

async function facts(repo: Repo): Promise<[boolean, boolean, 'sha1' | 'sha256']> {
  const questions = ['--is-bare-repository', '--is-shallow-repository', '--show-object-format']
  const [bare, shallow, format] = (await gitLine(repo, ['rev-parse', ...questions])).split('\n')
  return [bare === 'true', shallow === 'true', format === 'sha256' ? 'sha256' : 'sha1']
}

async function commonDir(repo: Repo): Promise<string> {
  const answer = await gitLine(repo, ['rev-parse', '--git-common-dir'])
  return isAbsolute(answer) ? answer : resolve('/', answer)
}

async function headCommit(repo: Repo): Promise<string | null> {
  const answer = await callGit(repo, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { answers: [0, 1] })
  return answer.status === 0 ? answer.stdout.toString('utf8').trim() : null
}

async function currentBranch(repo: Repo): Promise<string | null> {
  const answer = await callGit(repo, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { answers: [0, 1] })
  return answer.status === 0 ? answer.stdout.toString('utf8').replace(/\n$/, '') : null
}

/** Asks git as the user would: with their own config files, `user.useConfigOnly` and environment. */
async function readIdentity(repo: Repo): Promise<Identity | null> {
  const answer = await execa('git', [`--git-dir=${repo.gitDir}`, 'var', 'GIT_AUTHOR_IDENT'], {
    env: userEnvironment(),
    extendEnv: false,
    cwd: '/',
    stdin: 'ignore',
    reject: false,
    killDescendants: true,
    timeout: 60_000,
  })
  const [, name, email] = /^(.*) <(.*)> \d+ [+-]\d{4}$/.exec(answer.stdout) ?? []
  return answer.exitCode === 0 && name !== undefined && email !== undefined ? { name, email } : null
}
