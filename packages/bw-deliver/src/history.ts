/**
 * The last look at what leaves the run: bw-scan saw each item's work, and merging makes what no item had, such as a file with
 * the lines of two of them, or a title as a commit's message.
 */
import { exit, UserError } from '@buildwave/core'
import { encodeFileName, listChanges, newContent, readFileAt, readObjects, type Store } from '@buildwave/git'
import { safeText, scanBytes } from '@buildwave/secrets'
import type { Checked } from './gate.ts'

/**
 * Throws UserError `secret-in-history` when the commits from `base` to `head` hold a secret that is neither in the base nor in a
 * scanned patch. What is in those has been judged, with the allow list of the project.
 */
export async function checkHistory(
  store: Store,
  { base, head, items }: { base: string; head: string; items: readonly Checked[] },
): Promise<void> {
  const scanned = await scannedBlobs(store, items)
  for await (const { kind, path, content, commit } of newContent(store, base, head)) {
    if (kind === 'blob' && scanned.some((blob) => blob.content.equals(content))) continue
    const { findings } = scanBytes(content, { surface: kind, file: path })
    if (findings.length === 0) continue
    const judged = kind === 'commit' ? [] : await judgedTexts(store, { base, path, kind, scanned })
    const fresh = findings.find(({ secret }) => !judged.some((text) => text.includes(secret, 0, 'latin1')))
    if (fresh !== undefined)
      throw secretFound(kind === 'commit' ? `the message of ${commit}` : safeText(path), fresh.rule)
  }
}

interface ScannedBlob {
  path: string
  content: Buffer
}

/** What the items' patches brought, as bw-scan saw it. */
async function scannedBlobs(store: Store, items: readonly Checked[]): Promise<ScannedBlob[]> {
  const changes = await Promise.all(items.map(({ patch }) => listChanges(store, patch.start, patch.tree)))
  const files = changes
    .flat()
    .flatMap(({ path, to }) => (to === null || to.mode === '160000' ? [] : [{ path, oid: to.oid }]))
  const objects = await readObjects(
    store,
    files.map(({ oid }) => oid),
  )
  return objects.map(({ content }, n) => ({ path: files[n]?.path ?? '', content }))
}

/** Where the same secret may have stood before: that file at the base and in the patches, or the paths of the patches. */
async function judgedTexts(
  store: Store,
  { base, path, kind, scanned }: { base: string; path: string; kind: string; scanned: readonly ScannedBlob[] },
): Promise<Buffer[]> {
  const same = scanned.filter((blob) => blob.path === path)
  if (kind === 'path') return same.map((blob) => encodeFileName(blob.path))
  const before = await readFileAt(store, base, path)
  return [...same.map(({ content }) => content), ...(before === null ? [] : [before])]
}

function secretFound(where: string, rule: string): UserError {
  return new UserError('secret-in-history', `a secret (${rule}) is in ${where}, on the branch`, {
    status: exit.problem,
    hint: 'take it out of the plan or the item, then merge and verify again',
  })
}
