import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Liveness, watchLiveness } from '../src/liveness.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function isOver(liveness: Liveness, afterMs: number): Promise<boolean> {
  let over = false
  void liveness.over.then(() => {
    over = true
  })
  await vi.advanceTimersByTimeAsync(afterMs)
  return over
}

test('a gateway lasts as long as somebody is there, and a little longer', async () => {
  const liveness = watchLiveness(1000)
  const leaveLease = liveness.enter('lease')
  expect(await isOver(liveness, 3_600_000)).toBe(false)
  const leaveRelay = liveness.enter('relay')
  leaveLease()
  expect(await isOver(liveness, 3_600_000)).toBe(false)
  leaveRelay()
  expect(await isOver(liveness, 999)).toBe(false)
  liveness.enter('lease')()
  expect(await isOver(liveness, 999)).toBe(false)
  expect(await isOver(liveness, 1)).toBe(true)
})

test('who leaves twice has left once', async () => {
  const liveness = watchLiveness(1000)
  const leave = liveness.enter('lease')
  liveness.enter('relay')
  leave()
  leave()
  expect(await isOver(liveness, 3_600_000)).toBe(false)
})

test('a gateway that nobody asks for ends too, after a while for slow machines', async () => {
  const liveness = watchLiveness(1000)
  expect(await isOver(liveness, 9999)).toBe(false)
  expect(await isOver(liveness, 1)).toBe(true)
})
