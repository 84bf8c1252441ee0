import { hasExtension, isLiteralGlob, normalizeGlob } from './glob.ts'

/** What a repository's tracked files say about names: enough to read a claim such as `say.ts`, which has no folder. */
export interface Tree {
  /** True for a tracked file, and for a folder that holds one. */
  has(path: string): boolean
  /** The tracked files of that name, in any folder, sorted. */
  named(name: string): readonly string[]
}

export const emptyTree: Tree = { has: () => false, named: () => [] }

/** Indexes tracked paths, given with `/` and relative to the top of the repository. */
export function indexTree(paths: Iterable<string>): Tree {
  const known = new Set<string>()
  const byName = new Map<string, string[]>()
  for (const path of paths) {
    known.add(path)
    const name = path.slice(path.lastIndexOf('/') + 1)
    const same = byName.get(name)
    if (same === undefined) byName.set(name, [path])
    else same.push(path)
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
      const folder = path.slice(0, cut)
      if (known.has(folder)) break
      known.add(folder)
    }
  }
  return { has: (path) => known.has(path), named: (name) => byName.get(name)?.toSorted() ?? [] }
}

/**
 * What a claim means in this tree. A literal name without a slash is the file or folder at the top when that is tracked,
 * else the tracked files of that name, else the (future) file at the top. Everything else is itself.
 */
export function resolveClaim(glob: string, tree: Tree): string[] {
  const path = normalizeGlob(glob)
  if (path.includes('/') || !isLiteralGlob(path) || tree.has(path)) return [path]
  const named = tree.named(path)
  return named.length > 0 ? [...named] : [path]
}

/** True for a claim that may turn out to be a file in any folder: a name with an extension, no slash, tracked nowhere. */
export function isLooseName(glob: string, tree: Tree): boolean {
  const path = normalizeGlob(glob)
  return (
    !path.includes('/') && isLiteralGlob(path) && hasExtension(path) && !tree.has(path) && tree.named(path).length === 0
  )
}
