import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitHelp, schemas } from '@buildwave/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { jsonSchemaOf } from '../packages/bw-schema/src/schema.ts'
import {
  brokenLinks,
  callTool,
  commandsIn,
  examplesOf,
  flagsOf,
  helpOf,
  helpSection,
  readDocument,
  type Surroundings,
  surroundings,
  toolNames,
  unknownCommands,
} from './support/documents.ts'
import { section, sections, tableRows } from './support/markdown.ts'
import { root } from './support/pipeline.ts'
import { fieldsOf, objectFields, type Shape } from './support/schema-text.ts'
import { isTest, readWorkspace, scope } from './support/workspace.ts'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'packages/README.md',
  'packages/core/README.md',
  'examples/mathkit/README.md',
]
const pipelines = readdirSync(join(root, 'examples', 'pipelines')).map((name) => `examples/pipelines/${name}`)
const tools = toolNames()
const helps = new Map<string, string>()
let around: Surroundings

beforeAll(() => {
  for (const tool of tools) helps.set(tool, helpOf(tool))
  around = surroundings(helps)
})

describe('the protocol document', () => {
  const protocol = readDocument('packages/core/README.md').text
  const kinds = sections(protocol).flatMap(({ title, text }) => {
    const kind = /^`([a-z]+)`$/.exec(title)?.[1]
    return kind === undefined ? [] : [{ kind, text }]
  })
  const envelope = ['kind', 'v', 'run', 'item', 'attempt', 'attempt?']
  const fieldRows = (text: string) => {
    const table = /^\| field +\|[\s\S]*?\n\n/m.exec(`${text}\n\n`)?.[0] ?? ''
    return tableRows(table).map(([name, type]) => [name, type])
  }

  it('has the kinds of the schemas, in their order', () => {
    expect(kinds.map(({ kind }) => kind)).toEqual(Object.keys(schemas))
  })

  it('has the fields of each kind with their types', () => {
    for (const { kind, text } of kinds) {
      const own = fieldsOf(kind).filter(([name]) => !envelope.includes(name))
      expect([kind, fieldRows(text)]).toEqual([kind, own])
    }
  })

  it('says of each kind whether it is about the run, an item or an attempt', () => {
    const about = (kind: string) => {
      const names = fieldsOf(kind).map(([name]) => name)
      if (names.includes('attempt')) return 'About an attempt.'
      if (names.includes('attempt?')) return 'About an item, and an attempt where there was one.'
      return names.includes('item') ? 'About an item.' : 'About the run.'
    }
    for (const { kind, text } of kinds) expect([kind, text.trimStart().startsWith(about(kind))]).toEqual([kind, true])
  })

  it('has the fields of the types that several kinds share', () => {
    const { result, changes } = (jsonSchemaOf('verification') as Shape).properties ?? {}
    const { limits } = (jsonSchemaOf('run') as Shape).properties ?? {}
    for (const [title, shape] of [
      ['TestRun', result],
      ['TestChanges', changes],
      ['Limits', limits],
    ] as const) {
      expect(fieldRows(section(protocol, title))).toEqual(objectFields(shape ?? {}))
    }
  })

  it('has the exit statuses of the help', () => {
    expect(
      tableRows(section(protocol, 'Exit status')).map(([status, meaning]) => `${status?.padEnd(4)} ${meaning}`),
    ).toEqual(exitHelp)
  })
})

describe('the protocol document and the sources', () => {
  const protocol = readDocument('packages/core/README.md').text
  const sources = readWorkspace(root).packages.flatMap(({ files }) =>
    files.filter((file) => !isTest(file)).map(({ text }) => text),
  )
  const found = (pattern: RegExp) =>
    [...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name)))].sort()

  it('have the same kinds', () => {
    const others = tableRows(section(protocol, 'Lines that no stream has')).map(([kind = '']) => kind)
    const known = [...Object.keys(schemas), ...others]
    expect(found(/\bkind: '([a-z]+)',\s*v: 1\b/g).filter((kind) => !known.includes(kind))).toEqual([])
  })

  it('have the same intents', () => {
    const table =
      section(protocol, 'The journal')
        .split('\n\n')
        .find((part) => /^\| action/.test(part)) ?? ''
    expect(
      tableRows(table)
        .map(([action]) => action)
        .sort(),
    ).toEqual(found(/\bintend\(\s*'([a-z-]+)'/g))
  })
})

describe('README.md', () => {
  const { text } = readDocument('README.md')

  it('has every tool of bin/ in its table, and no other', () => {
    expect(
      tableRows(section(text, 'Tools'))
        .map(([name]) => name)
        .sort(),
    ).toEqual([...tools].sort())
  })

  it('has the exit statuses of the help', () => {
    const rows = tableRows(section(text, 'Exit status')).map(([status, meaning]) => `${status?.padEnd(4)} ${meaning}`)
    expect(rows).toEqual(exitHelp)
  })

  it('has every key of the two configuration files and every variable of a flag', () => {
    const rows = tableRows(section(text, 'Configuration'))
    const words = new Set(rows.flatMap((cells) => cells.flatMap((cell) => cell.match(/[A-Za-z_]+/g) ?? [])))
    const keys = (name: string) => Object.keys((jsonSchemaOf(name) as Shape).properties ?? {})
    const variables = [...helps.values()].flatMap((help) => [...flagsOf(help).values()].filter((name) => name !== null))
    const wanted = [...keys('config'), ...keys('user-config'), ...variables]
    expect(wanted.filter((name) => !words.has(name))).toEqual([])
  })

  it('names no variable that nothing reads', () => {
    const sources = readWorkspace(root).packages.flatMap(({ files }) => files.map((file) => file.text))
    const launcher = readFileSync(join(root, 'bin', 'launch'), 'utf8')
    const read = [...sources, launcher].join('\n')
    const named = new Set(text.match(/\bBW_[A-Z_]+/g))
    expect([...named].filter((name) => !read.includes(name))).toEqual([])
  })
})

