import { join } from 'node:path'
import { UserError } from '@buildwave/core'
import { decide, isSkip } from './attempt.ts'
import { changeOf } from './change.ts'
import { type Desk, itemNamed } from './desk.ts'
import { putResolved } from './rearrange.ts'
import { isLaidOut, layOut, takeResolved } from './resolve.ts'

/**
 * `--continue ITEM`: the first time, and whenever the stack has moved, lays the conflict out; after that takes what was made of
 * it. Gives back the folder that now waits to be edited, null when the item is on the stack. Throws UserError
 * `not-in-conflict`, and what `takeResolved` throws.
 */
export async function continueItem(desk: Desk, name: string): Promise<string | null> {
  const { stage, ground, book, branch } = desk
  const item = itemNamed(stage, name)
  const last = book.lastAnswer(item.item)
  const attempt = book.attemptsOf(item.item).find((known) => known.attempt === last?.attempt)
  const decision = attempt === undefined ? null : decide(attempt)
  if (last?.outcome !== 'conflict' || attempt === undefined || decision === null || isSkip(decision)) {
    throw new UserError('not-in-conflict', `'${item.item}' is not in conflict`, {
      hint: last === undefined ? `bw-merge --run ${stage.run.run} merges it` : `it is ${last.outcome}: ${last.message}`,
    })
  }
  const { patch } = decision
  const change = await changeOf(ground, { run: stage.run, item, patch, journal: stage.journal.records() })
  const folder = join(stage.paths.attempt(item.item, attempt.attempt).dir, 'conflict')
  const conflict = { folder, head: branch.head(), change }
  if (await isLaidOut(conflict)) {
    await putResolved(desk, await takeResolved(ground, conflict), last.key)
    return null
  }
  await layOut(ground, conflict)
  return join(folder, 'files')
}
