import type { Snapshot, Tokens } from './events.ts'

export const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export function newSnapshot(): Snapshot {
  return { turns: 0, lastTool: null, tokens: noTokens, costUsd: null, message: '', resetsAt: null }
}

/** Sums that stay whole numbers a record can hold, whatever a builder claims to have used. */
export function addTokens(a: Tokens, b: Tokens): Tokens {
  const add = (x: number, y: number) => Math.min(x + y, Number.MAX_SAFE_INTEGER)
  return {
    input: add(a.input, b.input),
    output: add(a.output, b.output),
    cacheRead: add(a.cacheRead, b.cacheRead),
    cacheWrite: add(a.cacheWrite, b.cacheWrite),
  }
}

/** One line that names a tool call. */
export function toolLine(name: string, detail: string): string {
  return detail === '' ? name : `${name} ${detail}`
}
