/** Lines without the indentation they share (the first line's own), trailing blank lines dropped. */
export function dedent(lines: readonly string[]): string {
  const filled = lines.slice(1).filter((line) => line.trim() !== '')
  const shared = filled.reduce((least, line) => Math.min(least, leading(line)), Number.MAX_SAFE_INTEGER)
  return [(lines[0] ?? '').trimStart(), ...lines.slice(1).map((line) => line.slice(Math.min(shared, leading(line))))]
    .join('\n')
    .trimEnd()
}

function leading(line: string): number {
  return line.length - line.trimStart().length
}
