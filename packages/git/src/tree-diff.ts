import type { Change } from './changes.ts'
import { decodeFileName } from './file-name.ts'
import type { ObjectReader } from './object-reader.ts'
import { unusableObject } from './objects.ts'
import type { TreeFile } from './repo.ts'

/**
 * The files that differ between two trees (null: an empty one), like `diff-tree -r` without renames, through a reader that is
 * open already. Only folders that differ are read. Throws UserError `object-unusable` (status 4).
 */
export async function diffTrees(reader: ObjectReader, from: string | null, to: string | null): Promise<Change[]> {
  return diffFolders(reader, { from, to, folder: [] })
}

interface Folders {
  from: string | null
  to: string | null
  /** The bytes of the path to here, with a slash at the end when there is one. */
  folder: Uint8Array[]
}

async function diffFolders(reader: ObjectReader, { from, to, folder }: Folders): Promise<Change[]> {
  const [old, now] = [await readTree(reader, from), await readTree(reader, to)]
  const names = [...new Set([...old.keys(), ...now.keys()])].sort()
  const changes: Change[] = []
  for (const name of names) {
    const [before, after] = [old.get(name) ?? null, now.get(name) ?? null]
    if (before?.mode === after?.mode && before?.oid === after?.oid) continue
    const path = [...folder, Buffer.from(name, 'latin1')]
    const file = { path: decodeFileName(Buffer.concat(path)), from: fileOf(before), to: fileOf(after) }
    if (file.from !== null || file.to !== null) changes.push(file)
    const inner = { from: folderOf(before), to: folderOf(after), folder: [...path, Buffer.from('/')] }
    if (inner.from !== null || inner.to !== null) changes.push(...(await diffFolders(reader, inner)))
  }
  return changes
}

/** Entries by name, as Latin-1 so that names compare as bytes: `mode SP name NUL oid` each. */
async function readTree(reader: ObjectReader, oid: string | null): Promise<Map<string, TreeFile>> {
  const entries = new Map<string, TreeFile>()
  if (oid === null) return entries
  const [tree] = await reader.read([oid])
  if (tree?.type !== 'tree') throw unusableObject(oid, 'is not a tree')
  const size = oid.length / 2
  const bytes = tree.content
  for (let at = 0; at < bytes.length; ) {
    const [space, end] = [bytes.indexOf(0x20, at), bytes.indexOf(0, at)]
    if (space === -1 || end < space || end + 1 + size > bytes.length) throw unusableObject(oid, 'is not a whole tree')
    const mode = bytes.toString('latin1', at, space).padStart(6, '0')
    entries.set(bytes.toString('latin1', space + 1, end), { mode, oid: bytes.toString('hex', end + 1, end + 1 + size) })
    at = end + 1 + size
  }
  return entries
}

const folderMode = '040000'

function fileOf(entry: TreeFile | null): TreeFile | null {
  return entry === null || entry.mode === folderMode ? null : entry
}

function folderOf(entry: TreeFile | null): string | null {
  return entry?.mode === folderMode ? entry.oid : null
}
