import type { Tokens } from './usage.ts'

interface Price {
  /** US dollars per million tokens. */
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cacheWriteHour: number
  /** Prompts above so many tokens cost so many times as much. */
  long?: { above: number; times: number }
}

/**
 * What Claude Code 2.1.332 charges for a million tokens of each kind (`costBasis: "list"`), measured by answering it with
 * such usage. Haiku 5.5 was cheap at 100,000 and five times as dear at 200,000 tokens of prompt; in between the higher
 * price is taken, since these numbers only serve as a bound.
 */
const prices: Readonly<Record<string, Price>> = {
  'claude-sonnet-5-5': { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, cacheWriteHour: 4 },
  'claude-opus-5-5': { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5, cacheWriteHour: 8 },
  'claude-haiku-5-5': {
    input: 0.1,
    output: 0.5,
    cacheRead: 0.01,
    cacheWrite: 0.125,
    cacheWriteHour: 0.2,
    long: { above: 100_000, times: 5 },
  },
  'claude-sonnet-4-5': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75, cacheWriteHour: 6 },
  'claude-opus-4-5': { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25, cacheWriteHour: 10 },
}

/** US dollars for one reply, or null when the model's price is not known. A date behind the model's name is ignored. */
export function costOf(model: string, tokens: Tokens): number | null {
  const price = prices[model.replace(/-\d{8}$/, '').replace(/\[1m\]$/, '')]
  if (price === undefined) return null
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite
  const times = price.long !== undefined && prompt > price.long.above ? price.long.times : 1
  const hour = Math.min(tokens.cacheWriteHour, tokens.cacheWrite)
  const millionths =
    tokens.input * price.input +
    tokens.output * price.output +
    tokens.cacheRead * price.cacheRead +
    (tokens.cacheWrite - hour) * price.cacheWrite +
    hour * price.cacheWriteHour
  return (millionths * times) / 1_000_000
}
