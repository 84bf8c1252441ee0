import {
  type BuilderRecord,
  type BuildRecord,
  type ExitStatus,
  exit,
  type ItemRecord,
  UserError,
} from '@buildwave/core'
import type { Engine } from '@buildwave/engine'
import type { Stage } from '@buildwave/stage'
import { followAttempt } from './follow.ts'
import type { View } from './view.ts'

export interface WatchSettings {
  stallMinutes: number
  /** Seconds after which waiting is given up, null: never. */
  timeoutSeconds: number | null
  /** Write `progress` records too. */
  events: boolean
}

/** Follows every builder of the input and writes a `build` record for each attempt that ends. */
export async function watchBuilders(
  stage: Stage,
  settings: WatchSettings,
  { engine, view }: { engine: () => Promise<Engine>; view: View },
): Promise<ExitStatus[]> {
  const outcomes: ExitStatus[] = []
  const following: Promise<void>[] = []
  const failed = deferredReject()
  const timeout = settings.timeoutSeconds === null ? null : giveUpAfter(settings.timeoutSeconds)

  const reading = (async () => {
    for await (const record of stage.input()) {
      if (record.kind === 'item') showItem(record as unknown as ItemRecord)
      if (record.kind === 'deferred')
        view.update(String(record['item']), {
          state: 'deferred',
          needsPerson: record['reason'] !== 'dependency-pending',
        })
      if (record.kind === 'failure')
        view.update(String(record['item']), { state: 'failed', needsPerson: true, lastTool: String(record['message']) })
      if (record.kind !== 'builder') continue
      const followed = follow(record as unknown as BuilderRecord)
      followed.catch(failed.reject)
      following.push(followed)
    }
    await Promise.all(following)
  })()
  try {
    await Promise.race([reading, failed.promise, ...(timeout === null ? [] : [timeout.promise])])
  } finally {
    timeout?.clear()
    reading.catch(() => undefined)
  }
  return outcomes

  function showItem(item: ItemRecord): void {
    view.update(item.item, { state: item.done ? 'already done' : 'waiting' })
  }

  async function follow(builder: BuilderRecord): Promise<void> {
    const known = stage.journal
      .refresh()
      .concat(stage.journal.records())
      .findLast(({ kind, item, attempt }) => kind === 'build' && item === builder.item && attempt === builder.attempt)
    if (known !== undefined) {
      await stage.passOn(known)
      return show(known as unknown as BuildRecord)
    }
    view.update(builder.item, { state: 'running', attempt: builder.attempt, turns: 0, lastTool: '' })
    let lastProgress = 0
    const build = await followAttempt(await engine(), builder, {
      run: stage.run,
      paths: stage.paths.attempt(builder.item, builder.attempt),
      stallMinutes: settings.stallMinutes,
      signal: stage.interrupt.now,
      onProgress({ turns, lastTool, tokens, costUsd }) {
        const sum = tokens.input + tokens.output
        view.update(builder.item, { turns, tokens: sum, costUsd, lastTool: lastTool ?? '' })
        if (!settings.events || Date.now() - lastProgress < 1000) return
        lastProgress = Date.now()
        void stage.emit({
          kind: 'progress',
          v: 1,
          run: builder.run,
          item: builder.item,
          attempt: builder.attempt,
          at: new Date().toISOString(),
          turns,
          lastTool,
          tokens: sum,
          costUsd,
          files: [],
        })
      },
    })
    await stage.emit(build)
    show(build)
  }

  function show({ item, attempt, outcome, turns, tokens, costUsd, seconds }: BuildRecord): void {
    if (outcome !== 'done') outcomes.push(exit.problem)
    view.update(item, {
      state: outcome,
      attempt,
      turns,
      tokens: tokens.input + tokens.output,
      costUsd,
      seconds,
      needsPerson: outcome !== 'done',
    })
  }
}

function deferredReject() {
  let reject: (reason: unknown) => void = () => undefined
  const promise = new Promise<never>((_, no) => {
    reject = no
  })
  promise.catch(() => undefined)
  return { promise, reject }
}

function giveUpAfter(seconds: number) {
  const { promise, reject } = deferredReject()
  const late = () =>
    reject(
      new UserError('timed-out', `still waiting after ${seconds} s`, {
        status: exit.timedOut,
        hint: 'the builders go on; the same command line waits for them again',
      }),
    )
  const timer = setTimeout(late, seconds * 1000)
  return { promise, clear: () => clearTimeout(timer) }
}
