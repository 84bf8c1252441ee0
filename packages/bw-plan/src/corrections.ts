/** The flags that correct a plan: `ITEM=VALUE`. */
import { globProblem, UserError } from '@buildwave/core'
import type { Correction } from './choose.ts'

interface Flags {
  owns: readonly string[]
  after: readonly string[]
  type: readonly string[]
}

/** Reads the flags; what the project's configuration says of ownership counts where no flag does. */
export function readCorrections(
  flags: Flags,
  configured: Readonly<Record<string, readonly string[]>> = {},
): Correction {
  const owns = pairs('owns', flags.owns)
  for (const glob of [...owns.values()].flat()) refuseBadGlob(glob, 'owns')
  const types = pairs('type', flags.type)
  return {
    configured: new Map(Object.entries(configured)),
    owns,
    after: pairs('after', flags.after),
    type: new Map([...types].map(([item, values]) => [item, readType(item, values)])),
  }
}

/** Throws UserError `bad-arguments` for a glob that cannot be compared. */
export function refuseBadGlob(glob: string, flag: string): void {
  const problem = globProblem(glob.replace(/^!/, ''))
  if (problem !== null) throw new UserError('bad-arguments', `'--${flag}': '${glob.slice(0, 80)}' ${problem}`)
}

function pairs(flag: string, values: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const value of values) {
    const [, item, list] = /^([^=]+)=(.*)$/s.exec(value) ?? []
    if (item === undefined || list === undefined) {
      throw new UserError('bad-arguments', `'--${flag}' needs ITEM=VALUE, not '${value}'`)
    }
    found.set(item, [...(found.get(item) ?? []), ...splitList(list)])
  }
  return found
}

/** Commas inside braces belong to the glob. */
function splitList(list: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const char of list) {
    if (char === '{') depth++
    if (char === '}') depth--
    if (char === ',' && depth <= 0) parts.push('')
    else parts.push(`${parts.pop() ?? ''}${char}`)
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function readType(item: string, values: readonly string[]): 'feature' | 'bugfix' {
  const [type] = values
  if (values.length === 1 && (type === 'feature' || type === 'bugfix')) return type
  throw new UserError('bad-arguments', `'--type' of '${item}' is feature or bugfix, not '${values.join(',')}'`)
}
