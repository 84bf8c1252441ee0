import { UserError } from '@buildwave/core'
import { callGit, gitLine, splitFields } from './call.ts'
import { commitTree } from './commit-tree.ts'
import { decodeFileName } from './file-name.ts'
import { isAtLeast, requireGit } from './git-version.ts'
import { commitTreeOid } from './objects.ts'
import type { Store, TreeFile } from './repo.ts'

/** Three commits: what the change started from, where it goes to, and the change. */
export interface MergeSides {
  base: string
  ours: string
  theirs: string
  /** The caller knows that history suggests `base` and nothing else: `ours` holds it, and it is the only parent of `theirs`. */
  isSuggested?: boolean
}

/** A path on which the two sides do not agree; null where a side has no file. */
export interface MergeConflict {
  path: string
  base: TreeFile | null
  ours: TreeFile | null
  theirs: TreeFile | null
  /** git's own names, say `CONFLICT (contents)`. */
  types: string[]
}

export interface MergeResult {
  /** With conflict markers in the files of `conflicts`, when there are any. */
  tree: string
  conflicts: MergeConflict[]
}

/**
 * Merges trees without a working tree, always from the base that is named: what history would suggest does not count, or
 * an item that was taken out would come back through every item that started on top of it. Throws UserError
 * `object-unusable` (status 4) when a side cannot be read.
 */
export async function mergeTree(store: Store, sides: MergeSides): Promise<MergeResult> {
  try {
    const args = await mergeArguments(store, sides)
    const answer = await callGit(store, ['merge-tree', '--write-tree', '-z', '--messages', ...args], {
      answers: [0, 1],
    })
    return parseMerge(answer.stdout, answer.status === 0)
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
    throw new UserError('object-unusable', `cannot merge '${sides.theirs}': ${error.message}`, {
      status: 4,
      cause: error,
    })
  }
}

async function mergeArguments(store: Store, { base, ours, theirs, isSuggested }: MergeSides): Promise<string[]> {
  if (isAtLeast(await requireGit(), [2, 40])) return [`--merge-base=${base}`, ours, theirs]
  if (isSuggested || (await soleMergeBase(store, ours, theirs)) === base) return [ours, theirs]
  const [start, head, change] = await Promise.all([base, ours, theirs].map((commit) => commitTreeOid(store, commit)))
  const root = await syntheticCommit(store, start ?? '', [])
  return Promise.all([syntheticCommit(store, head ?? '', [root]), syntheticCommit(store, change ?? '', [root])])
}

/** The merge base that git would take by itself, null when there is none or several. */
async function soleMergeBase(store: Store, ours: string, theirs: string): Promise<string | null> {
  const found = await gitLine(store, ['merge-base', '--all', ours, theirs], { answers: [0, 1] })
  return /^[0-9a-f]+$/.test(found) ? found : null
}

/** git before 2.40 cannot be told the base, so both sides get a history in which it is the only possible one. */
function syntheticCommit(store: Store, tree: string, parents: string[]): Promise<string> {
  const identity = { name: 'buildwave', email: 'buildwave@localhost' }
  return commitTree(store, { tree, parents, message: 'side of a merge', identity, date: '2000-01-01T00:00:00Z' })
}

/**
 * `tree NUL (mode oid stage TAB path NUL)* NUL (count NUL path NUL… type NUL message NUL)*`; a clean merge may carry
 * messages too. A path is in conflict when it has stages or a message whose type says CONFLICT.
 */
function parseMerge(stdout: Buffer, clean: boolean): MergeResult {
  const fields = splitFields(stdout)
  const tree = fields[0]?.toString('latin1') ?? ''
  if (clean) return { tree, conflicts: [] }
  const blank = fields.findIndex((field, n) => n > 0 && field.length === 0)
  const stages = fields.slice(1, blank === -1 ? fields.length : blank)
  const conflicts = new Map<string, MergeConflict>()
  const at = (path: string): MergeConflict => {
    const known = conflicts.get(path) ?? { path, base: null, ours: null, theirs: null, types: [] }
    conflicts.set(path, known)
    return known
  }
  for (const stage of stages) addStage(stage, at)
  if (blank !== -1) addMessages(fields.slice(blank + 1), at)
  return { tree, conflicts: [...conflicts.values()].sort((a, b) => (a.path < b.path ? -1 : 1)) }
}

function addStage(field: Buffer, at: (path: string) => MergeConflict): void {
  const tab = field.indexOf(0x09)
  const [mode = '', oid = '', stage = ''] = field.subarray(0, tab).toString('latin1').split(' ')
  const side = ({ 1: 'base', 2: 'ours', 3: 'theirs' } as const)[Number(stage) as 1 | 2 | 3]
  at(decodeFileName(field.subarray(tab + 1)))[side] = { mode, oid }
}

function addMessages(fields: readonly Buffer[], at: (path: string) => MergeConflict): void {
  let n = 0
  while (n < fields.length) {
    const count = Number(fields[n]?.toString('latin1'))
    const paths = fields.slice(n + 1, n + 1 + count).map(decodeFileName)
    const type = fields[n + 1 + count]?.toString('utf8') ?? ''
    if (type.startsWith('CONFLICT')) for (const path of paths) at(path).types.push(type)
    n += count + 3
  }
}
