/** Whoever started a gateway may take a while, on a busy machine, to ask for its lease. */
const startMs = 10_000

/** Who still needs the gateway: leases of tools and relays of holders. It is over some time after the last has gone. */
export interface Liveness {
  /** Counts one more; call the returned function when it is gone. */
  enter(kind: 'lease' | 'relay'): () => void
  count(kind: 'lease' | 'relay'): number
  /** Resolves when nobody was there for `graceMs`, or nobody came at all for a while after the start. */
  readonly over: Promise<void>
}

export function watchLiveness(graceMs: number): Liveness {
  const present = { lease: 0, relay: 0 }
  const { promise, resolve } = Promise.withResolvers<void>()
  let timer = setTimeout(resolve, Math.max(graceMs, startMs))
  return {
    over: promise,
    count: (kind) => present[kind],
    enter(kind) {
      present[kind] += 1
      clearTimeout(timer)
      let left = false
      return () => {
        if (left) return
        left = true
        present[kind] -= 1
        if (present.lease + present.relay > 0) return
        clearTimeout(timer)
        timer = setTimeout(resolve, graceMs)
      }
    },
  }
}
