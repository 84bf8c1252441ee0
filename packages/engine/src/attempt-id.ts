import { createHash } from 'node:crypto'
import type { ContainerInfo } from 'dockerode'
import type { Engine } from './connect.ts'
import { labels, type Role } from './labels.ts'

export interface AttemptId {
  run: string
  item: string
  attempt: number
}

/**
 * The names of an attempt's containers and volumes, each unique to it: that the engine refuses a name in use is what
 * keeps two processes from starting an attempt twice. Short, since a slug may have 80 characters.
 */
export function attemptNames(engine: Engine, { run, item, attempt }: AttemptId): Record<AttemptRole, string> {
  const hash = createHash('sha256')
    .update(JSON.stringify([engine.owner, engine.state, run, item, attempt]))
    .digest('hex')
  const stem = `bw-${item.slice(0, 40)}-${attempt}-${hash.slice(0, 12)}`
  return { holder: `${stem}-holder`, builder: `${stem}-builder`, upper: `${stem}-upper`, work: `${stem}-work` }
}

export type AttemptRole = Role & ('holder' | 'builder' | 'upper' | 'work')

/** The engine's list filter for what belongs to one attempt of this user. */
export function attemptFilter(engine: Engine, { run, item, attempt }: AttemptId): { label: string[] } {
  return {
    label: [
      `${labels.owner}=${engine.owner}`,
      `${labels.state}=${engine.state}`,
      `${labels.run}=${run}`,
      `${labels.item}=${item}`,
      `${labels.attempt}=${attempt}`,
    ],
  }
}

/** The attempt's holder and builder, as far as they exist. */
export async function attemptContainers(
  engine: Engine,
  id: AttemptId,
): Promise<{ holder: ContainerInfo | undefined; builder: ContainerInfo | undefined }> {
  const all = await engine.docker.listContainers({ all: true, filters: attemptFilter(engine, id) })
  const withRole = (role: Role) => all.find((container) => container.Labels[labels.role] === role)
  return { holder: withRole('holder'), builder: withRole('builder') }
}
