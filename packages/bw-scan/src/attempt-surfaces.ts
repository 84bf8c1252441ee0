/** Everything of one attempt that leaves its container: the commit with all it brings in, and what was written beside it. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { PatchRecord } from '@buildwave/core'
import { newContent, type Repo } from '@buildwave/git'
import type { AttemptPaths } from '@buildwave/store'
import type { Surface } from './tally.ts'

export async function* attemptSurfaces(repo: Repo, patch: PatchRecord, paths: AttemptPaths): AsyncGenerator<Surface> {
  if (patch.commit !== null) {
    for await (const { kind, path, content, commit } of newContent(repo, patch.start, patch.commit)) {
      yield { surface: kind === 'commit' ? 'message' : kind, file: path, content, commit }
    }
  }
  yield* logSurface('log', 'tests.log', paths.testsLog)
  yield* logSurface('log', 'regression.log', paths.regressionLog)
  yield* logSurface('stream', 'stream.jsonl', paths.stream)
  yield* logSurface('stream', 'stderr.log', paths.stderr)
}

/**
 * A file that is not there is no gap: not every attempt ran tests. The builder could write in `out/`, so a link or a pipe
 * put in the place of a file is neither followed nor waited for.
 */
async function* logSurface(surface: string, file: string, path: string): AsyncGenerator<Surface> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
    if (error.code === 'ENOENT') return null
    if (error.code === 'ELOOP' || error.code === 'ENXIO') return 'not-a-file' as const
    throw error
  })
  if (handle === null) return
  if (handle === 'not-a-file' || !(await handle.stat()).isFile()) {
    if (handle !== 'not-a-file') await handle.close()
    yield { surface, file, content: Buffer.alloc(0), problem: 'not-a-file' }
    return
  }
  yield { surface, file, content: handle.createReadStream() }
}
