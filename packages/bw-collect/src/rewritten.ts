import { looksLikeTest } from '@buildwave/checks'
import { type Change, type Repo, readBlob } from '@buildwave/git'

/**
 * The test files that were there and lost or changed a line: a test may ask for less than it did. Lines that are only added
 * take nothing away. Deleted files are left out, since their tests are missed anyway.
 */
export async function rewrittenTests(repo: Repo, changes: readonly Change[]): Promise<string[]> {
  const found: string[] = []
  for (const { path, from, to } of changes) {
    if (from === null || to === null || !looksLikeTest(path)) continue
    if (from.mode === '160000' || to.mode === '160000') continue
    const [before, after] = [await readBlob(repo, from.oid), await readBlob(repo, to.oid)]
    if (!onlyAdds(before.toString('latin1'), after.toString('latin1'))) found.push(path)
  }
  return found
}

/** True when every line of `before` is in `after`, in order. */
export function onlyAdds(before: string, after: string): boolean {
  const kept = before.split('\n')
  let next = 0
  for (const line of after.split('\n')) if (line === kept[next]) next++
  return next === kept.length
}
