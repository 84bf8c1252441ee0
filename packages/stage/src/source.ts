/** Where a stage's records come from: stdin, or the journal of a run that `--run` names. */
import { UserError } from '@buildwave/core'
import { type Io, type RecordLine, readRecords } from '@buildwave/stdio'
import type { Journal } from '@buildwave/store'

/** Records from stdin, racing the interrupt so that a stage that waits for its upstream still ends. */
export async function* fromStdin(io: Io, stopping: AbortSignal): AsyncGenerator<RecordLine> {
  const lines = readRecords(io.stdin)
  const stopped = new Promise<never>((_, reject) => {
    const stop = () => reject(stopping.reason)
    if (stopping.aborted) stop()
    else stopping.addEventListener('abort', stop, { once: true })
  })
  stopped.catch(() => undefined)
  try {
    while (true) {
      const next = await Promise.race([lines.next(), stopped])
      if (next.done === true) return
      yield next.value
    }
  } finally {
    io.stdin.destroy()
  }
}

/**
 * The state of a run as records: the run, its items as last edited, then every result in the order it was written.
 * Journal-only lines and other stages' `end` are left out; `endsWell` says whether the stage before finished.
 */
export function fromJournal(journal: Journal): RecordLine[] {
  const records = journal.records()
  const run = records.findLast((record) => record.kind === 'run')
  if (run === undefined) throw new UserError('no-run', 'the journal holds no run record')
  const items = new Map(records.filter(({ kind }) => kind === 'item').map((record) => [record['item'], record]))
  const results = records.filter(({ kind }) => !['run', 'item', 'intent', 'end'].includes(kind))
  return [run, ...items.values(), ...results].map((record, index) => ({
    line: JSON.stringify(record),
    record,
    number: index + 1,
  }))
}

/** Refuses a terminal or an empty pipe where records are expected. */
export function refuseNoInput(io: Io): void {
  if (io.stdin.isTTY === true) {
    throw new UserError('no-input', 'nothing to read: stdin is a terminal', {
      hint: 'pipe records into it (bw-plan PLAN.md | …) or name a run with --run RUN (bw-ls lists them)',
    })
  }
}