describe('SECURITY.md', () => {
  const rows = tableRows(section(readDocument('SECURITY.md').text, 'Enforced'))

  it('names for each safeguard a file that is there and a test of that title', () => {
    expect(rows.length).toBeGreaterThan(10)
    for (const [what, by = '', shown = ''] of rows) {
      const files = by.split(',').map((path) => path.trim())
      for (const path of files) expect([what, readFileSync(join(root, path), 'utf8') !== '']).toEqual([what, true])
      const [test = '', title = ''] = shown.split(/: (.*)/s)
      expect([what, readFileSync(join(root, test), 'utf8').includes(title)]).toEqual([what, true])
    }
  })
})

describe('CONTRIBUTING.md', () => {
  it('gives a reason for each dependency, and for no other', () => {
    const { packages, rootDevDependencies } = readWorkspace(root)
    const used = [...packages.flatMap(({ dependencies }) => dependencies), ...rootDevDependencies]
    const foreign = [...new Set(used)].filter((name) => !name.startsWith(scope) && !name.startsWith('@types/'))
    const rows = tableRows(section(readDocument('CONTRIBUTING.md').text, 'Dependencies'))
    expect(rows.flatMap(([names = '']) => names.split(', ')).sort()).toEqual(foreign.sort())
  })
})

describe('all documents', () => {
  it('name only commands and flags that are there', () => {
    expect([...pages, ...pipelines].flatMap((path) => unknownCommands(readDocument(path), around))).toEqual([])
  })

  it('would not pass with a wrong command or flag', () => {
    const wrong = (text: string, path = 'a.md') => unknownCommands({ path, text }, around)
    expect(wrong('bw-nothing does it')).toEqual(['a.md: no tool bw-nothing'])
    expect(wrong('```sh\nbw-plan PLAN.md \\\n  --bogus | bw-spawn\n```\n')).toEqual(['a.md: bw-plan has no --bogus'])
    expect(wrong('see `bw-watch --bogus`')).toEqual(['a.md: bw-watch has no --bogus'])
    expect(wrong('see `--bogus`')).toEqual(['a.md: no tool has --bogus'])
    expect(wrong('```sh\nscripts/setup --bogus\n```\n')).toEqual(['a.md: scripts/setup has no --bogus'])
    expect(wrong('```console\n$ bw-plan --bogus\nbw-plan: unknown flag --bogus\n```\n')).toHaveLength(1)
    expect(wrong('\tbw-spawn --bogus < $< | bw-watch > $@\n', 'Makefile')).toEqual([
      'Makefile: bw-spawn has no --bogus',
    ])
    expect(commandsIn('X=1 bw-plan --image "$(bw-image --project .)" | bw-watch')).toEqual([
      { name: 'bw-plan', flags: ['--image'] },
      { name: 'bw-image', flags: ['--project'] },
      { name: 'bw-watch', flags: [] },
    ])
  })

  it('link only to what is there', () => {
    expect(pages.flatMap((path) => brokenLinks(readDocument(path)).map((link) => `${path}: ${link}`))).toEqual([])
    expect(
      brokenLinks({ path: 'README.md', text: '[a](gone.md) [b](#gone) [c](LICENSE) [d](https://example.com)' }),
    ).toEqual(['gone.md', '#gone'])
  })
})

describe.each(tools)('%s --help', (tool) => {
  const help = () => helps.get(tool) ?? ''

  it('has one line, usage, two examples, options, what it reads and writes, and the exit statuses', () => {
    const [first = '', second] = help().split('\n')
    expect(first).toMatch(new RegExp(`^${tool}: [a-z].*[^.]$`))
    expect(second).toBe('')
    expect(helpSection(help(), 'Usage')).toContain(tool)
    expect(examplesOf(help()).length).toBeGreaterThanOrEqual(2)
    expect(helpSection(help(), 'Options')).toContain('--help')
    expect(help()).toMatch(/^Reads: +\S.*\nWrites: \S/m)
    expect(helpSection(help(), 'Exit status').trimEnd().split('\n')).toEqual(exitHelp.map((line) => `  ${line}`))
  })

  it('has a pipeline as the first example of a stage', () => {
    const isStage = flagsOf(help()).has('--again') || tool === 'bw-plan'
    if (isStage) expect(examplesOf(help())[0]).toContain(' | ')
  })

  it('names only tools and flags that are there', () => {
    const shell = [helpSection(help(), 'Usage').replaceAll(/[[\]…]/g, ' '), ...examplesOf(help())].join('\n')
    expect(unknownCommands({ path: tool, text: shell }, around)).toEqual([])
  })

  it('refuses an unknown flag with exit 1, one line and at most one hint', () => {
    const { status, stdout, stderr } = callTool(tool, '--bogus')
    const [message = '', ...hints] = stderr.trimEnd().split('\n')
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(message).toBe(`${tool}: unknown flag '--bogus'`)
    expect(hints.length).toBeLessThanOrEqual(1)
    expect(hints.every((line) => line.startsWith('hint: '))).toBe(true)
  })
})

it('no message sends anybody to a tool that is not there', () => {
  const lines = readWorkspace(root).packages.flatMap(({ name, files }) =>
    files.flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => /\bhint\b/.test(line))
        .map((line) => ({ path: `${name}/${path}`, text: line })),
    ),
  )
  expect(
    lines.flatMap((line) => unknownCommands(line, around).filter((found) => found.includes('no tool bw-'))),
  ).toEqual([])
})
