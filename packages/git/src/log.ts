import { callGit } from './call.ts'
import type { Repo } from './repo.ts'

/** One line a commit (short oid, title) of those reachable from `to` and not from `from` (null: all), newest first. */
export async function logOneline(repo: Repo, from: string | null, to: string): Promise<string[]> {
  const range = from === null ? [to] : [to, `^${from}`]
  const args = ['log', '--format=%h %s', '--no-decorate', '--no-color', '--no-show-signature', ...range, '--']
  const answer = await callGit(repo, args)
  return answer.stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}

/** The oids reachable from `to` and not from `from`, oldest first. */
export async function listCommits(repo: Repo, from: string, to: string): Promise<string[]> {
  const answer = await callGit(repo, ['rev-list', '--reverse', '--topo-order', to, `^${from}`, '--'])
  return answer.stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}
