import { UserError } from '@buildwave/core'
import { callGit, type Owner } from './call.ts'
import type { Repo, Store } from './repo.ts'

/** The oid a ref (full name, `refs/…`) holds, null when there is no such ref. */
export async function readRef(repo: Repo, ref: string): Promise<string | null> {
  return (await listRefs(repo, [ref])).get(ref) ?? null
}

export async function hasRef(repo: Repo, ref: string): Promise<boolean> {
  return (await readRef(repo, ref)) !== null
}

/**
 * The existing refs that make `ref` impossible: one of its leading parts (`refs/heads/builders` for
 * `refs/heads/builders/x`), or refs below it.
 */
export async function refConflicts(repo: Repo, ref: string): Promise<string[]> {
  const parts = ref.split('/')
  const above = parts.map((_, n) => parts.slice(0, n).join('/')).filter((name) => name.split('/').length > 2)
  const names = [...(await listRefs(repo, [...above, ref])).keys()]
  return names.filter((name) => above.includes(name) || name.startsWith(`${ref}/`))
}

/** Whether git accepts this as the full name of a ref. */
export async function isRefName(ref: string): Promise<boolean> {
  if (!ref.startsWith('refs/')) return false
  return (await callGit(null, ['check-ref-format', ref], { answers: [0, 1] })).status === 0
}

/**
 * Moves `ref` from `old` (null: it must not exist) to `next` (null: delete it). Throws UserError `ref-moved` when it holds
 * anything else, and then nothing has changed.
 */
export async function updateRef(store: Store, ref: string, next: string | null, old: string | null): Promise<void> {
  try {
    await writeRef(store, ref, { next, old })
  } catch (error) {
    const now = await readRef(store, ref)
    if (now === old) throw error
    throw movedRef(ref, { now, old, cause: error })
  }
}

export function movedRef(
  ref: string,
  { now, old, cause }: { now: string | null; old: string | null; cause: unknown },
): UserError {
  const message = `'${ref}' holds ${now ?? 'nothing'} where ${old ?? 'nothing'} was expected`
  return new UserError('ref-moved', message, { cause })
}

/** One compare-and-swap, without a word on why it failed. */
export async function writeRef(
  repo: Repo,
  ref: string,
  change: { next: string | null; old: string | null; owner?: Owner | undefined },
): Promise<void> {
  const { next, old, owner } = change
  if (next === null && old === null) return
  const zero = '0'.repeat((next ?? old ?? '').length)
  await callGit(repo, ['update-ref', '--no-deref', ref, next ?? zero, old ?? zero], { owner })
}

/** Refs whose name is one of `patterns` or lies below one of them, with their oids. */
export async function listRefs(repo: Repo, patterns: readonly string[]): Promise<Map<string, string>> {
  const answer = await callGit(repo, ['for-each-ref', '--format=%(objectname) %(refname)', '--', ...patterns])
  const lines = answer.stdout.toString('utf8').split('\n')
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line): [string, string] => {
        const space = line.indexOf(' ')
        return [line.slice(space + 1), line.slice(0, space)]
      }),
  )
}
