/** Sizes, ages and columns for people. Pure. */

/** `0 B`, `12 kB`, `3.4 MB`, decimal. */
export function showSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const at = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** at
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${units[at]}`
}

/** `12 s`, `5 min`, `3 h`, `9 d`: whole units of the largest that fits. */
export function showAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

/** Rows as aligned lines under their titles; the last column is as wide as it is. No rows, no lines. */
export function showColumns(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const all = [titles, ...rows]
  const widths = titles.map((_, n) => Math.max(...all.map((cells) => [...(cells[n] ?? '')].length)))
  return all.map((cells) =>
    cells
      .map((cell, n) => cell + ' '.repeat(Math.max(0, (widths[n] ?? 0) - [...cell].length)))
      .join('  ')
      .trimEnd(),
  )
}
