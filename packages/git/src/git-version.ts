import { UserError } from '@buildwave/core'
import { gitLine } from './call.ts'

/** `merge-tree --write-tree` came with 2.38. */
const oldest = [2, 38] as const

let asked: Promise<readonly [number, number]> | undefined

/** The version of git as [major, minor], asked once. Throws UserError `git-missing` or `git-too-old`. */
export function requireGit(): Promise<readonly [number, number]> {
  asked ??= askGit()
  return asked
}

async function askGit(): Promise<readonly [number, number]> {
  const line = await gitLine(null, ['version'])
  const version = parseGitVersion(line)
  if (!isAtLeast(version, oldest)) {
    throw new UserError('git-too-old', `git is too old: '${line}'`, { hint: 'install git 2.38 or newer' })
  }
  return version
}

/** [major, minor] of what `git version` prints; [0, 0] when it prints something else. */
export function parseGitVersion(line: string): readonly [number, number] {
  const [, major = '0', minor = '0'] = /^git version (\d+)\.(\d+)/.exec(line) ?? []
  return [Number(major), Number(minor)]
}

export function isAtLeast(version: readonly [number, number], wanted: readonly [number, number]): boolean {
  return version[0] !== wanted[0] ? version[0] > wanted[0] : version[1] >= wanted[1]
}
