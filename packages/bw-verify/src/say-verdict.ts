import type { TestChanges, VerificationRecord } from '@buildwave/core'
import { safeText } from '@buildwave/secrets'
import type { Messages } from '@buildwave/stdio'

const shownNames = 5

/** Says who is to blame for a red head, and which tests were flaky; nothing else is worth a word. */
export function explain(say: Messages, { run, verdict, changes, culprits }: VerificationRecord): void {
  if (changes.flaky.length > 0) say.warn(`flaky, blamed on nobody: ${listed(changes.flaky)}`)
  if (verdict === 'green') return
  const who = culprits.length === 1 ? culprits[0] : `${culprits.join(' and ')} together`
  say.error(`red because of ${who}: ${losses(changes)}`, `bw-merge --run ${run} --drop ${culprits.at(-1)} takes it out`)
}

/** The tests that got worse, in words. A test's name is text of a builder: it is masked and escaped. */
export function losses(changes: TestChanges): string {
  const lost = [...changes.newlyFailing, ...changes.newlySkipped, ...changes.vanished]
  return lost.length === 0 ? 'the test command fails' : listed(lost)
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, shownNames).map((name) => safeText(name))
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
