/** The scan without a run: a patch on stdin, a range of commits, or files. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type ExitStatus, exit, UserError } from '@buildwave/core'
import { inspectSource, newContent, readFileAt, resolveCommit } from '@buildwave/git'
import { maskText, printable, safeText } from '@buildwave/secrets'
import { type AnyRecord, type Io, recordWriter } from '@buildwave/stdio'
import { protectedPrefixes, readUserConfig, refuseProtected } from '@buildwave/store'
import { allowFileName, layGround, type ScanFlags } from './ground.ts'
import { type Surface, type Tally, tallySurfaces } from './tally.ts'

/** What to look at: exactly one of the three. */
export type Target =
  | { readonly kind: 'patch'; readonly path: string }
  | { readonly kind: 'range'; readonly from: string; readonly to: string }
  | { readonly kind: 'files'; readonly paths: readonly string[] }

/** Throws UserError `bad-arguments` when more than one is asked for; undefined when none is. */
export function readTarget(
  patch: string | undefined,
  range: string | undefined,
  paths: readonly string[],
): Target | undefined {
  const asked = [patch !== undefined, range !== undefined, paths.length > 0].filter(Boolean).length
  if (asked === 0) return undefined
  if (asked > 1) {
    throw new UserError('bad-arguments', "'--patch', '--range' and files exclude each other", { hint: 'see --help' })
  }
  if (patch !== undefined) return { kind: 'patch', path: patch }
  if (range === undefined) return { kind: 'files', paths }
  const [, from, to] = /^(.+?)\.\.([^.].*)?$/.exec(range) ?? []
  if (from === undefined) {
    throw new UserError('bad-arguments', `'${printable(range)}' is not a range`, { hint: 'write A..B, say main..HEAD' })
  }
  return { kind: 'range', from, to: to ?? 'HEAD' }
}

/** Scans and writes the same `finding` and `scan` objects as the stage does, without run and item. */
export async function scanAlone(io: Io, flags: ScanFlags & { json: boolean }, target: Target): Promise<ExitStatus> {
  const { surfaces, allows } = await openTarget(io, target)
  const tally = await tallySurfaces(surfaces, layGround(io, flags, allows))
  const writer = recordWriter(io.stdout, io.stdout.isTTY === true && !flags.json ? asText : undefined)
  const at = new Date().toISOString()
  for (const { preExisting: _, ...finding } of tally.findings)
    await writer.write({ kind: 'finding', v: 1, at, ...finding })
  await writer.write({
    kind: 'scan',
    v: 1,
    at,
    verdict: tally.verdict,
    findings: tally.findings.length,
    incomplete: tally.incomplete,
    bytes: tally.bytes,
  })
  await writer.drained()
  return statusOf(tally)
}

function statusOf({ verdict }: Tally): ExitStatus {
  return verdict === 'clean' ? exit.ok : exit.problem
}

interface Opened {
  readonly surfaces: AsyncIterable<Surface>
  /** The project's allow file, where there is a commit to trust it at. */
  readonly allows: Buffer | null
}

async function openTarget(io: Io, target: Target): Promise<Opened> {
  if (target.kind === 'range') return openRange(io, target)
  return {
    surfaces: target.kind === 'patch' ? patchSurface(io, target.path) : fileSurfaces(io, target.paths),
    allows: null,
  }
}

async function openRange(io: Io, range: { from: string; to: string }): Promise<Opened> {
  const repo = await inspectSource(io.cwd)
  const from = await resolveCommit(repo, range.from)
  const to = await resolveCommit(repo, range.to)
  async function* surfaces(): AsyncGenerator<Surface> {
    for await (const { kind, path, content, commit } of newContent(repo, from, to)) {
      yield { surface: kind === 'commit' ? 'message' : kind, file: path, content, commit }
    }
  }
  return { surfaces: surfaces(), allows: await readFileAt(repo, from, allowFileName) }
}

async function* patchSurface(io: Io, path: string): AsyncGenerator<Surface> {
  if (path !== '-') {
    yield { surface: 'patch', file: path, content: await openFile(io, path) }
    return
  }
  if (io.stdin.isTTY === true) {
    throw new UserError('no-input', 'no patch on stdin', { hint: 'git diff --binary | bw-scan --patch -' })
  }
  yield { surface: 'patch', file: '-', content: io.stdin }
}

async function* fileSurfaces(io: Io, paths: readonly string[]): AsyncGenerator<Surface> {
  for (const path of paths) {
    const content = await openFile(io, path)
    yield { surface: 'path', file: path, content: Buffer.from(path) }
    yield { surface: 'file', file: path, content }
  }
}

/** Opens before anything is read, so that a wrong name is an error and never a clean file. */
async function openFile(io: Io, path: string): Promise<AsyncIterable<Uint8Array>> {
  const prefixes = protectedPrefixes(readUserConfig(io.env).protectedPaths ?? [], io.env)
  refuseProtected(path, 'file', { cwd: io.cwd, prefixes })
  const found = await stat(resolve(io.cwd, path)).catch((cause: NodeJS.ErrnoException) => {
    throw new UserError('cannot-read-file', `cannot read '${safeText(path)}': ${cause.code ?? ''}`, { cause })
  })
  if (found.isDirectory()) {
    throw new UserError('is-a-folder', `'${safeText(path)}' is a folder`, {
      hint: 'git ls-files -z | xargs -0 bw-scan scans a whole project',
    })
  }
  return createReadStream(resolve(io.cwd, path))
}

function asText(record: AnyRecord): string {
  return safe(record.kind === 'finding' ? findingText(record) : scanText(record))
}

function findingText(record: AnyRecord): string {
  const { file, line, rule, masked, via, fingerprint, allowed } = record
  const place = line === null ? String(file) : `${String(file)}:${String(line)}`
  const path = Array.isArray(via) && via.length > 0 ? ` through ${via.join(', ')}` : ''
  return `${place}: ${allowed === true ? 'allowed ' : ''}${String(rule)} ${String(masked)}${path}  ${String(fingerprint)}`
}

function scanText(record: AnyRecord): string {
  const gaps = Array.isArray(record['incomplete']) ? (record['incomplete'] as { file: string; reason: string }[]) : []
  const shown = gaps.map(({ file, reason }) => `${file} (${reason})`).join(', ')
  return `${String(record['verdict'])}: ${String(record['findings'])} findings${gaps.length > 0 ? `; not looked into: ${shown}` : ''}`
}

function safe(text: string): string {
  return printable(maskText(text))
}
