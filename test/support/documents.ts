/** What documents say about commands, as data to hold against what the tools say. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { anchor, codeSpans, fences, localLinks, sections } from './markdown.ts'
import { root } from './pipeline.ts'

export interface Document {
  path: string
  text: string
}

export function readDocument(path: string): Document {
  return { path, text: readFileSync(join(root, path), 'utf8') }
}

/** Every tool that `bin/` has. */
export function toolNames(): string[] {
  return readdirSync(join(root, 'bin')).filter((name) => name.startsWith('bw-'))
}

const mainOf = (tool: string) => join(root, 'packages', tool, 'src', 'main.ts')

/** A tool's `--help`; empty when the tool does not start. */
export function helpOf(tool: string): string {
  return callTool(tool, '--help').stdout
}

/** Calls a tool's source, so that a stale build says nothing. */
export function callTool(tool: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [mainOf(tool), ...args], { encoding: 'utf8', input: '' })
}

/** The text below one heading of a help, `Examples` say. */
export function helpSection(help: string, title: string): string {
  const after = help.split(`\n${title}:\n`)[1] ?? ''
  return after.split(/\n\n/)[0] ?? ''
}

/** Flags by name, with the environment variable that stands for each. */
export function flagsOf(help: string): Map<string, string | null> {
  const lines = helpSection(help, 'Options').split('\n')
  return new Map(
    lines.flatMap((line) => {
      const name = /^ {2}(?:-\w, )?(--[a-z-]+)/.exec(line)?.[1]
      return name === undefined ? [] : [[name, /\b(BW_[A-Z_]+)\)$/.exec(line)?.[1] ?? null] as const]
    }),
  )
}

/** The commands of an example, one a pair of lines. */
export function examplesOf(help: string): string[] {
  return helpSection(help, 'Examples')
    .split('\n')
    .filter((line) => /^ {2}\S/.test(line))
    .map((line) => line.trim())
}

export interface Command {
  /** `bw-plan`, or a script such as `scripts/demo`. */
  name: string
  flags: string[]
}

/** The calls of our tools and scripts in shell text. */
export function commandsIn(shell: string): Command[] {
  const joined = shell.replaceAll(/\\\n/g, ' ').replaceAll(/(\|)\s*\n/g, '$1 ')
  return joined.split(/\n|\|\||&&|[|;()]/).flatMap((part) => {
    const words = part
      .replace(/^[\s$@"]+|^.*\$\($/g, '')
      .split(/\s+/)
      .filter((word) => !/^[A-Za-z_]+=/.test(word))
    const [name = ''] = words
    if (!/^(bw-[a-z]+|scripts\/[a-z-]+)$/.test(name)) return []
    // What follows --command is a word of another program.
    const own = words.filter((_, index) => words[index - 1] !== '--command')
    return [{ name, flags: own.flatMap((word) => /^(--[a-z][a-z-]*)/.exec(word)?.[1] ?? []) }]
  })
}

/** The shell text of a document: all of a script, the code of a Markdown page. */
export function shellOf({ path, text }: Document): string {
  if (!path.endsWith('.md')) return text.replaceAll(/^\s*#.*$/gm, '')
  const typed = fences(text, ['console']).map((block) => block.replaceAll(/^(?!\$ ).*$/gm, ''))
  return [...fences(text, ['sh', '']), ...typed, ...codeSpans(text)].join('\n')
}

/** Flags that a page names without a tool. */
export function loneFlags({ text }: Document): string[] {
  return codeSpans(text).flatMap((code) => /^(--[a-z][a-z-]*)/.exec(code)?.[1] ?? [])
}

export interface Surroundings {
  /** Flags by tool or script. */
  flags: ReadonlyMap<string, ReadonlySet<string>>
}

/** One line for each command or flag that a document names and that is not there. */
export function unknownCommands(document: Document, { flags }: Surroundings): string[] {
  const said = (what: string) => `${document.path}: ${what}`
  const anywhere = new Set([...flags.values()].flatMap((names) => [...names]))
  return [
    ...[...document.text.matchAll(/(?<![\w/.])bw-[a-z]+\b(?![-/.]\w)/g)].flatMap(([name]) =>
      flags.has(name) ? [] : [said(`no tool ${name}`)],
    ),
    ...commandsIn(shellOf(document)).flatMap(({ name, flags: used }) => {
      const known = flags.get(name)
      if (known === undefined) return [said(`no command ${name}`)]
      return used.filter((flag) => !known.has(flag)).map((flag) => said(`${name} has no ${flag}`))
    }),
    ...loneFlags(document).flatMap((flag) => (anywhere.has(flag) ? [] : [said(`no tool has ${flag}`)])),
  ]
}

/** What the tools, by their helps, and the scripts really take. */
export function surroundings(helps: ReadonlyMap<string, string>): Surroundings {
  const tools = [...helps].map(([tool, help]) => [tool, new Set(flagsOf(help).keys())] as const)
  const scripts = readdirSync(join(root, 'scripts')).map((name) => {
    const text = readFileSync(join(root, 'scripts', name), 'utf8')
    return [`scripts/${name}`, new Set(['--help', ...(text.match(/(?<=^ +| )--[a-z-]+(?=\))/gm) ?? [])])] as const
  })
  return { flags: new Map([...tools, ...scripts]) }
}

/** Links to files or headings that are not there. */
export function brokenLinks({ path, text }: Document): string[] {
  return localLinks(text).filter((link) => {
    const [file = '', heading] = link.split('#')
    const target = file === '' ? path : normalize(join(dirname(path), file))
    if (target.startsWith('..') || !existsSync(join(root, target))) return true
    if (heading === undefined) return false
    return !sections(readFileSync(join(root, target), 'utf8')).some(({ title }) => anchor(title) === heading)
  })
}
