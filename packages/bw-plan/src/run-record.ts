import { createHash } from 'node:crypto'
import { type RunRecord, slugify, UserError } from '@buildwave/core'
import { defaultLimits, type UserConfig } from '@buildwave/store'
import type { PlanFile } from './plan-file.ts'
import type { Repository } from './repository.ts'
import { detectTestCommand, type TestCommand } from './test-command.ts'

export interface RunSettings {
  run: string | undefined
  test: string | undefined
  image: string | undefined
  shared: readonly string[]
  maxParallel: number
  /** The format has its items run one after the other. */
  sequential: boolean
}

/** The run record: what holds for all items. Flags come before the project's configuration, that before the user's. */
export async function makeRunRecord(
  plan: PlanFile,
  repository: Repository,
  { settings, user }: { settings: RunSettings; user: UserConfig },
): Promise<RunRecord> {
  const { config } = repository
  const { test, testFrom } = await findTestCommand(repository, settings.test)
  return {
    kind: 'run',
    v: 1,
    run: await checkedRunId(settings.run ?? runId(plan, repository.base), repository),
    repo: repository.top,
    base: repository.base,
    branch: repository.branch,
    identity: repository.identity,
    test,
    testFrom,
    setup: null,
    image: settings.image ?? config.image ?? user.image ?? 'buildwave/base',
    shared: sharedGlobs(settings.shared, repository),
    limits: { ...defaultLimits, ...defined(user.limits), ...defined(config.limits) },
    plan: plan.name,
    planDigest: sha256(plan.bytes),
    maxParallel: settings.maxParallel,
    ...(settings.sequential ? { sequential: true } : {}),
    ...(config.junit === undefined ? {} : { junit: config.junit }),
  }
}

/** Shared globs of the command line and of the project, each once. */
export function sharedGlobs(flags: readonly string[], { config }: Pick<Repository, 'config'>): string[] {
  return [...new Set([...(config.shared ?? []), ...flags])]
}

/** A slug of the plan's name and 8 hex digits over plan, base and chosen items: the same command line is the same run. */
function runId({ name, bytes, chosen }: PlanFile, base: string): string {
  const file = name === '-' ? 'plan' : name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  const digest = createHash('sha256')
    .update(bytes)
    .update(`\0${base}\0${chosen.join('\0')}`)
    .digest('hex')
  const slug = slugify(file.replace(/\.[^.]*$/, ''))
    .slice(0, 60)
    .replace(/[^a-z0-9]+$/, '')
  return `${slug}-${digest.slice(0, 8)}`
}

async function checkedRunId(id: string, repository: Repository): Promise<string> {
  if (slugify(id) !== id) {
    throw new UserError('bad-run-id', `'${id}' cannot name a run`, {
      hint: `a run id has a-z, 0-9, dot, dash and underscore, say '${slugify(id)}'`,
    })
  }
  const [conflict] = await repository.conflicts(id)
  if (conflict === undefined) return id
  throw new UserError('ref-conflict', `'${conflict}' stands in the way of 'refs/heads/builders/${id}'`, {
    hint: 'rename that branch; the result of a run is a branch below builders/',
  })
}

async function findTestCommand(repository: Repository, flag: string | undefined): Promise<TestCommand> {
  if (flag !== undefined) return { test: flag, testFrom: 'flag' }
  const configured = repository.config.test
  if (configured !== undefined) return { test: configured, testFrom: 'config' }
  const found = await detectTestCommand(repository)
  if (found !== null) return found
  throw new UserError('no-test-command', `cannot tell how '${repository.top}' is tested`, {
    hint: `pass --test CMD, or set "test" in .claude/buildwave.json and commit it`,
  })
}

/** Drops the names that are present but undefined. */
function defined<T extends object>(values: T | undefined): { [K in keyof T]: Exclude<T[K], undefined> } {
  const present = Object.entries(values ?? {}).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [K in keyof T]: Exclude<T[K], undefined> }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
