/** Lets at most `count` calls run at a time; the others start in the order in which they came. */
export function places(count: number): <T>(call: () => Promise<T>) => Promise<T> {
  let free = count
  const waiting: (() => void)[] = []

  async function take(): Promise<void> {
    if (free > 0) {
      free -= 1
      return
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function giveBack(): void {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }

  return async (call) => {
    await take()
    try {
      return await call()
    } finally {
      giveBack()
    }
  }
}
