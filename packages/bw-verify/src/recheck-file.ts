import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type ExitStatus, exit, UserError } from '@buildwave/core'
import { connect } from '@buildwave/engine'
import type { Io, Messages } from '@buildwave/stdio'
import { protectedPrefixes, readUserConfig, refuseProtected } from '@buildwave/store'
import { readEvidence } from './evidence.ts'
import { recheck } from './recheck.ts'
import { losses } from './say-verdict.ts'

/** Checks an evidence file against a repository and says on stderr what it found; gives the exit status. */
export async function recheckFile(
  { io, say }: { io: Io; say: Messages },
  { file, repo }: { file: string; repo: string },
): Promise<ExitStatus> {
  const prefixes = protectedPrefixes(readUserConfig(io.env).protectedPaths ?? [], io.env)
  for (const [path, what] of [[file, 'evidence file'] as const, [repo, 'repository'] as const])
    refuseProtected(path, what, { cwd: io.cwd, prefixes })
  const evidence = readEvidence(await readText(resolve(io.cwd, file)))
  const stop = new AbortController()
  const forget = io.onSignal((signal) => stop.abort(signal))
  try {
    const changes = await recheck(evidence, { repo: resolve(io.cwd, repo), engine: connect, signal: stop.signal })
    const { oid, ref } = evidence.repository
    if (changes.verdict === 'worse') say.error(`'${ref}' is red here: ${losses(changes)}`)
    else say.note(`'${ref}' at ${oid.slice(0, 10)} is what was verified, and its tests say so here too`)
    return changes.verdict === 'worse' ? exit.problem : exit.ok
  } catch (error) {
    if (!stop.signal.aborted) throw error
    return stop.signal.reason === 'SIGTERM' ? exit.terminated : exit.interrupted
  } finally {
    forget()
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new UserError('cannot-read-file', `cannot read '${path}'`, { cause })
  }
}
