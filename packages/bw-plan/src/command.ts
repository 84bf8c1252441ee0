import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { type ExitStatus, emptyTree, exit, type RunRecord, UserError } from '@buildwave/core'
import { maskText, printable } from '@buildwave/secrets'
import { type AnyRecord, type Call, type commonFlags, recordWriter } from '@buildwave/stdio'
import { protectedPrefixes, readUserConfig, refuseProtected, type UserConfig } from '@buildwave/store'
import { readCorrections, refuseBadGlob } from './corrections.ts'
import type { planFlags } from './flags.ts'
import { readSavedPlan } from './from-records.ts'
import { itemRecord } from './item-records.ts'
import { maskPlan } from './mask-plan.ts'
import { type Planned, type PlanOptions, planCorrected, planItems } from './plan.ts'
import { type Guard, openInput, type PlanFile, readPlanFile } from './plan-file.ts'
import { formats } from './read/plan-item.ts'
import { readPlan } from './read/read-plan.ts'
import { type Repository, readRepository } from './repository.ts'
import { makeRunRecord, sharedGlobs } from './run-record.ts'
import { planTable } from './table.ts'

type PlanCall = Call<typeof planFlags & typeof commonFlags>

export async function planCommand(call: PlanCall): Promise<ExitStatus> {
  const { flags, args, io } = call
  const user = readUserConfig(io.env)
  const prefixes = protectedPrefixes(user.protectedPaths ?? [], io.env)
  const guard = (path: string, what: string) => refuseProtected(path, what, { cwd: io.cwd, prefixes })
  guard(flags.repo ?? '.', 'repository')
  for (const glob of flags.shared) refuseBadGlob(glob, 'shared')
  if (flags.from !== undefined) return placeAnew(call, { user, from: flags.from, guard })
  const plan = await readPlanFile(args, io, guard)
  return flags.lint ? lint(call, { user, plan }) : planFile(call, { user, plan })
}

async function planFile(call: PlanCall, { user, plan }: { user: UserConfig; plan: PlanFile }): Promise<ExitStatus> {
  const repository = await readRepository(resolve(call.io.cwd, call.flags.repo ?? '.'), call.flags.base ?? 'HEAD')
  const options = planOptions(call, { user, repository, chosen: plan.chosen })
  const planned = planFrom(plan, call, options)
  if (!report(call, plan.name, planned)) return exit.failed
  const settings = { ...call.flags, maxParallel: options.maxParallel, sequential: planned.sequential }
  const run = await makeRunRecord(plan, repository, { settings, user })
  sayFacts(call, run)
  return write(call, run, planned)
}

/** Works outside of a repository too; then no name can be looked up among tracked files. */
async function lint(call: PlanCall, { user, plan }: { user: UserConfig; plan: PlanFile }): Promise<ExitStatus> {
  const folder = resolve(call.io.cwd, call.flags.repo ?? '.')
  const repository = await readRepository(folder, call.flags.base ?? 'HEAD').catch((error: unknown) => {
    if (error instanceof UserError && call.flags.repo === undefined) return null
    throw error
  })
  const planned = planFrom(plan, call, planOptions(call, { user, repository, chosen: plan.chosen }))
  return report(call, plan.name, planned) ? exit.ok : exit.failed
}

function planFrom(plan: PlanFile, { flags }: PlanCall, options: PlanOptions): Planned {
  const format = flags.format === undefined ? {} : { format: oneOf('format', flags.format, formats) }
  return planItems(maskPlan(readPlan(plan, { ...format, tree: options.tree ?? emptyTree })), options)
}

interface Context {
  user: UserConfig
  repository: Repository | null
  chosen: readonly string[]
}

function planOptions({ flags }: PlanCall, { user, repository, chosen }: Context): PlanOptions {
  const config = repository?.config ?? {}
  return {
    maxParallel: maxParallel({ flags }, user),
    chosen,
    corrections: readCorrections(flags, config.owns),
    unknown: flags.unknown === undefined ? 'alone' : oneOf('unknown', flags.unknown, ['alone', 'parallel', 'error']),
    phases: !flags.noPhases,
    trustMarkers: flags.trustMarkers,
    skipOptional: flags.skipOptional,
    shared: sharedGlobs(flags.shared, { config }),
    tree: repository?.tree ?? emptyTree,
  }
}

