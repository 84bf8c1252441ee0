/** What a plan needs to know of the user's repository. Nothing is written there. */
import { indexTree, type Tree, UserError } from '@buildwave/core'
import {
  inspectSource,
  listSubmodules,
  listTracked,
  readFileAt,
  refConflicts,
  resolveCommit,
  type Source,
} from '@buildwave/git'
import { parseRepoConfig, type RepoConfig, repoConfigPath } from '@buildwave/store'

export interface Repository {
  top: string
  base: string
  branch: string | null
  identity: { name: string; email: string } | null
  tracked: readonly string[]
  tree: Tree
  config: RepoConfig
  read(path: string): Promise<string | null>
  /** Existing refs that keep `refs/heads/builders/<run>` from being made. */
  conflicts(run: string): Promise<string[]>
}

/** Reads the repository that holds `folder` at `rev`. Throws UserError for what can be no source, with the reason. */
export async function readRepository(folder: string, rev: string): Promise<Repository> {
  const source = await inspectSource(folder)
  if (source.head === null && rev === 'HEAD') {
    throw new UserError('no-commit', `'${source.top}' has no commit yet`, {
      hint: 'make a first commit; every item starts from one',
    })
  }
  if (source.linkedWorktree) {
    throw new UserError('linked-worktree', `'${source.top}' is a linked worktree`, {
      hint: 'run this in the main working tree of the repository',
    })
  }
  const base = await resolveCommit(source, rev)
  await refuseSubmodules(source, base)
  const read = async (path: string) => (await readFileAt(source, base, path))?.toString('utf8') ?? null
  const tracked = await listTracked(source, base)
  return {
    top: source.top,
    base,
    branch: source.branch,
    identity: source.identity,
    tracked,
    tree: indexTree(tracked),
    config: parseRepoConfig(await readFileAt(source, base, repoConfigPath)),
    read,
    conflicts: (run) => refConflicts(source, `refs/heads/builders/${run}`),
  }
}

async function refuseSubmodules(source: Source, base: string): Promise<void> {
  const [first, ...more] = await listSubmodules(source, base)
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new UserError('has-submodules', `'${source.top}' has submodules: '${first}'${others}`, {
    hint: 'their content would be missing in every builder; take them into the repository or plan inside the submodule',
  })
}
