import { UserError } from '@buildwave/core'
import { attemptState, connect } from '@buildwave/engine'
import { findAttempt, findItem, type History, liveLeases, readHistory } from '@buildwave/runs'
import { type AttemptPaths, openJournal, type RunPaths } from '@buildwave/store'
import type { Following } from './log-file.ts'

export interface Choice {
  attempt: number | undefined
  follow: boolean
  tests: boolean
  stderr: boolean
  prompt: boolean
}

export interface ChosenLog {
  path: string
  item: string
  attempt: number
  /** What the file is, for messages. */
  what: string
}

/** Which file is asked for. Throws UserError for an item or attempt that is not there, or flags that do not go together. */
export function chooseLog(paths: RunPaths, name: string, choice: Choice): ChosenLog {
  const asked = (['tests', 'stderr', 'prompt'] as const).filter((flag) => choice[flag])
  const [flag = 'events', other] = asked
  if (other !== undefined) throw new UserError('bad-arguments', `'--${flag}' and '--${other}' do not go together`)
  if (choice.follow && (flag === 'tests' || flag === 'prompt')) {
    throw new UserError('bad-arguments', `'--follow' does not go with '--${flag}'`, {
      hint: 'it follows what a builder writes: its events, or --stderr',
    })
  }
  const history: History = readHistory(paths)
  const { item } = findItem(history, name)
  const attempt = findAttempt(history, item, choice.attempt)
  return { ...files[flag](paths.attempt(item, attempt)), item, attempt }
}

const files = {
  events: (of: AttemptPaths) => ({ path: of.stream, what: 'events' }),
  stderr: (of: AttemptPaths) => ({ path: of.stderr, what: 'error output' }),
  tests: (of: AttemptPaths) => ({ path: of.testsLog, what: 'test log' }),
  prompt: (of: AttemptPaths) => ({ path: of.prompt, what: 'prompt' }),
}

/** `no-log` in words that say which log of which attempt. */
export function missingLog({ item, attempt, what }: ChosenLog, cause: UserError): UserError {
  return new UserError('no-log', `attempt ${attempt} at '${item}' has no ${what}`, { cause })
}

/** Tells when an attempt has ended: it has its `build` record, or its builder no longer runs. */
export async function endOf(
  paths: RunPaths,
  { item, attempt }: ChosenLog,
  state: string,
): Promise<Pick<Following, 'isOver'> & { close(): void }> {
  const engine = await connect({ state })
  const journal = openJournal(paths.journal, { create: false })
  const has = (kind: string) =>
    journal.records().some((record) => {
      return record.kind === kind && record['item'] === item && record['attempt'] === attempt
    })
  return {
    close: () => journal.close(),
    async isOver() {
      journal.refresh()
      if (has('build')) return true
      if ((await attemptState(engine, { run: paths.id, item, attempt })).state === 'running') return false
      // It may be about to start: bw-spawn writes down first what it will do.
      const isStarting =
        !has('builder') && !has('failure') && liveLeases(paths).some(({ stage }) => stage === 'bw-spawn')
      return !isStarting
    },
  }
}
