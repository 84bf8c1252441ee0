import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitTree, updateRef } from '@buildwave/git'
import { describe, expect, test } from 'vitest'
import { differences, fingerprint, git } from '../../../test/support/repository.ts'
import { changed, item, openScene, readEvidence, ref, runId, type Scene } from './scene.ts'

/** The ref of the delivery in the user's repository, null when there is none. */
const delivered = ({ repo }: Scene) => git(repo, 'for-each-ref', '--format=%(objectname)', ref) || null

test('the verified head becomes one branch, with the commands to look at it', async () => {
  const scene = await openScene()
  const { status, stderr, delivery } = await scene.deliver(scene.records)
  expect(status).toBe(0)
  expect(delivery).toMatchObject({ ref, oid: scene.head, base: scene.base, delivered: ['one', 'two'], left: [] })
  expect(delivered(scene)).toBe(scene.head)
  const [first, ...rest] = stderr.trimEnd().split('\n')
  expect(first).toBe(`bw-deliver: delivered builders/${runId} to ${scene.repo}`)
  expect(rest.map((line) => line.replace(/[0-9a-f]{7,}/, 'OID'))).toEqual([
    '  OID Title of two',
    '  OID Title of one',
    `  git diff OID..builders/${runId}`,
  ])
  expect(git(scene.repo, 'log', '--format=%s', `main..builders/${runId}`)).toBe('Title of two\nTitle of one')
})

