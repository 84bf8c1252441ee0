import { type Change, type Repo, readObjects } from '@buildwave/git'

/** What the common hosts refuse in one file, 100 MiB: a branch with a larger one could be made and not be pushed. */
export const maxFileBytes = 100 * 1024 * 1024

/** Read at a time: few enough that their contents fit in memory, many enough that a large change needs few calls. */
const batch = 100

/** The new or changed files that are larger than `limit` bytes. They are collected; the item is blocked. */
export async function oversizeFiles(repo: Repo, changes: readonly Change[], limit = maxFileBytes): Promise<string[]> {
  const files = changes.flatMap(({ path, to }) => (to === null || to.mode === '160000' ? [] : [{ path, oid: to.oid }]))
  const found: string[] = []
  for (let first = 0; first < files.length; first += batch) {
    const some = files.slice(first, first + batch)
    const objects = await readObjects(
      repo,
      some.map(({ oid }) => oid),
    )
    found.push(...some.filter((_, n) => (objects[n]?.content.length ?? 0) > limit).map(({ path }) => path))
  }
  return found
}
