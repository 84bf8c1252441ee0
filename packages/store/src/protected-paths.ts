/**
 * Paths that must never be touched, not even by a stat: the check is on the text of the path alone. Entries are absolute
 * prefixes that match whole components; `/mnt//data/` is `/mnt/data`. An entry that is itself a symbolic link does not
 * cover its target, since finding the target would touch it.
 */
import { isAbsolute, normalize, resolve } from 'node:path'
import { UserError } from '@buildwave/core'

/** Refuses `path` (made absolute against `cwd`) when it lies under a protected prefix. Makes no system call on it. */
export function refuseProtected(
  path: string,
  what: string,
  { cwd, prefixes }: { cwd: string; prefixes: readonly string[] },
): void {
  const asked = resolve(cwd, path)
  const hit = prefixes
    .map(normalisePrefix)
    .find((prefix) => prefix === '/' || asked === prefix || asked.startsWith(`${prefix}/`))
  if (hit !== undefined) {
    throw new UserError('protected-path', `the ${what} '${asked}' is under the protected path '${hit}'`, {
      hint: 'protectedPaths in the user configuration and BW_PROTECTED_PATHS name what must never be touched',
    })
  }
}

/** The prefixes of the user's configuration and of `BW_PROTECTED_PATHS` (separated by colons), normalised. */
export function protectedPrefixes(
  configured: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const fromEnv = (env['BW_PROTECTED_PATHS'] ?? '').split(':').filter((entry) => entry !== '')
  return [...configured, ...fromEnv].map(normalisePrefix)
}

function normalisePrefix(prefix: string): string {
  if (!isAbsolute(prefix)) throw new UserError('bad-config', `protected path '${prefix}' is not absolute`)
  const clean = normalize(prefix)
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean
}
