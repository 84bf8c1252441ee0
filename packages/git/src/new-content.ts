import { type Change, listChanges } from './changes.ts'
import { encodeFileName } from './file-name.ts'
import { listCommits } from './log.ts'
import { headerValues, readObjects } from './objects.ts'
import type { Repo } from './repo.ts'

/** Something that a range of commits brings into a repository. */
export interface NewContent {
  /** The commit that brings it in. */
  commit: string
  /** `commit` is the raw commit object: authors, message, trailers. */
  kind: 'blob' | 'symlink' | 'path' | 'commit'
  /** As `decodeFileName` writes it; the commit's oid for kind `commit`. */
  path: string
  content: Buffer
}

/** Blobs read at a time: their contents are in memory together. */
const batch = 16

/**
 * All that is reachable from `to` and not from `from`, commit by commit: each raw commit, each path that is not in the first
 * parent, each new blob once. So what one commit adds and the next removes is among it. Throws UserError
 * `object-unusable` (status 4).
 */
export async function* newContent(repo: Repo, from: string, to: string): AsyncGenerator<NewContent> {
  const seen = new Set<string>()
  for (const commit of await listCommits(repo, from, to)) {
    const [raw] = await readObjects(repo, [commit])
    if (raw === undefined) throw new Error(`no answer for ${commit}`)
    yield { commit, kind: 'commit', path: commit, content: raw.content }
    const [parent] = headerValues(raw.content, 'parent')
    yield* changedContent(repo, { commit, parent: parent ?? emptyTree(commit) }, seen)
  }
}

async function* changedContent(
  repo: Repo,
  { commit, parent }: { commit: string; parent: string },
  seen: Set<string>,
): AsyncGenerator<NewContent> {
  const changes = (await listChanges(repo, parent, commit)).filter(isNew)
  for (const { path } of changes) yield { commit, kind: 'path', path, content: encodeFileName(path) }
  const wanted = changes.filter(({ to }) => {
    if (to.mode === '160000' || seen.has(to.oid)) return false
    seen.add(to.oid)
    return true
  })
  for (let n = 0; n < wanted.length; n += batch) {
    const part = wanted.slice(n, n + batch)
    const objects = await readObjects(
      repo,
      part.map(({ to }) => to.oid),
    )
    for (const [index, { path, to }] of part.entries()) {
      const content = objects[index]?.content ?? Buffer.alloc(0)
      yield { commit, kind: to.mode === '120000' ? 'symlink' : 'blob', path, content }
    }
  }
}

function isNew(change: Change): change is Change & { to: NonNullable<Change['to']> } {
  return change.to !== null
}

/** The oid of the tree without entries, which git knows without storing it. */
function emptyTree(like: string): string {
  return like.length === 40
    ? '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
    : '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'
}
