/** The two configuration files. Unknown keys are errors with the nearest name, so that a typing mistake never passes. */
import { readFileSync } from 'node:fs'
import { UserError } from '@buildwave/core'
import * as z from 'zod'
import { type Env, userConfigPath } from './paths.ts'

const limits = z.strictObject({
  memoryMiB: z.int().positive().optional(),
  pids: z.int().positive().optional(),
  cpus: z.number().positive().optional(),
  minutes: z.number().positive().optional(),
  testMinutes: z.number().positive().optional(),
  tmpMiB: z.int().positive().optional(),
  homeMiB: z.int().positive().optional(),
  workMiB: z.int().positive().optional(),
  outMiB: z.int().positive().optional(),
})

/** `.claude/buildwave.json` at the base commit: what the project knows about itself. */
export const repoConfigSchema = z.strictObject({
  test: z.string().min(1).optional(),
  junit: z.string().min(1).optional(),
  shared: z.array(z.string().min(1)).optional(),
  owns: z.record(z.string(), z.array(z.string().min(1))).optional(),
  image: z.string().min(1).optional(),
  limits: limits.optional(),
})
export type RepoConfig = z.infer<typeof repoConfigSchema>

/** The user's own file: what this person wants on this machine. */
export const userConfigSchema = z.strictObject({
  protectedPaths: z.array(z.string().min(1)).optional(),
  maxParallel: z.int().positive().optional(),
  agent: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  image: z.string().min(1).optional(),
  tokenFile: z.string().min(1).optional(),
  agentBin: z.string().min(1).optional(),
  limits: limits.optional(),
})
export type UserConfig = z.infer<typeof userConfigSchema>

/** What holds when neither flag, environment nor file says otherwise. */
export const defaultLimits = {
  memoryMiB: 4096,
  pids: 512,
  cpus: 2,
  minutes: 60,
  testMinutes: 15,
  tmpMiB: 1024,
  homeMiB: 512,
  workMiB: 8192,
  outMiB: 64,
} as const

/** Where a project keeps its configuration, in the tree of the base commit. */
export const repoConfigPath = '.claude/buildwave.json'

/** Reads the bytes of the project's configuration; null (no such file) gives an empty one. */
export function parseRepoConfig(bytes: Uint8Array | null): RepoConfig {
  return bytes === null ? {} : parseConfig(Buffer.from(bytes).toString('utf8'), repoConfigSchema, repoConfigPath)
}

/** Reads the user's configuration file; a missing one is an empty one. */
export function readUserConfig(env: Env): UserConfig {
  const path = userConfigPath(env)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new UserError('bad-config', `cannot read '${path}'`, { cause })
  }
  return parseConfig(text, userConfigSchema, path)
}

function parseConfig<T>(text: string, schema: z.ZodType<T>, path: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new UserError('bad-config', `'${path}' is not JSON: ${(cause as Error).message}`, { cause })
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at '${issue.path.join('.')}'`
  throw new UserError('bad-config', `'${path}'${where}: ${issue?.message.toLowerCase() ?? 'not a configuration'}`, {
    hint: 'bw-schema config shows every key',
  })
}
