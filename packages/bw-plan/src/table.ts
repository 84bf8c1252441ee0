/** The waves for a person's eyes: who runs beside whom, who owns what, and why nobody is earlier. */
import type { RunRecord } from '@buildwave/core'
import type { PlannedItem } from './plan.ts'

/** Lines of at most `width` columns where the plan allows it. */
export function planTable(run: RunRecord, items: readonly PlannedItem[], width: number): string[] {
  const open = items.filter(({ wave }) => wave !== null)
  const done = items.filter((item) => item.done)
  const idWidth = Math.min(14, Math.max(2, ...items.map(({ id }) => id.length)))
  const titleWidth = Math.max(20, Math.min(60, Math.floor((width - idWidth) / 2) - 4))
  const lines = [
    `${run.run} on ${run.base.slice(0, 10)}${run.branch === null ? '' : ` (${run.branch})`}, tests: ${run.test}`,
  ]
  for (const [wave, members] of Map.groupBy(open, (item) => item.wave ?? 0)) {
    lines.push('', `wave ${wave}`)
    for (const item of members) {
      const owns = item.owns.length === 0 ? 'names no file' : item.owns.join(', ')
      const bug = item.type === 'bugfix' ? ' [bug]' : ''
      lines.push(`  ${item.id.padEnd(idWidth)}  ${fit(item.title + bug, titleWidth)}  ${owns}`.trimEnd())
      const why = reasons(item, items)
      if (why !== '') lines.push(`  ${''.padEnd(idWidth)}    ${why}`)
    }
  }
  if (done.length > 0) lines.push('', `done: ${done.map(({ id }) => id).join(', ')}`)
  return lines
}

function reasons({ waitsFor }: PlannedItem, items: readonly PlannedItem[]): string {
  const idOf = new Map(items.map(({ item, id }) => [item, id]))
  const told = waitsFor.slice(-4).map(({ item, reason, witness }) => {
    const detail = reason === 'file' ? `file ${witness ?? ''}` : reason
    return `${idOf.get(item) ?? item} (${detail})`
  })
  const more = waitsFor.length - told.length
  return told.length === 0 ? '' : `waits for ${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function fit(text: string, width: number): string {
  const chars = [...text]
  return chars.length > width ? `${chars.slice(0, width - 1).join('')}…` : text + ' '.repeat(width - chars.length)
}
