/**
 * bw-merge: answers every attempt of the input with one `merge` record, and keeps the stack. Records come in any order of
 * items; `hold.ts` says when an item may go, `stack.ts` makes the commits, `branch.ts` moves the ref.
 */
import { type ExitStatus, type IntegrationRecord, type ItemRecord, type MergeRecord, UserError } from '@buildwave/core'
import { changedPatch, checkPatchWith, commitTreeOid } from '@buildwave/git'
import type { Stage } from '@buildwave/stage'
import { workKey } from '@buildwave/store'
import { statusOf } from './answer.ts'
import { type Attempt, type Decision, decide, decideAtEnd, isSkip, type ReadyPatch } from './attempt.ts'
import { openBook, openItems } from './book.ts'
import { branchName, openBranch } from './branch.ts'
import { changeOf } from './change.ts'
import { continueItem } from './continue.ts'
import {
  answer,
  attemptName,
  type Desk,
  dependenciesOf,
  itemNamed,
  keyOf,
  type MergeSettings,
  wishFor,
} from './desk.ts'
import { type ItemState, released, staysInside } from './hold.ts'
import { type Leaving, putLast, replaceLayer, takeOutLayers } from './rearrange.ts'
import type { Ground } from './stack.ts'

/** Gives back one exit status an item: that of its latest answer. */
export async function mergeItems(stage: Stage, ground: Ground, settings: MergeSettings): Promise<ExitStatus[]> {
  const branch = await openBranch(stage, ground)
  const book = openBook(stage)
  const desk: Desk = { stage, ground, branch, book, settings, held: new Map(), settled: new Set(), isRebuilt: false }
  if (stage.again && branch.layers().length > 0) await branch.move([], [])
  const waiting = new Set<Attempt>()
  for await (const record of stage.input()) {
    const attempt = book.take(record)
    if (attempt !== null && decide(attempt) !== null) waiting.add(attempt)
    if (!settings.isReplay) await settleAll(desk, waiting)
  }
  await settleAll(desk, waiting)
  for (const attempt of book.attempts()) {
    if (decide(attempt) === null) await settle(desk, attempt, decideAtEnd(attempt))
  }
  await answerUnstarted(desk)
  await mergeReleased(desk)
  await takeOutNamed(desk)
  await retryConflicts(desk)
  for (const name of settings.continue) settings.tellFolder(await continueItem(desk, name), name)
  await writeIntegration(desk)
  return openItems(stage).flatMap(({ item }) => {
    const last = book.lastAnswer(item)
    return last === undefined ? [] : [statusOf(last)]
  })
}

/** Settles what is decided by now, and then what was held for it. */
async function settleAll(desk: Desk, attempts: Set<Attempt>): Promise<void> {
  for (const attempt of attempts) {
    attempts.delete(attempt)
    const decision = decide(attempt)
    if (decision !== null) await settle(desk, attempt, decision)
  }
  await mergeReleased(desk)
}

/** Answers an attempt now, from the journal if its answer is there, or puts it aside until its turn. */
async function settle(desk: Desk, attempt: Attempt, decision: Decision): Promise<void> {
  const { item } = attempt
  const known = knownAnswer(desk, attempt, decision)
  if (known !== undefined) {
    desk.settled.add(attemptName(item.item, attempt.attempt))
    return desk.stage.passOn(known)
  }
  if (wishFor(desk, item) !== null || isSkip(decision)) return refuse(desk, attempt, decision)
  const paths = decision.patch.files.map(({ path }) => path)
  if (staysInside(item, paths, desk.ground.union)) return merge(desk, attempt, decision.patch)
  desk.held.set(item.item, { attempt, patch: decision.patch })
}

/** The answer that the journal has for the same work, unless the stack says otherwise by now. */
function knownAnswer(desk: Desk, attempt: Attempt, decision: Decision): MergeRecord | undefined {
  const { item } = attempt.item
  const known = desk.book.answer(item, attempt.attempt)
  if (known === undefined || known.key !== keyOf(attempt, decision)) return undefined
  if ((known.outcome === 'applied') !== isOnStack(desk, attempt)) return undefined
  if (known.reason === 'dependency-failed' && !isSkip(decision) && missingDependency(desk, item) === undefined)
    return undefined
  if (known.outcome !== 'conflict') return known
  const isSameQuestion = JSON.stringify(known['union']) === JSON.stringify(desk.ground.union)
  return desk.stage.again || !isSameQuestion ? undefined : known
}

