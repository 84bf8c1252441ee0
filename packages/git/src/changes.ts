import type { ChangedFile } from '@buildwave/core'
import { callGit, gitFields } from './call.ts'
import { decodeFileName } from './file-name.ts'
import type { Repo, TreeFile } from './repo.ts'

/** One path that differs between two trees; null where a side does not have it. */
export interface Change {
  path: string
  from: TreeFile | null
  to: TreeFile | null
}

/**
 * The files that differ between two commits or trees, in git's order of paths; a moved file is one deleted and one added.
 * `mode` is the new one, or the old one of a deleted file.
 */
export async function changedFiles(repo: Repo, from: string, to: string): Promise<ChangedFile[]> {
  return (await listChanges(repo, from, to)).map((change) => ({
    path: change.path,
    status: statusOf(change),
    mode: (change.to ?? change.from)?.mode ?? '000000',
  }))
}

/** The same with the oids and modes of both sides. */
export async function listChanges(repo: Repo, from: string, to: string): Promise<Change[]> {
  const fields = await gitFields(repo, ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', from, to])
  const changes: Change[] = []
  for (let n = 0; n + 1 < fields.length; n += 2) {
    changes.push(parseChange(fields[n]?.toString('latin1') ?? '', fields[n + 1] ?? Buffer.alloc(0)))
  }
  return changes
}

/** The difference as text for a person; not for applying, since bytes that are not UTF-8 are replaced. */
export async function diffText(repo: Repo, from: string, to: string): Promise<string> {
  const args = ['diff-tree', '-p', '-r', '--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', from, to]
  return (await callGit(repo, args)).stdout.toString('utf8')
}

/** `:100644 100755 <oid> <oid> M` and its path. */
function parseChange(meta: string, path: Buffer): Change {
  const [fromMode = '', toMode = '', fromOid = '', toOid = ''] = meta.replace(/^:/, '').split(' ')
  return {
    path: decodeFileName(path),
    from: fromMode === '000000' ? null : { mode: fromMode, oid: fromOid },
    to: toMode === '000000' ? null : { mode: toMode, oid: toOid },
  }
}

function statusOf({ from, to }: Change): ChangedFile['status'] {
  if (from === null) return 'added'
  if (to === null) return 'deleted'
  return kindOf(from.mode) === kindOf(to.mode) ? 'modified' : 'type-changed'
}

/** `100` for files of either mode, `120` for links, `160` for submodules. */
export function kindOf(mode: string): string {
  return mode.slice(0, 3)
}
