import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findCulprits } from './culprits.ts'

/** Asks about a stack in which exactly these items are red together, counting rounds (sets asked about at once) and sets. */
async function search(items: number, guilty: readonly number[], slots = 3) {
  const count = { rounds: 0, sets: 0, most: 0, open: 0 }
  const found = await findCulprits({
    items,
    slots,
    async areRed(set) {
      if (count.open === 0) count.rounds++
      count.sets++
      count.most = Math.max(count.most, ++count.open)
      await new Promise((resolve) => setImmediate(resolve))
      count.open--
      return guilty.every((item) => set.includes(item))
    },
  })
  return { found, ...count }
}

describe('findCulprits', () => {
  it('names one among 32 with at most six more rounds of three', async () => {
    for (let item = 0; item < 32; item++) {
      const { found, rounds, most } = await search(32, [item])
      expect(found).toEqual([item])
      expect(rounds).toBeLessThanOrEqual(6)
      expect(most).toBeLessThanOrEqual(3)
    }
  })

  it('names every pair', async () => {
    for (let a = 0; a < 12; a++)
      for (let b = a + 1; b < 12; b++) expect((await search(12, [a, b])).found).toEqual([a, b])
  })

  it('finds any set that is red together, whatever the slots', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        fc.infiniteStream(fc.nat()),
        async (items, slots, stream) => {
          const guilty = [...new Set([...stream.take(1 + (items % 4))].map((n) => n % items))].sort((a, b) => a - b)
          expect((await search(items, guilty, slots)).found).toEqual(guilty)
        },
      ),
      { seed: 7, numRuns: 300 },
    )
  })
})