test('the evidence names every verdict, with digests of patches and logs', async () => {
  const scene = await openScene([item('left', { wave: 2 })])
  const { delivery } = await scene.deliver(scene.records, ['--partial'])
  expect(delivery?.['evidence']).toBe(join(scene.dir, 'evidence.json'))
  const digests = scene.records.filter(({ kind }) => kind === 'patch').map(({ digest }) => digest)
  expect(readEvidence(scene)).toMatchObject({
    repository: { base: scene.base, ref, oid: scene.head },
    verification: { verdict: 'green', counts: { passed: 1 }, log: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    items: [
      { item: 'one', patch: { digest: digests[0] }, scan: { verdict: 'clean' } },
      { item: 'two', patch: { digest: digests[1] }, scan: { verdict: 'clean' } },
    ],
    left: [{ item: 'left', reason: 'never-came' }],
  })
})

test('again it changes nothing and is still a success', async () => {
  const scene = await openScene()
  const first = await scene.deliver(scene.records)
  const before = fingerprint(scene.folder)
  const second = await scene.deliver(scene.records)
  expect([second.status, second.delivery]).toEqual([0, first.delivery])
  expect(second.stderr).toContain('delivered before')
  expect(differences(before, fingerprint(scene.folder)).filter((path) => path.includes('/repo/'))).toEqual([])
})

test('killed after the ref was made, it writes the record that is missing', async () => {
  const scene = await openScene()
  git(scene.repo, 'fetch', '-q', scene.store.gitDir, `${ref}:${ref}`)
  const { status, delivery } = await scene.deliver(scene.records)
  expect([status, delivery?.['oid']]).toEqual([0, scene.head])
})

test('it says the same from the journal', async () => {
  const scene = await openScene()
  const { status, delivery } = await scene.replay()
  expect([status, delivery?.['oid'], delivered(scene)]).toEqual([0, scene.head, scene.head])
})

test('--dry-run checks everything and writes nothing', async () => {
  const scene = await openScene()
  const before = fingerprint(scene.repo)
  const { status, stderr, delivery } = await scene.deliver(scene.records, ['--dry-run'])
  expect([status, delivery, delivered(scene)]).toEqual([0, undefined, null])
  expect(stderr).toContain(`would deliver builders/${runId}`)
  expect(differences(before, fingerprint(scene.repo))).toEqual([])
  expect(existsSync(join(scene.dir, 'evidence.json'))).toBe(false)
  git(scene.repo, 'branch', `builders/${runId}`)
  expect((await scene.deliver(scene.records, ['--dry-run'])).status).toBe(1)
})

describe('refused, and the repository stays as it was:', () => {
  const refusals: [string, (scene: Scene) => Scene['records'] | Promise<Scene['records']>, number, string][] = [
    [
      'a head that was never verified',
      ({ records }) => records.filter(({ kind }) => kind !== 'verification'),
      1,
      'was never verified',
    ],
    [
      'a verdict on another head',
      ({ records, base }) => changed(records, { kind: 'verification' }, { head: base }),
      1,
      'was never verified',
    ],
    [
      'a red head',
      ({ records }) => changed(records, { kind: 'verification' }, { verdict: 'red', culprits: ['one', 'two'] }),
      5,
      'is red because of one and two',
    ],
    [
      'no integration',
      ({ records }) => records.filter(({ kind }) => kind !== 'integration'),
      1,
      'no integration record',
    ],
    [
      'no item on the branch',
      ({ records }) => changed(records, { kind: 'integration' }, { items: [] }),
      5,
      'no item is on the branch',
    ],
    [
      'a blocked scan',
      ({ records }) => changed(records, { kind: 'scan', item: 'two' }, { verdict: 'blocked' }),
      5,
      "'two' is on the branch, but its scan says blocked",
    ],
    [
      'an incomplete scan',
      ({ records }) => changed(records, { kind: 'scan', item: 'two' }, { verdict: 'incomplete' }),
      5,
      'its scan says incomplete',
    ],
    ['no scan', ({ records }) => records.filter(({ kind }) => kind !== 'scan'), 5, 'its scan says nothing'],
    [
      'a blocked patch',
      ({ records }) => changed(records, { kind: 'patch', item: 'one' }, { verdict: 'blocked' }),
      5,
      'its patch is blocked',
    ],
    [
      'a patch with another digest',
      ({ records }) => changed(records, { kind: 'patch', item: 'one' }, { digest: '0'.repeat(64) }),
      4,
      'is not what was collected',
    ],
    [
      'an item that was dropped since',
      ({ records }) => changed(records, { kind: 'merge', item: 'one' }, { outcome: 'dropped', commit: null }),
      5,
      'its merge record says otherwise',
    ],
    ['a commit that was not merged', async (scene) => addCommit(scene), 4, 'does not consist of what was merged'],
    [
      'a stack that moved since',
      async (scene) => {
        await updateRef(scene.store, ref, scene.base, scene.head)
        return scene.records
      },
      1,
      'not at the verified',
    ],
    [
      'a ref with another oid',
      ({ records, repo }) => {
        git(repo, 'branch', `builders/${runId}`)
        return records
      },
      1,
      'is there and holds',
    ],
    [
      'a ref in the way',
      ({ records, repo }) => {
        git(repo, 'branch', 'builders')
        return records
      },
      1,
      "cannot be made beside 'refs/heads/builders'",
    ],
  ]

  test.each(refusals)('%s', async (_title, change, status, message) => {
    const scene = await openScene()
    const records = await change(scene)
    const before = fingerprint(scene.repo)
    const result = await scene.deliver(records)
    expect([result.status, result.delivery]).toEqual([status, undefined])
    expect(result.stderr.split('\n')[0]).toContain(message)
    expect(differences(before, fingerprint(scene.repo))).toEqual([])
  })

  test('an input that breaks off', async () => {
    const scene = await openScene()
    const { status, stderr } = await scene.deliver(scene.records, [], { cut: true })
    expect([status, delivered(scene)]).toEqual([1, null])
    expect(stderr).toContain("stopped before its 'end' record")
  })
})

test('a secret that no scan of an item could see is found in the history, and is not shown', async () => {
  const secret = ['sk-ant', 'oat01', randomBytes(70).toString('base64url')].join('-')
  for (const place of [{ note: ` ${secret}` }, { merged: `${secret}\n` }]) {
    const scene = await openScene([], place)
    const { status, stderr } = await scene.deliver(scene.records)
    expect([status, delivered(scene)]).toEqual([5, null])
    expect(stderr).toMatch(/^bw-deliver: a secret \(.*\) is in /)
    expect(stderr).not.toContain(secret.slice(20))
  }
})

/** A commit nobody merged, between what was merged and the head that the records name. */
async function addCommit({ store, head, base, records }: Scene): Promise<Scene['records']> {
  const tree = git(store.gitDir, 'rev-parse', `${head}^{tree}`)
  const identity = { name: 'X', email: 'x@example.org' }
  const extra = await commitTree(store, {
    tree,
    parents: [base, head],
    message: 'odd',
    identity,
    date: '2026-01-01T00:00:00Z',
  })
  await updateRef(store, ref, extra, head)
  return changed(changed(records, { kind: 'integration' }, { head: extra }), { kind: 'verification' }, { head: extra })
}

test('a missing item is exit 5 unless --partial, one that a person left out is not missing', async () => {
  const scene = await openScene([item('late', { wave: 2 }), item('ready', { done: true })])
  const refused = await scene.deliver(scene.records)
  expect([refused.status, delivered(scene)]).toEqual([5, null])
  expect(refused.stderr.split('\n')[0]).toBe('bw-deliver: not on the branch: late (never-came)')
  const at = '2026-03-04T05:06:07.000Z'
  const about = {
    v: 1,
    run: runId,
    item: 'late',
    key: '0123456789abcdef',
    at,
    head: scene.head,
    commit: null,
    conflicts: [],
  }
  const skip = { kind: 'merge', ...about, outcome: 'skipped', reason: 'skipped-by-user', message: '' }
  const skipped = await scene.deliver([...scene.records, skip])
  expect([skipped.status, skipped.delivery?.['left']]).toEqual([0, [{ item: 'late', reason: 'skipped-by-user' }]])
  const partial = await scene.deliver(scene.records, ['--partial'])
  expect([partial.status, partial.delivery?.['left']]).toEqual([0, [{ item: 'late', reason: 'never-came' }]])
})

test('a user in the middle of work, with hooks, signing and a read-only config, is not disturbed', async () => {
  const scene = await openScene()
  const { repo, folder } = scene
  const canary = join(folder, 'canary')
  mkdirSync(join(repo, '.git', 'hooks'), { recursive: true })
  for (const hook of ['reference-transaction', 'post-checkout', 'update', 'pre-auto-gc']) {
    writeFileSync(join(repo, '.git', 'hooks', hook), `#!/bin/sh\necho ${hook} >> '${canary}'\nexit 1\n`)
    chmodSync(join(repo, '.git', 'hooks', hook), 0o755)
  }
  for (const [name, value] of [
    ['commit.gpgSign', 'true'],
    ['gpg.program', '/bin/false'],
    ['core.logAllRefUpdates', 'always'],
    ['gc.auto', '1'],
  ] as const) {
    git(repo, 'config', name, value)
  }
  writeFileSync(join(repo, 'a.txt'), 'dirty\n')
  git(repo, 'add', 'a.txt')
  writeFileSync(join(repo, 'untracked'), 'x\n')
  chmodSync(join(repo, '.git', 'config'), 0o444)
  const before = fingerprint(repo)
  expect((await scene.deliver(scene.records)).status).toBe(0)
  const changes = differences(before, fingerprint(repo)).map((path) => path.replace(/pack-[0-9a-f]+/, 'pack-*'))
  expect(changes).toEqual([
    './.git/objects/pack/pack-*.idx',
    './.git/objects/pack/pack-*.pack',
    './.git/refs/heads/builders',
    `./.git/refs/heads/builders/${runId}`,
  ])
  expect(existsSync(canary)).toBe(false)
  rmSync(join(repo, '.git', 'hooks'), { recursive: true })
})
