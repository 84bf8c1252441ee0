import { createHash } from 'node:crypto'

/**
 * The key of a piece of work: 16 hex digits of sha256 over its parts as JSON with sorted names. Work with the same key is
 * the same work, so its result is passed on instead of being made again.
 */
export function workKey(...parts: unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map(sorted)))
    .digest('hex')
    .slice(0, 16)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  )
}
