/**
 * Flags are data: one table a tool feeds parsing, `--help` and the check of README and help against each other. Node's
 * own strict parser reads them, since an unknown flag or a repeated one must never pass in silence.
 */
import { parseArgs } from 'node:util'
import { UserError } from '@buildwave/core'
import type { Io } from './io.ts'

interface FlagBase {
  help: string
  /** What stands for the value in the help, say `DIR`. */
  value?: string
  /** The environment variable that gives the value when the flag is absent. */
  env?: string
  short?: string
  /** Said in the help; the tool itself applies it. */
  byDefault?: string
}
export type Flag = FlagBase & { type: 'boolean' | 'string' | 'strings' | 'count' | 'number' }
export type Flags = Readonly<Record<string, Flag>>

type ValueOf<F extends Flag> = F['type'] extends 'boolean'
  ? boolean
  : F['type'] extends 'strings'
    ? string[]
    : F['type'] extends 'count' | 'number'
      ? number | undefined
      : string | undefined

/** Values by camel-cased name: `--max-parallel` is `maxParallel`. Absent: false, [] or undefined. */
export type FlagValues<T extends Flags> = { [K in keyof T & string as CamelCase<K>]: ValueOf<T[K]> }
type CamelCase<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : S

export interface Parsed<T extends Flags> {
  flags: FlagValues<T>
  args: string[]
}

/** Reads argv, then the environment for what argv left out. Throws UserError `bad-arguments` on anything unknown. */
export function parseFlags<T extends Flags>(io: Pick<Io, 'argv' | 'env'>, flags: T): Parsed<T> {
  const { values, positionals } = parseStrictly(io.argv, flags)
  const out: Record<string, unknown> = {}
  for (const [name, flag] of Object.entries(flags)) {
    const typed = values[name] as string | boolean | string[] | undefined
    const fromEnv = flag.env === undefined ? undefined : io.env[flag.env]
    out[camelCase(name)] = readValue(name, flag, typed, fromEnv === '' ? undefined : fromEnv)
  }
  return { flags: out as FlagValues<T>, args: positionals }
}

function parseStrictly(argv: readonly string[], flags: Flags) {
  const options: Record<string, { type: 'boolean' | 'string'; multiple: boolean; short?: string }> = {}
  for (const [name, flag] of Object.entries(flags)) {
    options[name] = {
      type: flag.type === 'boolean' ? 'boolean' : 'string',
      multiple: flag.type === 'strings',
      ...(flag.short === undefined ? {} : { short: flag.short }),
    }
  }
  try {
    const parsed = parseArgs({ args: [...argv], options, strict: true, allowPositionals: true, tokens: true })
    refuseRepeats(parsed.tokens, flags)
    return parsed
  } catch (error) {
    if (error instanceof UserError) throw error
    throw unknownFlag(error as Error, Object.keys(flags))
  }
}

function refuseRepeats(tokens: readonly { kind: string; name?: string }[], flags: Flags): void {
  const seen = new Set<string>()
  for (const { kind, name } of tokens) {
    if (kind !== 'option' || name === undefined || flags[name]?.type === 'strings') continue
    if (seen.has(name)) throw new UserError('bad-arguments', `'--${name}' is given twice`)
    seen.add(name)
  }
}

function unknownFlag(error: Error, names: string[]): UserError {
  const asked = /'(--?)([^'=\s]+)/.exec(error.message)?.[2]
  if (!/unknown option/i.test(error.message)) {
    const text = error.message.split(/\.\s|\n/)[0] ?? error.message
    return new UserError('bad-arguments', lowerFirst(text.replace(/\.$/, '')), { hint: 'see --help' })
  }
  const near = asked === undefined ? undefined : nearestName(asked, names)
  return new UserError('bad-arguments', `unknown flag '--${asked ?? '?'}'`, {
    hint: near === undefined ? 'see --help' : `did you mean '--${near}'? see --help`,
  })
}

function readValue(
  name: string,
  flag: Flag,
  typed: string | boolean | string[] | undefined,
  fromEnv?: string,
): unknown {
  switch (flag.type) {
    case 'boolean':
      return typed === true || (fromEnv !== undefined && !['0', 'false', 'no'].includes(fromEnv))
    case 'strings':
      return (typed as string[] | undefined) ?? (fromEnv === undefined ? [] : fromEnv.split(':'))
    case 'string':
      return typed ?? fromEnv
    default:
      return readNumber(name, flag, (typed as string | undefined) ?? fromEnv)
  }
}

function readNumber(name: string, flag: Flag, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  const fits = flag.type === 'count' ? Number.isSafeInteger(value) && value > 0 : Number.isFinite(value) && value >= 0
  if (text.trim() === '' || !fits) {
    throw new UserError(
      'bad-arguments',
      `'--${name}' needs ${flag.type === 'count' ? 'a whole number above 0' : 'a number'}, not '${text}'`,
    )
  }
  return value
}

/** The known name closest to `asked`, undefined when none is within a third of its length (at least two edits). */
export function nearestName(asked: string, names: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(asked.length / 3))
  return names
    .map((name) => ({ name, distance: editDistance(asked, name) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)[0]?.name
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
