import { callGit } from './call.ts'
import type { Repo } from './repo.ts'

/**
 * Whether some file of the tree or commit with this oid holds `line` (no line breaks) as it is, in text or binary files. The text goes to git
 * on stdin: it may be a secret, and arguments are visible to every user of the machine.
 */
export async function holdsText(repo: Repo, tree: string, line: Buffer): Promise<boolean> {
  const args = ['grep', '--quiet', '--text', '--fixed-strings', '--no-textconv', '-f', '-', tree, '--']
  const answer = await callGit(repo, args, { stdin: Buffer.concat([line, Buffer.from('\n')]), answers: [0, 1] })
  return answer.status === 0
}
