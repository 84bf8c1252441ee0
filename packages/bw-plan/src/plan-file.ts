/** The plan's bytes, from a file or stdin. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { UserError } from '@buildwave/core'
import type { Io } from '@buildwave/stdio'

export interface PlanFile {
  /** As given; `-` for stdin. */
  name: string
  bytes: Uint8Array
  /** Ids or slugs; none means all. */
  chosen: readonly string[]
}

/** Throws for a path that must not be touched. */
export type Guard = (path: string, what: string) => void

/** A longer plan is none. */
const maxPlanBytes = 16 * 1024 * 1024

/** Reads the plan that the arguments name. Throws UserError `no-plan` or `plan-too-large`. */
export async function readPlanFile(
  args: readonly string[],
  io: Pick<Io, 'cwd' | 'stdin'>,
  guard: Guard,
): Promise<PlanFile> {
  const [name, ...chosen] = args
  if (name === undefined) {
    throw new UserError('no-plan', 'no plan is named', { hint: 'bw-plan PLAN.md, or bw-plan - to read it from stdin' })
  }
  if (name === '-') return { name, bytes: await readAll(io.stdin), chosen }
  guard(name, 'plan')
  const path = resolve(io.cwd, name)
  return { name, bytes: await readAll(await openInput(path, name)), chosen }
}

/** Opens a file to read from. Throws UserError `no-plan` when there is none. */
export async function openInput(path: string, name: string): Promise<Readable> {
  const found = await stat(path).catch(() => null)
  if (found === null)
    throw new UserError('no-plan', `cannot open '${name}'`, { hint: 'name an existing file, or - for stdin' })
  if (found.isDirectory()) throw new UserError('no-plan', `'${name}' is a folder`, { hint: 'name the plan inside it' })
  return createReadStream(path)
}

async function readAll(input: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk as Uint8Array | string)
    size += bytes.length
    if (size > maxPlanBytes) throw new UserError('plan-too-large', `the plan is longer than ${maxPlanBytes} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}
