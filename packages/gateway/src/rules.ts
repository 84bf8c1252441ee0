/** Whose API a builder's agent speaks. */
export type Api = 'anthropic' | 'openai'

/** Upper bounds; null for none. Tokens are input, output and cache writes; what is read from a cache is not counted. */
export interface Bounds {
  tokens: number | null
  usd: number | null
  turns: number | null
}
