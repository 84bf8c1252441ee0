import { expect, it } from 'vitest'
import { places } from '../src/places.ts'

it('runs at most so many calls at a time, in order, also after failures', async () => {
  const limited = places(3)
  const started: number[] = []
  let running = 0
  let most = 0
  const calls = Array.from({ length: 20 }, (_, at) =>
    limited(async () => {
      started.push(at)
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      if (at % 5 === 0) throw new Error(`call ${at}`)
      return at
    }),
  )
  const results = await Promise.allSettled(calls)
  expect(most).toBe(3)
  expect(started).toEqual(Array.from({ length: 20 }, (_, at) => at))
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(4)
})
