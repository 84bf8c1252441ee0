import { type RunRecord, runRecord, UserError } from '@buildwave/core'
import {
  changedFiles,
  commitParents,
  commitTreeOid,
  listCommits,
  type Repo,
  readObjects,
  readRef,
} from '@buildwave/git'

/** What of an evidence file is checked again. */
export interface Evidence {
  run: string
  repository: { base: string; ref: string; oid: string; tree: string }
  test: Pick<RunRecord, 'image' | 'setup' | 'limits'> & { command: string }
  /** In the order of their commits. */
  items: { item: string; title: string | null; commit: string; files: string[] }[]
}

/** Reads the file that `bw-deliver` wrote. Throws UserError `bad-evidence`. */
export function readEvidence(text: string): Evidence {
  try {
    const value = fields(JSON.parse(text))
    const [repository, test] = [fields(value['repository']), fields(value['test'])]
    return {
      run: word(value['run']),
      repository: {
        base: oid(repository['base']),
        ref: word(repository['ref']),
        oid: oid(repository['oid']),
        tree: oid(repository['tree']),
      },
      test: {
        command: word(test['command']),
        image: word(test['image']),
        setup: runRecord.shape.setup.parse(test['setup']),
        limits: runRecord.shape.limits.parse(test['limits']),
      },
      items: list(value['items']).map((item) => ({
        item: word(item['item']),
        title: typeof item['title'] === 'string' ? item['title'] : null,
        commit: oid(item['commit']),
        files: list(fields(item['patch'])['files']).map((file) => word(file['path'])),
      })),
    }
  } catch (cause) {
    throw new UserError('bad-evidence', 'the evidence file cannot be read', {
      cause,
      hint: 'it is the evidence.json that bw-deliver names in its delivery record',
    })
  }
}

/**
 * Makes sure that a repository holds what the evidence is about: the ref and its tree, and on the base exactly one commit an
 * item, in order, with the item's title, that changes no file but those of its patch. Throws UserError
 * `evidence-mismatch` (status 4) that says what differs.
 */
export async function checkHistory(repo: Repo, { repository, items }: Evidence): Promise<void> {
  const { base, ref, oid: head, tree } = repository
  const held = await readRef(repo, ref)
  if (held !== head) throw mismatch(`'${ref}' holds ${held ?? 'nothing'}, not ${head}`)
  if ((await commitTreeOid(repo, head)) !== tree) throw mismatch(`'${head}' has another tree`)
  const commits = await listCommits(repo, base, head)
  const expected = items.map(({ commit }) => commit)
  if (commits.join() !== expected.join()) throw mismatch(`'${ref}' has other commits than the items'`)
  let below = base
  for (const { item, title, commit, files } of items) {
    if ((await commitParents(repo, commit)).join() !== below)
      throw mismatch(`the commit of '${item}' is not on ${below}`)
    const known = new Set(files)
    const strange = (await changedFiles(repo, below, commit)).find(({ path }) => !known.has(path))
    if (strange !== undefined) throw mismatch(`the commit of '${item}' changes a file that its patch does not`)
    if (title !== null && (await messageOf(repo, commit)) !== title)
      throw mismatch(`the commit of '${item}' has another title`)
    below = commit
  }
}

async function messageOf(repo: Repo, commit: string): Promise<string> {
  const [object] = await readObjects(repo, [commit])
  const text = object?.content.toString('utf8') ?? ''
  return text.slice(text.indexOf('\n\n') + 2).trimEnd()
}

function mismatch(message: string): UserError {
  return new UserError('evidence-mismatch', message, {
    status: 4,
    hint: 'the repository is not what was verified; fetch the branch again and compare',
  })
}

type Fields = Record<string, unknown>

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object')
  return value as Fields
}

function list(value: unknown): Fields[] {
  if (!Array.isArray(value)) throw new Error('not a list')
  return value.map(fields)
}

function word(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new Error('not a text')
  return value
}

function oid(value: unknown): string {
  const text = word(value)
  if (!/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text)) throw new Error('not an oid')
  return text
}
