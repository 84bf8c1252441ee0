/**
 * What each item and the whole run have used, kept against bounds. Bounds hold before a request is passed on: what a reply
 * will use is known only afterwards, so a bound can be overrun by the replies that are under way, and by no more.
 */
import { costOf } from './prices.ts'
import type { Bounds } from './rules.ts'
import { noTokens, type Tokens } from './usage.ts'

export interface Used {
  turns: number
  tokens: Tokens
  /** US dollars of the replies whose model has a known price. */
  usd: number
  /** True when some reply's price is not known: `usd` is then too low. */
  unpriced: boolean
}

export interface Spend {
  item: string
  tokens: Tokens
  model: string | null
}

export interface Ledger {
  /** The bound that is met, in words, or null when another request may go. */
  refusal(item: string): string | null
  /** Counts a turn as begun; call the returned function when its request came to nothing. */
  begin(item: string, turn: boolean): () => void
  /** Says `unpriced` for the first reply of a model whose price is not known: no bound on money holds for it. */
  add(spend: Spend): 'counted' | 'unpriced'
  /** A new lease may come with other bounds; what is used stays used. */
  setBounds(bounds: { item: Bounds; run: Bounds }): void
  items(): ReadonlyMap<string, Used>
}

/** Names are the API's, but an upstream of the user's may make up any number of them. */
const mostModels = 100

export function openLedger(given: { item: Bounds; run: Bounds }): Ledger {
  let bounds = given
  const items = new Map<string, Used>()
  const run = newUsed()
  const unpriced = new Set<string>()

  function usedBy(item: string): Used {
    const used = items.get(item) ?? newUsed()
    items.set(item, used)
    return used
  }

  return {
    refusal: (item) => met(usedBy(item), bounds.item, 'this item') ?? met(run, bounds.run, 'the run'),
    begin(item, turn) {
      const counts = turn ? [usedBy(item), run] : []
      for (const used of counts) used.turns += 1
      return () => {
        for (const used of counts) used.turns -= 1
      }
    },
    add({ item, tokens, model }) {
      const cost = model === null ? null : costOf(model, tokens)
      for (const used of [usedBy(item), run]) charge(used, tokens, cost)
      const name = model ?? 'unknown'
      if (cost !== null || countable(tokens) === 0 || unpriced.has(name)) return 'counted'
      if (unpriced.size < mostModels) unpriced.add(name)
      return 'unpriced'
    },
    setBounds(next) {
      bounds = next
    },
    items: () => items,
  }
}

function newUsed(): Used {
  return { turns: 0, tokens: noTokens, usd: 0, unpriced: false }
}

function charge(used: Used, tokens: Tokens, cost: number | null): void {
  used.tokens = {
    input: used.tokens.input + tokens.input,
    output: used.tokens.output + tokens.output,
    cacheRead: used.tokens.cacheRead + tokens.cacheRead,
    cacheWrite: used.tokens.cacheWrite + tokens.cacheWrite,
    cacheWriteHour: used.tokens.cacheWriteHour + tokens.cacheWriteHour,
  }
  if (cost !== null) used.usd += cost
  else if (countable(tokens) > 0) used.unpriced = true
}

function met(used: Used, bounds: Bounds, whose: string): string | null {
  if (bounds.turns !== null && used.turns >= bounds.turns) return `the ${bounds.turns} turns of ${whose} are used up`
  if (bounds.tokens !== null && countable(used.tokens) >= bounds.tokens) {
    return `the ${bounds.tokens} tokens of ${whose} are used up`
  }
  if (bounds.usd !== null && used.usd >= bounds.usd) return `the ${bounds.usd} US dollars of ${whose} are used up`
  return null
}

function countable(tokens: Tokens): number {
  return tokens.input + tokens.output + tokens.cacheWrite
}