/** Leaves an attempt out, because a person said so or because of what was found; takes it out when it is on the stack. */
async function refuse(desk: Desk, attempt: Attempt, decision: Decision): Promise<void> {
  const wish = wishFor(desk, attempt.item)
  const { reason, message } = wish !== null ? wished[wish] : isSkip(decision) ? decision : wished.skip
  const about = { item: attempt.item.item, attempt: attempt.attempt, key: keyOf(attempt, decision) }
  if (isOnStack(desk, attempt))
    return takeOutLayers(desk, [{ layer: attemptLayer(attempt), reason, message, key: about.key }])
  await answer(desk, { ...about, outcome: wish === 'drop' ? 'dropped' : 'skipped', reason, message })
}

const wished = {
  drop: { reason: 'dropped-by-user', message: 'taken out by --drop' },
  skip: { reason: 'skipped-by-user', message: 'left out by --skip' },
} as const

/** Merges what was held and may go now. */
async function mergeReleased(desk: Desk): Promise<void> {
  if (desk.held.size === 0) return
  const items = openItems(desk.stage)
  for (const { item } of released(items, new Map(items.map((each) => [each.item, stateOf(desk, each)])))) {
    const waiting = desk.held.get(item)
    desk.held.delete(item)
    if (waiting !== undefined) await merge(desk, waiting.attempt, waiting.patch)
  }
}

function stateOf({ held, book, settled }: Desk, { item }: ItemRecord): ItemState {
  if (held.has(item)) return 'held'
  if (book.deferral(item) !== null) return 'answered'
  return settled.has(attemptName(item, book.attemptsOf(item).at(-1)?.attempt)) ? 'answered' : 'open'
}

/** Puts a ready attempt onto the stack, in the place of an earlier attempt of its item when there is one. */
async function merge(desk: Desk, attempt: Attempt, patch: ReadyPatch): Promise<void> {
  const { ground, branch, stage } = desk
  const { item } = attempt.item
  const key = keyOf(attempt, { patch })
  const about = { item, attempt: attempt.attempt, key }
  const lacking = missingDependency(desk, item)
  if (lacking !== undefined) {
    const message = `it needs ${lacking}, which is not on the stack`
    return answer(desk, { ...about, outcome: 'skipped', reason: 'dependency-failed', message })
  }
  try {
    const parents = await checkPatchWith(ground.reader, patch.commit, patch.digest)
    if (parents.join() !== patch.start) throw changedPatch(patch.commit)
    const change = await changeOf(ground, {
      run: stage.run,
      item: attempt.item,
      patch,
      journal: stage.journal.records(),
    })
    const old = branch.layers().find((layer) => layer.item === item)
    const { conflicts } =
      old === undefined ? await putLast(desk, change, key) : await replaceLayer(desk, old, { change, key })
    if (conflicts === null) return
    const message = conflictMessage(desk, conflicts)
    await answer(desk, { ...about, outcome: 'conflict', reason: null, message, conflicts, union: ground.union })
  } catch (error) {
    if (!(error instanceof UserError) || error.status !== 4) throw error
    await answer(desk, { ...about, outcome: 'skipped', reason: error.code, message: error.message })
  }
}

function missingDependency({ stage, branch }: Desk, item: string): string | undefined {
  return dependenciesOf(stage, item).find((name) => !branch.layers().some((layer) => layer.item === name))
}

function isOnStack({ branch }: Desk, { item, attempt }: Attempt): boolean {
  return branch.layers().some((layer) => layer.item === item.item && layer.attempt === attempt)
}

function attemptLayer({ item, attempt }: Attempt): Leaving['layer'] {
  return { item: item.item, attempt }
}

