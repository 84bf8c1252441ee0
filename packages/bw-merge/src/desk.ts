import { type ItemRecord, type MergeRecord, UserError } from '@buildwave/core'
import type { Stage } from '@buildwave/stage'
import { workKey } from '@buildwave/store'
import { mergeRecordOf, type Verdict } from './answer.ts'
import { type Attempt, type Decision, isSkip, type ReadyPatch } from './attempt.ts'
import type { Book } from './book.ts'
import type { Branch } from './branch.ts'
import type { Ground } from './stack.ts'

export interface MergeSettings {
  /** Items that a person takes out of the stack, or leaves out, by name or by their id in the plan. */
  drop: readonly string[]
  skip: readonly string[]
  /**
   * The input is the journal, where answers of before come after what they answer: only when all of it is through may new ones
   * follow, since the last answer counts.
   */
  isReplay: boolean
  /** Items in conflict whose resolution is to be laid out, or taken. */
  continue: readonly string[]
  /** Told where a conflict was laid out; null when its resolution was taken. */
  tellFolder: (folder: string | null, item: string) => void
}

/** All that bw-merge has in hand while it works. */
export interface Desk {
  stage: Stage
  ground: Ground
  branch: Branch
  book: Book
  settings: MergeSettings
  /** Ready attempts that wait for their turn, by item. */
  held: Map<string, { attempt: Attempt; patch: ReadyPatch }>
  /** Attempts answered in this run of the stage, as `item/attempt`. */
  settled: Set<string>
  /** True once a layer was taken out, so that what was in conflict may fit now. */
  isRebuilt: boolean
}

/** The same for the same work, so that an answer in the journal is known again. */
export function keyOf({ item, attempt }: Attempt, decision: Decision): string {
  if (isSkip(decision)) return workKey('merge', item.item, attempt, decision.reason, decision.message)
  const { commit, digest, start } = decision.patch
  return workKey('merge', item.item, attempt, item.title, commit, digest, start)
}

/** Writes an answer that leaves the stack as it is. */
export async function answer(desk: Desk, verdict: Omit<Verdict, 'head'>): Promise<void> {
  const record = mergeRecordOf(desk.stage, { ...verdict, head: desk.branch.head() })
  await desk.stage.emit(record)
  noteAnswer(desk, record)
}

export function noteAnswer({ book, settled }: Desk, record: MergeRecord): void {
  book.note(record)
  settled.add(attemptName(record.item, record.attempt))
}

/** The attempt's name; without a number that of an item that never had one. */
export function attemptName(item: string, attempt: number | undefined): string {
  return `${item}/${attempt ?? '-'}`
}

/** What a person wants of an item: `drop`, `skip`, or nothing. */
export function wishFor({ settings }: Pick<Desk, 'settings'>, { item, id }: ItemRecord): 'drop' | 'skip' | null {
  const isNamed = (names: readonly string[]) => names.includes(item) || names.includes(id)
  if (isNamed(settings.drop)) return 'drop'
  return isNamed(settings.skip) ? 'skip' : null
}

/** The items that an item needs on the stack; those the plan has as done are not among them. */
export function dependenciesOf(stage: Pick<Stage, 'items'>, item: string): string[] {
  const known = new Map(stage.items().map((record) => [record.item, record]))
  const { after = [], waitsFor = [] } = known.get(item) ?? {}
  const waits = waitsFor.filter(({ reason }) => reason === 'dependency').map((wait) => wait.item)
  return [...new Set([...after, ...waits])].filter((name) => known.get(name)?.done === false)
}

/** The item of that name or id. Throws UserError `no-such-item`. */
export function itemNamed(stage: Pick<Stage, 'items' | 'run'>, name: string): ItemRecord {
  const found = stage.items().find(({ item, id }) => item === name || id === name)
  if (found !== undefined) return found
  const names = stage.items().map(({ item }) => item)
  throw new UserError('no-such-item', `run '${stage.run.run}' has no item '${name}'`, {
    hint: `its items: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}`,
  })
}
