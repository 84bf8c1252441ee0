import { Readable } from 'node:stream'
import { UserError } from '@buildwave/core'
import { stopAttempt } from './attempt.ts'
import { type AttemptId, attemptContainers, attemptNames } from './attempt-id.ts'
import { volumeAt } from './confinement.ts'
import type { Engine } from './connect.ts'
import { holderImage } from './image.ts'
import type { StartLayer } from './layer.ts'
import { ProgramFailure, runOnce } from './one-shot.ts'
import { program } from './program.ts'
import { builderGid } from './uid.ts'
import { volumeLabels } from './volume.ts'

export interface CollectRequest extends AttemptId {
  layer: StartLayer
}

export interface CollectedTree {
  /** The tree oid of the builder's working tree: tracked and new files, ignored ones left out. */
  tree: string
  /**
   * A self-contained pack of the objects that the start commit does not have; null when there are none. Untrusted: check
   * it with fsck. It must be read to its end or destroyed; a collector that fails half-way makes it end with an error.
   */
  pack: Readable | null
}

/**
 * Makes the git tree of what an ended builder left in `/work`, in a fresh container with no network, a git directory and
 * configuration of our own, and nothing of the builder's `.git`. Throws UserError `nested-repository` (names them),
 * `uncollectable` (git cannot hold something), `attempt-gone`, or plain Error while the builder still runs.
 */
export async function collectTree(engine: Engine, request: CollectRequest): Promise<CollectedTree> {
  await makeSureItEnded(engine, request)
  const chunks = await startCollector(engine, request)
  try {
    const { line, rest } = await firstLine(chunks, packHeadBytes)
    const tree = line.replace(/^tree /, '')
    if (rest.readUInt32BE(packCountAt) > 0)
      return { tree, pack: Readable.from(joined(rest, chunks), { objectMode: false }) }
    for await (const _ of joined(rest, chunks));
    return { tree, pack: null }
  } catch (error) {
    await chunks.return(undefined)
    throw error instanceof ProgramFailure ? refusal(error, request) : error
  }
}

/** A pack starts with `PACK`, a version and the number of its objects, 4 bytes each (gitformat-pack). */
const packHeadBytes = 12
const packCountAt = 8

/** A live builder, or a process that one left behind, could change `/work` between two reads. */
async function makeSureItEnded(engine: Engine, id: AttemptId): Promise<void> {
  const { builder } = await attemptContainers(engine, id)
  if (builder?.State === 'running') throw new Error(`attempt ${id.attempt} at '${id.item}' still runs`)
  await stopAttempt(engine, id)
  // The engine makes a volume that is missing: an empty one would be collected as if everything had been deleted.
  if ((await volumeLabels(engine, attemptNames(engine, id).work)) === null) {
    throw new UserError('attempt-gone', `the work of attempt ${id.attempt} at '${id.item}' is no longer on the engine`)
  }
}

function startCollector(engine: Engine, { run, item, attempt, layer }: CollectRequest): ReturnType<typeof runOnce> {
  return runOnce(engine, {
    identity: { role: 'collector', stage: 'bw-collect', run, item, attempt },
    image: holderImage(),
    argv: program('collect', layer.start),
    user: `${layer.uid}:${builderGid()}`,
    host: {
      // New objects are written below /scratch: on disk, since they can be larger than memory.
      ReadonlyRootfs: false,
      Mounts: [
        volumeAt(attemptNames(engine, { run, item, attempt }).work, '/work', false),
        ...layer.volumes.map(({ name, target }) => volumeAt(name, target, true)),
      ],
    },
    ttlSeconds: collectSeconds,
  })
}

/** Far beyond what the largest tree takes; a collector that runs this long is stuck. */
const collectSeconds = 1800

function refusal({ exit, stderr }: ProgramFailure, { item, attempt }: AttemptId): UserError {
  if (exit === nestedRepositories) {
    const names = stderr.split('\0').filter((name) => name !== '')
    return new UserError(
      'nested-repository',
      `attempt ${attempt} at '${item}' left repositories inside the work: ${names.map((name) => `'${name}'`).join(', ')}`,
      { hint: 'only their files could be delivered: let the builder remove their .git, or ignore them' },
    )
  }
  return new UserError('uncollectable', `git cannot hold what attempt ${attempt} at '${item}' left: ${stderr.trim()}`)
}

const nestedRepositories = 3

/** The first line, without its LF, and at least `more` bytes after it. */
async function firstLine(chunks: AsyncIterator<Buffer>, more: number): Promise<{ line: string; rest: Buffer }> {
  let read = Buffer.alloc(0)
  for (;;) {
    const end = read.indexOf(0x0a)
    if (end >= 0 && read.length > end + more)
      return { line: read.toString('utf8', 0, end), rest: read.subarray(end + 1) }
    const { done, value } = await chunks.next()
    if (done) throw new Error('the collector ended without a pack')
    read = Buffer.concat([read, value])
  }
}

/** `first` and then the others. Giving up ends the others too, even before anything was read. */
function joined(first: Buffer, others: AsyncGenerator<Buffer>): AsyncIterableIterator<Buffer> {
  let isFirst = true
  const iterator: AsyncIterableIterator<Buffer> = {
    [Symbol.asyncIterator]: () => iterator,
    next: async () => {
      if (!isFirst) return others.next()
      isFirst = false
      return { done: false, value: first }
    },
    return: () => others.return(undefined),
  }
  return iterator
}
