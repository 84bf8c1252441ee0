/** What the scan is measured on. */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const root = join(import.meta.dirname, '..')
const seed = 20_261_129
export const mebibyte = 1024 * 1024

export interface Sample {
  readonly name: string
  readonly bytes: Buffer
}

export interface Group {
  readonly name: string
  /** The ratio that must hold. */
  readonly target: string
  readonly draw: () => readonly Sample[]
}

/** Content by kind; the logs are made from one seed, all else are files of installed packages. */
export const groups: readonly Group[] = [
  { name: 'source files', target: '1', draw: sourceFiles },
  { name: 'test logs', target: '3', draw: () => [{ name: 'test.log', bytes: testLog(6 * mebibyte) }] },
  { name: 'event streams', target: '3', draw: () => [{ name: 'events.ndjson', bytes: eventStream(6 * mebibyte) }] },
  { name: 'executables', target: '3', draw: executableFiles },
  { name: 'archives of executables', target: '3', draw: () => executableFiles().map(pack) },
  { name: 'archives of sources', target: '', draw: () => sourceFiles().slice(0, 400).map(pack) },
]

function pack({ name, bytes }: Sample): Sample {
  return { name: `${name}.gz`, bytes: gzipSync(bytes) }
}

/** Code, declarations and documents, as people write them and as bundlers make them. */
const sourcePackages = [
  'dockerode',
  'execa',
  'fast-check',
  'micromatch',
  'saxes',
  'typescript',
  'vitest',
  'yaml',
  'zod',
]
const sourceKinds: ReadonlySet<string> = new Set(['.js', '.cjs', '.mjs', '.ts', '.cts', '.mts', '.json', '.md'])

function sourceFiles(): Sample[] {
  return filesOf(sourcePackages, (path) => sourceKinds.has(extname(path)))
}

/** Of esbuild, lightningcss and rolldown for this machine. */
const nativePackages = ['@esbuild+', 'lightningcss-', '@rolldown+binding-']
const nativeFile = /\/(?:esbuild|[\w.-]+\.node)$/

function executableFiles(): Sample[] {
  return filesOf(nativePackages, (path) => nativeFile.test(path))
}

/** Files of the packages in pnpm's store whose names begin so, in order. */
function filesOf(packages: readonly string[], isWanted: (path: string) => boolean): Sample[] {
  const store = join(root, 'node_modules', '.pnpm')
  const folders = readdirSync(store).filter((name) =>
    packages.some((prefix) => name.startsWith(/[-+]$/.test(prefix) ? prefix : `${prefix}@`)),
  )
  return folders
    .flatMap((folder) => filesBelow(join(store, folder)))
    .filter(isWanted)
    .map((path) => ({ name: path, bytes: readFileSync(path) }))
}

/** The files of a folder and those below it, in order; links are not followed. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : []
    })
}

type Random = () => number

/** Numbers in [0, 1) from the seed (mulberry32). */
function seeded(): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

const words =
  'reads writes keeps refuses the a an empty nested item plan patch branch record lease token bucket parser when before after without twice path name line'.split(
    ' ',
  )

/** What pytest, vitest and TAP print: names, times, failures with a trace, now and then in colour. */
export function testLog(size: number): Buffer {
  const random = seeded()
  const below = (limit: number) => Math.floor(random() * limit)
  const some = (count: number, mark: string) =>
    Array.from({ length: count }, () => words[below(words.length)] ?? '').join(mark)
  const makers: readonly (() => string)[] = [
    () => `tests/test_${some(2, '_')}.py::test_${some(4, '_')} PASSED   [ ${below(99)}%]`,
    () =>
      ` \x1b[32m✓\x1b[39m packages/${some(1, '')}/test/${some(1, '')}.test.ts \x1b[2m(${below(40)} tests)\x1b[22m ${below(900)}ms`,
    () => `ok ${below(4000)} - ${some(7, ' ')} # time=${below(900)}ms`,
    () =>
      `2026-11-29T10:${10 + below(50)}:${10 + below(50)}.${100 + below(900)}Z DEBUG ${some(1, '')}: ${some(6, ' ')} id=${hex(random, 12)}`,
    () =>
      `  File "/work/src/${some(2, '_')}.py", line ${below(900)}, in ${some(3, '_')}\n    assert ${some(1, '')} == ${below(99)}`,
    () => `    at ${some(2, '.')} (/work/packages/${some(2, '/')}.ts:${below(900)}:${below(80)})`,
  ]
  return fillUp(size, () => (makers[below(makers.length)] ?? String)())
}

/** What an agent's program writes: one JSON object a line, with commands, file contents and their results inside. */
function eventStream(size: number): Buffer {
  const sources = sourceFiles()
  const random = seeded()
  const below = (limit: number) => Math.floor(random() * limit)
  const excerpt = () => {
    const { bytes = Buffer.alloc(0) } = sources[below(sources.length)] ?? {}
    const from = below(Math.max(1, bytes.length - 3000))
    return bytes.toString('utf8', from, from + 200 + below(2800))
  }
  return fillUp(size, () => {
    const id = `toolu_01${hex(random, 22)}`
    const content =
      below(2) === 0
        ? [
            {
              type: 'tool_use',
              id,
              name: 'Bash',
              input: { command: `rg -n ${words[below(words.length)]} src`, timeout: below(9000) },
            },
          ]
        : [{ type: 'tool_result', tool_use_id: id, content: excerpt() }]
    const usage = { input_tokens: below(9000), cache_read_input_tokens: below(90_000), output_tokens: below(900) }
    return JSON.stringify({
      type: below(2) === 0 ? 'assistant' : 'user',
      message: { id: `msg_01${hex(random, 22)}`, role: 'assistant', content, usage },
      session_id: `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-a${hex(random, 3)}-${hex(random, 12)}`,
    })
  })
}

function hex(random: Random, digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')
}

function fillUp(size: number, line: () => string): Buffer {
  const parts: string[] = []
  for (let length = 0; length < size; length += parts.at(-1)?.length ?? 0) parts.push(`${line()}\n`)
  return Buffer.from(parts.join(''))
}
