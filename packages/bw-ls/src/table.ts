/** The listing as text for a terminal. Pure: records and the time in, lines out. What a builder wrote is masked and escaped. */
import { showAge, showColumns, showSize } from '@buildwave/runs'
import { safeText } from '@buildwave/secrets'
import type { Leftover, Overview, Standing } from './list.ts'

/** One line a run, and one below it for each attempt that nobody has collected. */
export function runTable(runs: readonly Overview[], now: number): string[] {
  const age = (at: string | null) => (at === null ? '-' : showAge(now - Date.parse(at)))
  const [titles, ...lines] = showColumns(
    ['run', 'state', 'age', 'changed', 'size', 'merged', 'uncollected'],
    runs.map((run) => [
      run.run,
      run.stages.length === 0 ? run.state : `${run.state} (${run.stages.join(', ')})`,
      age(run.startedAt),
      age(run.changedAt),
      showSize(run.bytes),
      `${run.merged}/${run.items}`,
      run.uncollected === null ? '?' : String(run.uncollected.length),
    ]),
  )
  if (titles === undefined) return []
  return [titles, ...lines.flatMap((line, n) => [line, ...below(runs[n])])]
}

function below(run: Overview | undefined): string[] {
  if (run === undefined) return []
  const problem = run.problem === null ? [] : [`  ${safeText(run.problem)}`]
  const left = run.uncollected ?? []
  return [...problem, ...left.map(({ item, attempt, reason }) => safeText(`  ${item}, attempt ${attempt}: ${reason}`))]
}

export function itemTable(items: readonly Standing[]): string[] {
  return showColumns(
    ['item', 'try', 'state', 'what'],
    items.map(({ item, attempt, state, title, message, uncollected }) => [
      item,
      attempt === null ? '' : String(attempt),
      state,
      safeText(
        [title, message, ...(uncollected === null ? [] : [`uncollected: ${uncollected}`])].filter(Boolean).join(' · '),
      ),
    ]),
  )
}

export function leftoverLines(found: readonly Leftover[]): string[] {
  const here = found.filter(({ folder }) => folder === 'this')
  const others = found.filter(({ folder }) => folder === 'another')
  const held = ({ containers, volumes, running }: Leftover) =>
    `${containers} containers (${running} builders at work), ${volumes} volumes`
  const sum = (of: (each: Leftover) => number) => others.reduce((total, each) => total + of(each), 0)
  return [
    ...(here.length === 0 ? [] : ['on the engine, without a run folder:']),
    ...here.map((each) => `  ${each.run}: ${held(each)}${each.expired ? ', expired' : ''}`),
    ...(others.length === 0
      ? []
      : [
          `on the engine, of other state folders of yours or of none: ${sum(({ containers }) => containers)} containers, ${sum(({ volumes }) => volumes)} volumes`,
        ]),
  ]
}