/** Names the files and the items on the stack that changed them too. */
function conflictMessage({ branch, book }: Desk, conflicts: MergeRecord['conflicts']): string {
  const paths = new Set(conflicts.map(({ path }) => path))
  const others = branch.layers().filter(({ item, attempt }) => {
    const patch = book.attemptsOf(item).find((known) => known.attempt === attempt)?.patch
    return patch?.files.some(({ path }) => paths.has(path)) === true
  })
  const who = others.length === 0 ? '' : `with ${others.map(({ item }) => item).join(', ')} `
  return `conflict ${who}in ${[...paths].slice(0, 5).join(', ')}${paths.size > 5 ? ` and ${paths.size - 5} more` : ''}`
}

/** Items of which the input has no attempt get their answer when nothing more can come. */
async function answerUnstarted(desk: Desk): Promise<void> {
  const { book, stage } = desk
  for (const item of openItems(stage)) {
    if (book.attemptsOf(item.item).length > 0) continue
    const wish = wishFor(desk, item)
    const why = wish === null ? book.deferral(item.item) : wished[wish]
    const { reason, message } = why ?? { reason: 'never-came', message: 'it was never started' }
    const key = workKey('merge', item.item, reason, message)
    const last = book.lastAnswer(item.item)
    // The journal may know an attempt that a part of a stream does not hold.
    const isKnown = last !== undefined && (last.key === key || (why === null && last.attempt !== undefined))
    const outcome = wish === 'drop' ? 'dropped' : 'skipped'
    if (isKnown) await stage.passOn(last)
    else await answer(desk, { item: item.item, attempt: undefined, key, outcome, reason, message })
    desk.settled.add(attemptName(item.item, undefined))
  }
}

/** What `--drop` and `--skip` name leaves the stack; where it was not on it, its last answer is theirs now. */
async function takeOutNamed(desk: Desk): Promise<void> {
  const { settings, stage, branch, book } = desk
  const named = [...settings.drop, ...settings.skip].map((name) => itemNamed(stage, name))
  const leaving = branch.layers().flatMap((layer): Leaving[] => {
    const item = named.find((each) => each.item === layer.item)
    const wish = item === undefined ? null : wishFor(desk, item)
    return wish === null ? [] : [{ layer, ...wished[wish] }]
  })
  await takeOutLayers(desk, leaving)
  for (const item of named) {
    const last = book.lastAnswer(item.item)
    const wish = wishFor(desk, item)
    if (last === undefined || wish === null || last.reason === wished[wish].reason) continue
    if (last.reason === wished.drop.reason) continue
    const { key, attempt } = last
    await answer(desk, {
      item: item.item,
      attempt,
      key,
      outcome: wish === 'drop' ? 'dropped' : 'skipped',
      ...wished[wish],
    })
  }
}

/** What was in conflict may fit once something has left. */
async function retryConflicts(desk: Desk): Promise<void> {
  if (!desk.isRebuilt) return
  for (const item of openItems(desk.stage)) {
    const attempt = desk.book.attemptsOf(item.item).at(-1)
    const decision = attempt === undefined ? null : decide(attempt)
    if (attempt === undefined || decision === null || isSkip(decision)) continue
    if (desk.book.answer(item.item, attempt.attempt)?.outcome === 'conflict') await merge(desk, attempt, decision.patch)
  }
}

async function writeIntegration({ stage, branch, ground }: Desk): Promise<void> {
  const items = branch.layers().map(({ item, attempt, commit }) => ({ item, attempt, commit }))
  const head = branch.head()
  stage.journal.refresh()
  const known = stage.journal.records().findLast(({ kind }) => kind === 'integration')
  if (known?.['head'] === head && JSON.stringify(known['items']) === JSON.stringify(items)) return stage.passOn(known)
  const record: IntegrationRecord = {
    kind: 'integration',
    v: 1,
    run: stage.run.run,
    at: new Date().toISOString(),
    branch: branchName(stage.run.run),
    head,
    tree: await commitTreeOid(ground.store, head),
    items,
    union: ground.union,
  }
  await stage.emit(record)
}
