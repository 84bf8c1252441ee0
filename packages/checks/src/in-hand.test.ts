import { describe, expect, it } from 'vitest'
import { eachInHand, mapInHand } from './in-hand.ts'

async function* numbers(count: number): AsyncGenerator<number> {
  for (let n = 0; n < count; n++) yield n
}

describe('eachInHand', () => {
  it('works on at most the limit at once, reads on meanwhile, and waits for all', async () => {
    const seen: number[] = []
    let now = 0
    let most = 0
    await eachInHand(numbers(10), 3, async (n) => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now--
      seen.push(n)
    })
    expect(most).toBe(3)
    expect(seen.sort()).toEqual([...Array(10).keys()])
  })

  it('throws the first failure while the source still waits, after what is in hand', async () => {
    const finished: string[] = []
    const release = Promise.withResolvers<void>()
    async function* endless(): AsyncGenerator<string> {
      yield 'slow'
      yield 'bad'
      await new Promise(() => undefined)
    }
    const all = eachInHand(endless(), 2, async (name) => {
      if (name === 'bad') {
        release.resolve()
        throw new Error('broken')
      }
      await release.promise
      finished.push(name)
    })
    await expect(all).rejects.toThrow('broken')
    expect(finished).toEqual(['slow'])
  })

  it('finishes what is in hand when the source breaks off', async () => {
    const finished: number[] = []
    async function* cut(): AsyncGenerator<number> {
      yield 1
      throw new Error('cut')
    }
    const all = eachInHand(cut(), 2, async (n) => {
      await new Promise((resolve) => setImmediate(resolve))
      finished.push(n)
    })
    await expect(all).rejects.toThrow('cut')
    expect(finished).toEqual([1])
  })
})

describe('mapInHand', () => {
  it('keeps the order of the values', async () => {
    const doubled = await mapInHand([3, 1, 2], 2, async (n) => {
      for (let count = 0; count < n; count++) await Promise.resolve()
      return n * 2
    })
    expect(doubled).toEqual([6, 2, 4])
  })

  it('throws when one of them fails', async () => {
    await expect(mapInHand([1, 2], 1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })
})
