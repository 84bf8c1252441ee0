import type { ClaimId, ClaimTable } from './waves-claims.ts'

/** Which waves are taken, by number of items and by claim. Asking skips runs of taken waves at once. */
export interface TakenWaves {
  /** Takes the first wave from `earliest` on that has room and holds no claim touching these. */
  take(claims: readonly ClaimId[], earliest: number): number
}

export function takenWaves(table: ClaimTable, maxParallel: number): TakenWaves {
  const full = waveSet()
  const byClaim = table.claims.map(() => waveSet())
  const sizes = new Map<number, number>()
  return {
    take(claims, earliest) {
      const wave = firstFree([full, ...claims.flatMap((id) => byClaim[id] ?? [])], earliest)
      const size = (sizes.get(wave) ?? 0) + 1
      sizes.set(wave, size)
      if (size >= maxParallel) full.add(wave)
      for (const id of claims) for (const touched of table.touching[id] ?? []) byClaim[touched]?.add(wave)
      return wave
    },
  }
}

function firstFree(sets: readonly WaveSet[], earliest: number): number {
  let wave = earliest
  for (let before = -1; before !== wave; ) {
    before = wave
    for (const set of sets) wave = set.nextFree(wave)
  }
  return wave
}

/** A set of waves that answers "the first one from here that is not in it" in nearly constant time (union-find). */
interface WaveSet {
  add(wave: number): void
  nextFree(wave: number): number
}

function waveSet(): WaveSet {
  const onward = new Map<number, number>()
  return {
    add(wave) {
      if (!onward.has(wave)) onward.set(wave, wave + 1)
    },
    nextFree(wave) {
      let free = wave
      for (let to = onward.get(free); to !== undefined; to = onward.get(free)) free = to
      for (let at = wave; at !== free; ) {
        const to = onward.get(at) ?? free
        onward.set(at, free)
        at = to
      }
      return free
    },
  }
}
