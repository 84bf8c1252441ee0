import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Bytes that a folder takes on the disk. A link counts as itself and is never followed, a file with several names counts
 * once, and what cannot be looked at counts as nothing: a builder may have closed its folders.
 */
export function diskSize(folder: string): number {
  const seen = new Set<string>()
  const open = [folder]
  let bytes = 0
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) continue
    if (stat.isDirectory()) open.push(...namesIn(path).map((name) => join(path as string, name)))
    else if (stat.nlink > 1 && isKnown(seen, `${stat.dev}:${stat.ino}`)) continue
    bytes += stat.blocks * blockBytes
  }
  return bytes
}

/** What stat(2) counts blocks in, whatever the file system. */
const blockBytes = 512

function isKnown(seen: Set<string>, name: string): boolean {
  const known = seen.has(name)
  seen.add(name)
  return known
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
