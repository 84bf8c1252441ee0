/**
 * Calls `work` for each record of an endless source, at most `limit` at a time in the order of their arrival, while the
 * source goes on being read. The first failure of either ends both: what is in hand is waited for, then it is thrown.
 */
export async function eachInHand<T>(
  source: AsyncIterable<T>,
  limit: number,
  work: (record: T) => Promise<void>,
): Promise<void> {
  const hands = openHands(limit)
  const records = source[Symbol.asyncIterator]()
  try {
    while (true) {
      const next = await Promise.race([records.next(), hands.failed])
      if (next.done === true) break
      hands.take(() => work(next.value))
    }
  } finally {
    await hands.empty()
  }
  hands.throwIfFailed()
}

/** The results of `work` for all of them in their order, at most `limit` at a time. */
export async function mapInHand<T, R>(
  values: readonly T[],
  limit: number,
  work: (value: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const hands = openHands(limit)
  for (const [index, value] of values.entries())
    hands.take(async () => {
      results[index] = await work(value)
    })
  await hands.empty()
  hands.throwIfFailed()
  return results
}

interface Hands {
  take(work: () => Promise<void>): void
  /** Resolves when nothing is in hand or waits; never rejects. */
  empty(): Promise<void>
  /** Rejects with the first failure, and is pending until then. Nothing that waits is begun after it. */
  failed: Promise<never>
  throwIfFailed(): void
}

function openHands(limit: number): Hands {
  const waiting: (() => Promise<void>)[] = []
  const inHand = new Set<Promise<void>>()
  const failure = Promise.withResolvers<never>()
  const failures: unknown[] = []
  failure.promise.catch(() => undefined)

  function begin(): void {
    while (inHand.size < limit) {
      const work = waiting.shift()
      if (work === undefined) return
      const done: Promise<void> = work()
        .catch((error: unknown) => {
          waiting.length = 0
          failures.push(error)
          failure.reject(error)
        })
        .finally(() => {
          inHand.delete(done)
          begin()
        })
      inHand.add(done)
    }
  }

  return {
    take(work) {
      waiting.push(work)
      begin()
    },
    async empty() {
      while (inHand.size > 0) await Promise.all(inHand)
    },
    failed: failure.promise,
    throwIfFailed() {
      if (failures.length > 0) throw failures[0]
    },
  }
}
