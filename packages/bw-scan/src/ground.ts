/** What a scan needs besides what it looks at: the allow list, the key of fingerprints, the run's own credential. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UserError } from '@buildwave/core'
import { type AllowEntry, parseAllowList, printable } from '@buildwave/secrets'
import type { Io } from '@buildwave/stdio'
import { protectedPrefixes, readUserConfig, refuseProtected, userConfigPath } from '@buildwave/store'

export interface ScanFlags {
  readonly allowFile: string | undefined
  readonly allowIncomplete: readonly string[]
  readonly keyFile: string | undefined
  readonly tokenFile: string | undefined
}

export interface Ground {
  readonly key: Uint8Array
  readonly allow: readonly AllowEntry[]
  readonly allowIncomplete: readonly string[]
  /** Credentials sought by value. */
  readonly exact: readonly string[]
}

/** The name of the allow file in a project, read at its base commit. */
export const allowFileName = '.bwscanignore'

/**
 * @param projectAllows the project's allow file at the base commit, null when there is none
 * @throws UserError `cannot-read-file`, `protected-path`, `bad-allow-file`
 */
export function layGround(io: Io, flags: ScanFlags, projectAllows: Buffer | null): Ground {
  const config = readUserConfig(io.env)
  const prefixes = protectedPrefixes(config.protectedPaths ?? [], io.env)
  const folder = dirname(userConfigPath(io.env))
  const guard = (path: string, what: string): string => {
    refuseProtected(path, what, { cwd: io.cwd, prefixes })
    return path
  }
  const today = new Date().toISOString().slice(0, 10)
  const ownAllows = flags.allowFile === undefined ? null : readFile(guard(flags.allowFile, 'allow file'))
  const tokenFile = flags.tokenFile ?? config.tokenFile
  const token =
    tokenFile === undefined
      ? readIfThere(guard(join(folder, 'token'), 'token file'))
      : readFile(guard(tokenFile, 'token file'))
  return {
    key: readKey(guard(flags.keyFile ?? join(folder, 'scan.key'), 'key file')),
    allow: [
      ...parseAllowList(projectAllows?.toString('utf8') ?? '', allowFileName, today),
      ...parseAllowList(ownAllows?.toString('utf8') ?? '', printable(flags.allowFile ?? ''), today),
    ],
    allowIncomplete: flags.allowIncomplete,
    exact:
      token === null
        ? []
        : token
            .toString('utf8')
            .split(/\s+/)
            .filter((word) => word.length >= 16),
  }
}

/** True when a person let pass that this could not be opened: by the whole reason, or by its part before the colon. */
export function isIncompleteAllowed(reason: string, allowed: readonly string[]): boolean {
  return allowed.includes(reason) || allowed.includes(reason.split(':')[0] ?? '')
}

/** The key of fingerprints, made at its first use and kept, so that an allow file stays good. */
function readKey(path: string): Uint8Array {
  const known = readIfThere(path)
  if (known !== null) return checkKey(path, known)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unreadable(path, cause)
  }
  return checkKey(path, readFile(path))
}

function checkKey(path: string, content: Buffer): Uint8Array {
  const text = content.toString('utf8').trim()
  if (text.length >= 32) return Buffer.from(text)
  throw new UserError('bad-key-file', `'${path}' is too short for a key`, { hint: 'remove it: a new one is made' })
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw unreadable(path, cause)
  }
}

function unreadable(path: string, cause: unknown): UserError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
  return new UserError('cannot-read-file', `cannot use '${printable(path)}': ${code}`, { cause })
}
