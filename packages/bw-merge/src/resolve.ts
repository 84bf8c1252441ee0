/**
 * A conflict in a person's or an agent's hands: a folder with the files in question, as they conflict and as each side has them,
 * and the way from that folder back to a commit. Only the files in conflict are taken, so a resolution cannot reach further.
 */
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exit, UserError } from '@buildwave/core'
import {
  commitTree,
  type MergeConflict,
  mergeTree,
  readBlob,
  readFileAt,
  type Store,
  type TreeFile,
  treeWithFiles,
  writeBlob,
} from '@buildwave/git'
import { safeText, scanBytes } from '@buildwave/secrets'
import { listFiles, type ReadFile, readResolved } from './resolved-files.ts'
import type { Change, Ground, Layer } from './stack.ts'

/** What a layout was made for; `conflict.json` in its folder. */
interface Layout {
  head: string
  theirs: string
  paths: string[]
}

/** The folders that are only there to be looked at. */
const sides = ['base', 'ours', 'theirs'] as const

export interface Conflict {
  folder: string
  head: string
  change: Change
}

/** Makes `folder` anew: `files/` to be edited, `base/`, `ours/` and `theirs/` to be looked at. */
export async function layOut({ store }: Ground, { folder, head, change }: Conflict): Promise<void> {
  const merged = await mergeTree(store, { base: change.base, ours: head, theirs: change.theirs })
  const paths = merged.conflicts.map(({ path }) => path)
  const odd = paths.find((path) => !path.isWellFormed())
  if (odd !== undefined) {
    throw new UserError('odd-name', `'${safeText(odd)}' is not UTF-8 and cannot be laid out`, {
      hint: 'bw-merge --skip leaves the item out',
    })
  }
  const fresh = `${folder}.new`
  await rm(fresh, { recursive: true, force: true })
  for (const name of ['files', ...sides]) await mkdir(join(fresh, name), { recursive: true, mode: 0o700 })
  for (const conflict of merged.conflicts) {
    for (const name of sides) await laySide(store, join(fresh, name, conflict.path), conflict[name])
    const marked = await readFileAt(store, merged.tree, conflict.path)
    const shown = conflict.ours ?? conflict.theirs
    if (marked !== null && shown !== null) await layFile(join(fresh, 'files', conflict.path), shown.mode, marked)
  }
  const layout: Layout = { head, theirs: change.theirs, paths }
  await writeFile(join(fresh, 'conflict.json'), `${JSON.stringify(layout, null, 2)}\n`)
  await setAside(folder)
  await rename(fresh, folder)
}

/** What somebody has edited for another head is kept once, as `conflict.old`. */
async function setAside(folder: string): Promise<void> {
  if ((await readLayout(folder)) === null) return
  await rm(`${folder}.old`, { recursive: true, force: true })
  await rename(folder, `${folder}.old`)
}

/** True when `folder` was laid out for this very conflict; false when there is none, or the stack has moved since. */
export async function isLaidOut({ folder, head, change }: Conflict): Promise<boolean> {
  const layout = await readLayout(folder)
  return layout?.head === head && layout.theirs === change.theirs
}

/**
 * The commit that `files/` stands for, as a layer on top of the head. Throws UserError `not-resolved` (status 3) while conflict
 * markers are left, `out-of-scope` (5) for a file that was not in conflict, `secret-found` (5).
 */
export async function takeResolved(ground: Ground, { folder, head, change }: Conflict): Promise<Layer> {
  const { store, identity } = ground
  const merged = await mergeTree(store, { base: change.base, ours: head, theirs: change.theirs })
  const paths = new Set(merged.conflicts.map(({ path }) => path))
  const stray = (await listFiles(join(folder, 'files'))).find((path) => !paths.has(path))
  if (stray !== undefined) {
    throw new UserError('out-of-scope', `'${safeText(stray)}' was not in conflict`, {
      status: exit.problem,
      hint: `only the files in conflict are taken: remove it from ${join(folder, 'files')}`,
    })
  }
  const files = new Map<string, TreeFile | null>()
  for (const conflict of merged.conflicts) {
    const resolved = await readResolved(join(folder, 'files'), conflict.path)
    if (resolved !== null) await checkResolved(store, conflict, resolved)
    const file = resolved === null ? null : { mode: resolved.mode, oid: await writeBlob(store, resolved.content) }
    files.set(conflict.path, file)
  }
  const tree = await treeWithFiles(store, merged.tree, files)
  const commit = await commitTree(store, { tree, parents: [head], message: change.title, identity, date: change.date })
  // From now on the item is what this commit does to its parent: its patch alone would be in conflict again.
  return { ...change, base: head, theirs: commit, commit }
}

async function checkResolved(store: Store, conflict: MergeConflict, { content }: ReadFile): Promise<void> {
  const known = await Promise.all(sides.map((name) => sideContent(store, conflict[name])))
  const text = content.toString('latin1')
  const marker = text.split('\n').find((line) => /^(<{7}|>{7}) \S/.test(line))
  if (marker !== undefined && !known.some((side) => side.includes(marker, 0, 'latin1'))) {
    throw new UserError('not-resolved', `'${safeText(conflict.path)}' still has conflict markers`, {
      status: exit.conflict,
      hint: 'edit it, then give the same command again',
    })
  }
  const { findings } = scanBytes(content, { surface: 'file', file: conflict.path })
  const fresh = findings.find(({ secret }) => !known.some((side) => side.includes(secret, 0, 'latin1')))
  if (fresh === undefined) return
  throw new UserError('secret-found', `'${safeText(conflict.path)}' holds a secret (${fresh.rule})`, {
    status: exit.problem,
  })
}

async function sideContent(store: Store, side: TreeFile | null): Promise<Buffer> {
  return side === null || side.mode === '160000' ? Buffer.alloc(0) : readBlob(store, side.oid)
}

async function laySide(store: Store, path: string, side: TreeFile | null): Promise<void> {
  if (side !== null && side.mode !== '160000') await layFile(path, side.mode, await readBlob(store, side.oid))
}

async function layFile(path: string, mode: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  if (mode === '120000') await symlink(content, path)
  else await writeFile(path, content, { mode: mode === '100755' ? 0o700 : 0o600 })
}

async function readLayout(folder: string): Promise<Layout | null> {
  const text = await readFile(join(folder, 'conflict.json'), 'utf8').catch(() => null)
  return text === null ? null : (JSON.parse(text) as Layout)
}
