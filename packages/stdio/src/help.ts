import { exitHelp } from '@buildwave/core'
import type { Flag, Flags } from './flags.ts'

export interface HelpText {
  name: string
  summary: string
  usage: readonly string[]
  /** `[command, what it does]`, a real pipeline first. */
  examples: readonly (readonly [string, string])[]
  flags: Flags
  reads: string
  writes: string
}

/** The text of `--help`: one line, usage, examples, options, what is read and written, exit status. */
export function renderHelp(tool: HelpText): string {
  const flags = Object.entries(tool.flags).map(([name, flag]) => [flagName(name, flag), flagHelp(flag)] as const)
  const width = Math.max(...flags.map(([name]) => name.length), 0)
  return [
    `${tool.name}: ${tool.summary}`,
    '',
    'Usage:',
    ...tool.usage.map((line) => `  ${line}`),
    '',
    'Examples:',
    ...tool.examples.flatMap(([command, what]) => [`  ${command}`, `      ${what}`]),
    '',
    'Options:',
    ...flags.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`),
    '',
    `Reads:  ${tool.reads}`,
    `Writes: ${tool.writes}`,
    '',
    'Exit status:',
    ...exitHelp.map((line) => `  ${line}`),
    '',
  ].join('\n')
}

function flagName(name: string, flag: Flag): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `
  const value =
    flag.type === 'boolean' ? '' : ` ${flag.value ?? (flag.type === 'count' || flag.type === 'number' ? 'N' : 'TEXT')}`
  return `${short}--${name}${value}${flag.type === 'strings' ? '…' : ''}`
}

function flagHelp(flag: Flag): string {
  const facts = [flag.byDefault === undefined ? '' : `default ${flag.byDefault}`, flag.env ?? ''].filter(
    (fact) => fact !== '',
  )
  return facts.length === 0 ? flag.help : `${flag.help} (${facts.join('; ')})`
}
