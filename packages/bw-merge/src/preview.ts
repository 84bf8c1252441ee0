/**
 * `--preview`: how each pair of items would meet, without writing anything but objects of no consequence. Items with a patch are
 * merged for real, two at a time; of others only what they own can be compared.
 */
import { compileScope, type ItemRecord, overlapGlobs, type PatchRecord, UserError } from '@buildwave/core'
import type { Ground } from './stack.ts'
import { putOn } from './stack.ts'

/**
 * `clean`: they merge. `conflict`: they do not. `apart`, `overlap`: the same of the globs they own, for items not built yet.
 * `unknown`: one of them says nothing about its files.
 */
export type Meeting = 'clean' | 'conflict' | 'apart' | 'overlap' | 'unknown'

export interface Pair {
  items: [string, string]
  meeting: Meeting
  /** Where they meet: the files in conflict, or a path that both may touch. */
  paths: string[]
}

export interface PreviewInput {
  items: readonly ItemRecord[]
  /** The last patch of each item that has one. */
  patches: ReadonlyMap<string, PatchRecord>
  union: readonly string[]
  /** Null while the run has no repository yet: then nothing was built either. */
  ground: Ground | null
}

/** All pairs in plan order, first item first. */
export async function previewPairs(input: PreviewInput): Promise<Pair[]> {
  const items = input.items.filter(({ done }) => !done)
  const pairs: Pair[] = []
  for (const [n, first] of items.entries()) {
    for (const second of items.slice(n + 1)) {
      pairs.push({ items: [first.item, second.item], ...(await meet(input, first, second)) })
    }
  }
  return pairs
}

async function meet(input: PreviewInput, first: ItemRecord, second: ItemRecord): Promise<Omit<Pair, 'items'>> {
  const [one, two] = [input.patches.get(first.item), input.patches.get(second.item)]
  if (one?.commit && two?.commit && input.ground !== null) return meetPatches(input.ground, one, two, second.title)
  return meetGlobs(first, second, input.union)
}

async function meetPatches(
  ground: Ground,
  one: PatchRecord,
  two: PatchRecord,
  title: string,
): Promise<Omit<Pair, 'items'>> {
  if (!mayMeet(one, two) || one.commit === null || two.commit === null) return { meeting: 'clean', paths: [] }
  const { item, attempt, start: base, commit: theirs, at: date } = two
  try {
    const { commit, conflicts } = await putOn(ground, [one.start, one.commit], {
      item,
      attempt,
      base,
      theirs,
      title,
      date,
    })
    return { meeting: commit === null ? 'conflict' : 'clean', paths: conflicts.map(({ path }) => path) }
  } catch (error) {
    if (!(error instanceof UserError) || error.status !== 4) throw error
    return { meeting: 'unknown', paths: [] }
  }
}

/** Changes of different files cannot meet; one that makes a file where the other makes a folder can. */
function mayMeet(one: PatchRecord, two: PatchRecord): boolean {
  const paths = new Set(one.files.map(({ path }) => path))
  const folders = new Set(one.files.flatMap(({ path }) => foldersOf(path)))
  return two.files.some(
    ({ path }) => paths.has(path) || folders.has(path) || foldersOf(path).some((each) => paths.has(each)),
  )
}

function foldersOf(path: string): string[] {
  const names = path.split('/')
  return names.slice(1).map((_, n) => names.slice(0, n + 1).join('/'))
}

function meetGlobs(first: ItemRecord, second: ItemRecord, union: readonly string[]): Omit<Pair, 'items'> {
  if (first.owns.length === 0 || second.owns.length === 0) return { meeting: 'unknown', paths: [] }
  const isShared = compileScope(union)
  const witnesses = first.owns.flatMap((glob) =>
    second.owns.flatMap((other) => overlapGlobs(glob, other)?.witness ?? []),
  )
  const paths = [...new Set(witnesses)].filter((path) => !isShared(path))
  return { meeting: paths.length === 0 ? 'apart' : 'overlap', paths }
}

const signs: Record<Meeting, string> = { clean: '·', apart: '·', conflict: 'x', overlap: '~', unknown: '?' }

/** The pairs as a table item × item, and below it what is behind each sign that is not a dot. */
export function previewTable(items: readonly ItemRecord[], pairs: readonly Pair[]): string {
  const names = items.filter(({ done }) => !done).map(({ item }) => item)
  const width = Math.max(...names.map((name) => name.length), 1)
  const column = String(names.length).length + 1
  const found = new Map(
    pairs.flatMap(
      ({ items: [a, b], meeting }) =>
        [
          [`${a} ${b}`, meeting],
          [`${b} ${a}`, meeting],
        ] as const,
    ),
  )
  const number = (n: number) => String(n + 1).padStart(column)
  const rows = names.map((name, n) => {
    const cells = names.map((other) =>
      (other === name ? '-' : signs[found.get(`${name} ${other}`) ?? 'unknown']).padStart(column),
    )
    return `${number(n)}  ${name.padEnd(width)} ${cells.join('')}`
  })
  const head = `${' '.repeat(column + 2 + width + 1)}${names.map((_, n) => number(n)).join('')}`
  const notes = pairs.filter(({ meeting }) => signs[meeting] !== '·').map(describe)
  return [head, ...rows, ...(notes.length > 0 ? ['', ...notes] : [])].map((line) => `${line.trimEnd()}\n`).join('')
}

function describe({ items: [first, second], meeting, paths }: Pair): string {
  const where = paths.slice(0, 3).join(', ') + (paths.length > 3 ? ` and ${paths.length - 3} more` : '')
  const what = {
    conflict: `conflict in ${where}`,
    overlap: `both own ${where}`,
    unknown: 'not known which files',
    clean: '',
    apart: '',
  }
  return `${signs[meeting]} ${first}, ${second}: ${what[meeting]}`
}
