import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { root } from '../../../test/support/pipeline.ts'
import { runRecord } from '../../../test/support/records.ts'
import { differences, fingerprint, git, makeRepository } from '../../../test/support/repository.ts'

// Every step starts containers; on a busy machine one can take long without anything being wrong.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

let repo: string
let good: ReturnType<typeof evidenceOf>

const files = {
  'calc.py': 'def one():\n    return 1\n',
  'test_calc.py': 'from calc import one\n\ndef test_one():\n    assert one() == 1\n',
}

/** An evidence file for the branch as it stands, with the fields that matter here. */
function evidenceOf() {
  const [commit = '', tree = ''] = ['HEAD', 'HEAD^{tree}'].map((rev) => git(repo, 'rev-parse', rev))
  const { limits, image } = runRecord()
  return {
    v: 1,
    run: 'plan-1',
    repository: { base: git(repo, 'rev-parse', 'HEAD~1'), ref: 'refs/heads/builders/plan-1', oid: commit, tree },
    test: { command: 'python3 -m pytest -q', image, setup: null, limits },
    items: [{ item: 'two', title: 'Add two', commit, patch: { files: [{ path: 'two.py' }] } }],
  }
}

beforeAll(() => {
  repo = makeRepository(files)
  git(repo, 'checkout', '-q', '-b', 'builders/plan-1')
  writeFileSync(join(repo, 'two.py'), 'two = 2\n')
  git(repo, 'add', 'two.py')
  git(repo, 'commit', '-q', '-m', 'Add two')
  good = evidenceOf()
})

afterAll(() => rmSync(dirname(repo), { recursive: true, force: true }))

function verify(evidence: object | string, env: Record<string, string> = {}) {
  const file = join(dirname(repo), 'evidence.json')
  writeFileSync(file, typeof evidence === 'string' ? evidence : JSON.stringify(evidence))
  const main = join(root, 'packages/bw-verify/src/main.ts')
  return spawnSync(process.execPath, [main, '--evidence', file, '--repo', repo], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', HOME: dirname(repo), ...env },
  })
}

describe('bw-verify --evidence', () => {
  it('confirms a branch by its history and its tests, and writes nothing into the repository', () => {
    const before = fingerprint(repo)
    const { status, stderr } = verify(good)
    expect(stderr).toMatch(/^bw-verify: 'refs\/heads\/builders\/plan-1' at [0-9a-f]{10} is what was verified/)
    expect(status).toBe(0)
    expect(differences(before, fingerprint(repo))).toEqual([])
  })

  it.each([
    ['another head', () => ({ ...good, repository: { ...good.repository, oid: good.repository.base } }), /holds/],
    [
      'another tree',
      () => ({ ...good, repository: { ...good.repository, tree: good.repository.base } }),
      /another tree/,
    ],
    ['a commit of no item', () => ({ ...good, items: [] }), /other commits/],
    [
      'another title',
      () => ({ ...good, items: good.items.map((item) => ({ ...item, title: 'Add 2' })) }),
      /another title/,
    ],
    [
      'a file that no patch had',
      () => ({ ...good, items: good.items.map((item) => ({ ...item, patch: { files: [{ path: 'else' }] } })) }),
      /changes a file that its patch does not/,
    ],
  ])('refuses %s with exit 4', (_title, evidence, message) => {
    const { status, stderr } = verify(evidence())
    expect(stderr).toMatch(message)
    expect(status).toBe(4)
  })

  it('refuses what is not evidence, and a protected repository without touching it', () => {
    expect(verify('{"v":1}')).toMatchObject({ status: 1, stderr: expect.stringMatching(/cannot be read\nhint: /) })
    const { status, stderr } = verify(good, { BW_PROTECTED_PATHS: repo })
    expect(stderr).toContain('is under the protected path')
    expect(status).toBe(1)
  })

  it('is red with exit 5 when the tests fail here', () => {
    writeFileSync(join(repo, 'calc.py'), 'def one():\n    return 2\n')
    git(repo, 'commit', '-q', '-a', '-m', 'Add two')
    const below = git(repo, 'rev-parse', 'HEAD~1')
    const now = evidenceOf()
    const { status, stderr } = verify({
      ...now,
      repository: { ...now.repository, base: good.repository.base },
      items: [
        ...good.items,
        { item: 'x', title: 'Add two', commit: now.repository.oid, patch: { files: [{ path: 'calc.py' }] } },
      ],
    })
    expect(below).toBe(good.repository.oid)
    expect(stderr).toContain('is red here: test_calc.py::test_one')
    expect(status).toBe(5)
  })
})