interface Saved {
  user: UserConfig
  from: string
  guard: Guard
}

function maxParallel({ flags }: Pick<PlanCall, 'flags'>, user: UserConfig): number {
  return flags.maxParallel ?? user.maxParallel ?? 3
}

/** `--from`: the records say all that the plan said; a run record among them stays as it is. */
async function placeAnew(call: PlanCall, { user, from, guard }: Saved): Promise<ExitStatus> {
  const { flags, io } = call
  if (call.args.length > 0) throw new UserError('bad-arguments', `'--from' takes no plan: '${call.args[0]}'`)
  if (from !== '-') guard(from, 'item records')
  const input = from === '-' ? (io.stdin as Readable) : await openInput(resolve(io.cwd, from), from)
  const saved = await readSavedPlan(input)
  const folder = saved.run?.repo ?? resolve(io.cwd, flags.repo ?? '.')
  guard(folder, 'repository')
  const repository = await readRepository(folder, saved.run?.base ?? flags.base ?? 'HEAD')
  const planned = planCorrected(saved.items, {
    options: {
      ...planOptions(call, { user, repository, chosen: [] }),
      // The records have taken up what the configuration says of owners, and may say better.
      corrections: readCorrections(flags),
      shared: [...new Set([...(saved.run?.shared ?? repository.config.shared ?? []), ...flags.shared])],
    },
    groups: new Map(),
    sequential: saved.run?.['sequential'] === true,
    diagnostics: [],
  })
  if (!report(call, from, planned)) return exit.failed
  const bytes = Buffer.from(JSON.stringify(saved.items))
  const settings = { ...flags, maxParallel: maxParallel(call, user), sequential: false }
  const run = saved.run ?? (await makeRunRecord({ name: from, bytes, chosen: [] }, repository, { settings, user }))
  sayFacts(call, run)
  const shared = [...new Set([...run.shared, ...flags.shared])]
  return write(call, { ...run, shared }, planned)
}

/** Tells every diagnostic as `file:line: level: text`; false when one is an error. */
function report({ io }: PlanCall, name: string, { diagnostics }: Planned): boolean {
  for (const { level, line, text } of diagnostics) {
    io.stderr.write(`${printable(maskText(`${name}:${line}: ${level}: ${text}`))}\n`)
  }
  return !diagnostics.some(({ level }) => level === 'error')
}

function sayFacts({ say }: PlanCall, run: RunRecord): void {
  if (run.testFrom !== 'flag' && run.testFrom !== 'config') {
    say.note(`tests run with '${run.test}', since there is '${run.testFrom}' (--test CMD says otherwise)`)
  }
  if (run.identity === null)
    say.warn(`'${run.repo}' has no git identity; set user.name and user.email before anything is built`)
}

async function write({ flags, io, tool }: PlanCall, run: RunRecord, { items, waves }: Planned): Promise<ExitStatus> {
  const writer = recordWriter(io.stdout)
  if (io.stdout.isTTY === true && !flags.json) {
    const lines = planTable(run, items, io.stdout.columns || 100)
    io.stdout.write(`${lines.map((line) => printable(maskText(line))).join('\n')}\n`)
  } else {
    const records: AnyRecord[] = [run, ...items.map((item) => itemRecord(run.run, item))]
    const counts = { items: items.length, done: items.filter(({ done }) => done).length, waves }
    records.push({ kind: 'end', v: 1, run: run.run, stage: tool, complete: true, counts })
    for (const record of records) if (!(await writer.write(record))) return exit.failed
  }
  await writer.drained()
  return exit.ok
}

function oneOf<T extends string>(flag: string, value: string, names: readonly T[]): T {
  const found = names.find((name) => name === value)
  if (found !== undefined) return found
  throw new UserError('bad-arguments', `'--${flag}' is one of ${names.join(', ')}, not '${value}'`)
}
