import { bundleFrom } from '@buildwave/checks'
import { type BuilderRecord, type BuildRecord, type ItemRecord, type RunRecord, UserError } from '@buildwave/core'
import { attemptState, collectTree, type Engine, prepareStart, stopAttempt } from '@buildwave/engine'
import { commitTree, commitTreeOid, type Repo, readRef, takePack, updateRef } from '@buildwave/git'

export interface Attempt {
  item: ItemRecord
  builder: BuilderRecord
  build: BuildRecord
  /** What an earlier call gathered, as its patch record tells: all that is left of an attempt without changes. */
  earlier: Gathered | null
}

export interface Gathered {
  tree: string
  /** Null when the builder changed nothing. */
  commit: string | null
}

interface Doors {
  run: RunRecord
  engine: Engine
  repo: Repo
}

/**
 * Makes what an ended builder left a commit on its start commit and points `refs/bw/<item>/<attempt>` at it; until then
 * nothing of the attempt may be removed. Without the containers (an earlier call got this far) the ref is the answer.
 *
 * The commit says when the build ended, not when it was collected: collecting again gives the same oid.
 */
export async function gather(doors: Doors, attempt: Attempt): Promise<Gathered> {
  const { engine, repo, run } = doors
  const { builder, build } = attempt
  const ref = attemptRef(build)
  const known = await readRef(repo, ref)
  const id = { run: run.run, item: build.item, attempt: build.attempt }
  if ((await attemptState(engine, id)).state === 'absent') {
    if (known !== null) return { commit: known, tree: await commitTreeOid(repo, known) }
    if (attempt.earlier?.commit === null) return attempt.earlier
    throw attemptGone(build)
  }
  await stopAttempt(engine, id)
  const layer = await prepareStart(engine, {
    run: run.run,
    start: builder.start,
    base: run.base,
    bundle: bundleFrom(repo),
  })
  const { tree, pack } = await collectTree(engine, { ...id, layer })
  if (pack !== null) await takePack(repo, pack)
  if (tree === (await commitTreeOid(repo, builder.start))) return { tree, commit: null }
  const commit = await commitTree(repo, {
    tree,
    parents: [builder.start],
    message: attempt.item.title,
    identity: identityOf(run),
    date: build.at,
  })
  await updateRef(repo, ref, commit, known)
  return { tree, commit }
}

/** The ref that keeps an attempt's work in the run's repository. */
export function attemptRef({ item, attempt }: { item: string; attempt: number }): string {
  return `refs/bw/${item}/${attempt}`
}

function attemptGone({ item, attempt }: BuildRecord): UserError {
  return new UserError('attempt-gone', `attempt ${attempt} of '${item}' is no longer on the engine`, {
    status: 4,
    hint: 'its containers were removed before the work was collected; the next run builds the item again',
  })
}

function identityOf(run: RunRecord): { name: string; email: string } {
  if (run.identity !== null) return run.identity
  throw new UserError('no-identity', 'nobody to sign commits with', {
    hint: 'set user.name and user.email in the repository or for yourself, then plan again',
  })
}
