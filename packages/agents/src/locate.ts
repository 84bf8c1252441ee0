import { constants } from 'node:fs'
import { access, open, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { UserError } from '@buildwave/core'
import type { LocateOptions } from './agent.ts'

export interface Search {
  /** The program's name, for messages and PATH. */
  program: string
  /** Where its own installer puts it, from HOME. */
  native: readonly string[]
  /** Where the npm platform package keeps the program; its name may depend on the machine. */
  npm: { packages: readonly string[]; path: string }
  /** How a user gets it. */
  hint: string
}

/**
 * The program on this host: `--agent-bin`, the native installer's place, PATH, then the npm platform package; the path with
 * links resolved. Throws UserError `agent-not-found` when it is nowhere, `agent-unusable` when the one that was named, or
 * the only ones that were found, cannot run in a builder.
 */
export async function locateBinary(search: Search, options: LocateOptions): Promise<string> {
  const named = options.settings.agentBin
  const candidates = named === null ? await listCandidates(search, options) : [named]
  let refusal: UserError | null = null
  for (const path of candidates) {
    const found = await inspect(path, search, options)
    if (typeof found === 'string') return found
    refusal ??= found
  }
  if (refusal !== null) throw refusal
  const message = named === null ? `cannot find '${search.program}'` : `cannot find '${named}'`
  throw new UserError('agent-not-found', message, { hint: search.hint })
}

async function listCandidates(search: Search, { env }: LocateOptions): Promise<string[]> {
  const home = env['HOME']
  const native = home === undefined ? [] : search.native.map((path) => join(home, path))
  const onPath = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))
  const roots = [
    import.meta.url,
    ...onPath.map((folder) => join(folder, '..', 'lib', 'node_modules', 'x')),
    ...(home === undefined ? [] : [join(home, 'node_modules', 'x')]),
  ]
  const npm = roots.flatMap((root) => search.npm.packages.map((name) => packageFile(root, name, search.npm.path)))
  return [...native, ...onPath.map((folder) => join(folder, search.program)), ...npm.filter((path) => path !== null)]
}

/** A file of an npm package as Node would find it from `root`, or null. */
function packageFile(root: string, name: string, path: string): string | null {
  try {
    return join(createRequire(root).resolve(`${name}/package.json`), '..', path)
  } catch {
    return null
  }
}

/** The program's real path, a refusal when it exists but cannot run in a builder, or null when there is nothing. */
async function inspect(path: string, search: Search, { guard }: LocateOptions): Promise<string | UserError | null> {
  guard(path)
  const real = await realpath(path).catch(() => null)
  if (real === null) return null
  guard(real)
  const isProgram = await access(real, constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isProgram) return refuse(path, 'it is not executable', search)
  const start = await readStart(real)
  if (start.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1'))) return real
  if (/^#!.*\bnode\b/.test(start.toString('latin1'))) {
    return refuse(path, 'it is a Node script, and a builder has no Node to run it', search)
  }
  return refuse(path, 'it is not a Linux program', search)
}

function refuse(path: string, reason: string, { hint }: Search): UserError {
  return new UserError('agent-unusable', `cannot use '${path}': ${reason}`, { hint })
}

async function readStart(path: string): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(128), 0, 128, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
