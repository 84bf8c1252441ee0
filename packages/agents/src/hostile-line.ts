/** Reading of values that a builder wrote: each function gives something usable for any input and never throws. */

export type Fields = Readonly<Record<string, unknown>>

/** No event of a known agent is near this; a longer line is noise, and is not parsed. */
const longestLine = 16 * 1024 * 1024

/** The line's JSON object, or null when it is anything else. */
export function readObject(line: string): Fields | null {
  if (line.length > longestLine || !/^\s*\{/.test(line)) return null
  try {
    return asFields(JSON.parse(line))
  } catch {
    return null
  }
}

export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The string, cut to `max` characters without leaving half a surrogate pair; '' for what is not a string. */
export function asText(value: unknown, max = 2000): string {
  if (typeof value !== 'string') return ''
  return value.length <= max ? value.toWellFormed() : `${value.slice(0, max - 1).toWellFormed()}…`
}

/** A count of things; 0 for what cannot be one. */
export function asCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

/** An amount, or null for what cannot be one. */
export function asAmount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
}

/** Epoch seconds as ISO 8601 UTC, or null when they are no point in time that can be written so. */
export function asInstant(value: unknown): string | null {
  const seconds = asAmount(value)
  return seconds === null || seconds === 0 || seconds > 253_402_300_799 ? null : new Date(seconds * 1000).toISOString()
}
