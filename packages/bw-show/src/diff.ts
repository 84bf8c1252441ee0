import { maskText, printableLines } from '@buildwave/secrets'

/** A patch that is safe to print: secrets masked first, then control characters escaped. For reading, not for applying. */
export function safeDiff(diff: string): string {
  return printableLines(maskText(diff))
}

const colours = { head: '1', hunk: '36', added: '32', removed: '31' } as const

/**
 * Colours a patch as git does. What a line is goes by its place, since an added line may itself begin with `diff --git`: inside of a
 * hunk its first character decides, and only a line that no hunk can hold ends one.
 */
export function colourDiff(diff: string): string {
  let inHunk = false
  return diff
    .split('\n')
    .map((line) => {
      const mark = line[0]
      if (mark === '@') inHunk = true
      else if (mark !== '+' && mark !== '-' && mark !== ' ' && mark !== '\\') inHunk = false
      const kind = mark === '@' ? 'hunk' : !inHunk ? 'head' : mark === '+' ? 'added' : mark === '-' ? 'removed' : null
      return kind === null || line === '' ? line : `\u001b[${colours[kind]}m${line}\u001b[0m`
    })
    .join('\n')
}
