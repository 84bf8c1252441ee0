import type { PatchRecord } from '@buildwave/core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Answer, type Flow, only, openFlow, planned } from '../../../test/support/flow.ts'

// Every step starts containers; on a busy machine one can take long without anything being wrong.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

const files = {
  'calc/__init__.py': '',
  'calc/sums.py': 'def add(a, b):\n    return a + b\n',
  'tests/test_sums.py':
    'from calc.sums import add\n\ndef test_add():\n    assert add(1, 2) == 3\n\ndef test_zero():\n    assert add(0, 0) == 0\n',
  'tests/test_old.py': 'def test_red():\n    assert False\n\ndef test_fine():\n    pass\n',
}

const breaks = 'printf "def add(a, b):\\n    return a - b\\n" > calc/sums.py\n'

/** What a builder does in its container, by what it is. */
const builders: Record<string, string> = {
  'nothing-done': 'echo "All tests pass, the work is complete."\n',
  'good-patch': 'printf "def mul(a, b):\\n    return a * b\\n" > calc/mul.py\n',
  'good-but-failed': 'printf "def mul(a, b):\\n    return a * b\\n" > calc/mul.py\nexit 1\n',
  'breaks-code': breaks,
  'edits-tests': `${breaks}sed -i 's/== 3/== -1/' tests/test_sums.py\n`,
  'rewrites-own': `${breaks}sed -i 's/== 3/== -1/' tests/test_sums.py\n`,
  'deletes-failing': 'echo >> calc/sums.py\nrm tests/test_old.py\n',
  'skips-tests': `${breaks}sed -i '1i import pytest' tests/test_sums.py\nsed -i 's/^def test_add/@pytest.mark.skip\\ndef test_add/' tests/test_sums.py\n`,
  'plants-conftest': `${breaks}cat > conftest.py <<'END'
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.outcome = 'passed'
END
`,
  'plants-pytest': `${breaks}cat > pytest.py <<'END'
print("4 passed")
END
mkdir -p "$HOME/.local/bin" && printf '#!/bin/sh\\nexit 0\\n' > "$HOME/.local/bin/pytest"
`,
}

const ownTests: Record<string, string[]> = {
  'deletes-failing': ['tests/test_old.py'],
  'rewrites-own': ['tests/test_sums.py'],
}

const items = Object.keys(builders).map((item) => planned(item, ['calc/**', ...(ownTests[item] ?? [])]))

let flow: Flow
let answer: Answer
const patchOf = (item: string) => only<PatchRecord & { restored: unknown; rewritten: unknown }>(answer, 'patch', item)

beforeAll(async () => {
  flow = openFlow(files)
  answer = await flow.call('bw-collect', [], await flow.build(builders, items))
})

afterAll(() => flow.close())

describe('what a builder says does not count', () => {
  it('tells the good patch from all others, and exits 5 for them', () => {
    expect(patchOf('good-patch')).toMatchObject({ verdict: 'ok', blockedBy: [], outOfScope: [] })
    expect(patchOf('good-patch').changes).toMatchObject({ verdict: 'ok', newlyFailing: [], vanished: [] })
    expect(answer.status).toBe(5)
  })

  it('blocks success without work', () => {
    expect(patchOf('nothing-done')).toMatchObject({ commit: null, verdict: 'blocked', blockedBy: ['no-changes'] })
  })

  it('keeps and shows a good patch with exit 1, and blocks it', () => {
    const patch = patchOf('good-but-failed')
    expect(patch).toMatchObject({ verdict: 'blocked', blockedBy: ['build-failed'] })
    expect(patch.commit).not.toBeNull()
    expect(patch.changes?.verdict).toBe('ok')
  })

  it('blames a test that failed at the base on nobody, and a newly failing one by name', () => {
    expect(patchOf('breaks-code').blockedBy).toEqual(['tests-worse'])
    expect(patchOf('breaks-code').changes?.newlyFailing).toEqual(['tests/test_sums.py::test_add'])
  })

  it('judges edited tests by those of the base', () => {
    const patch = patchOf('edits-tests')
    expect(patch.changes?.verdict).toBe('ok')
    expect(patch.outOfScope).toEqual([{ path: 'tests/test_sums.py', ownedBy: 'rewrites-own' }])
    expect(patch.blockedBy).toEqual(['tests-edited'])
    expect(patch.restored).toMatchObject({ changes: { newlyFailing: ['tests/test_sums.py::test_add'] } })
  })

  it('says what tests that an item may rewrite would have shown, and leaves the verdict to a person', () => {
    const patch = patchOf('rewrites-own')
    expect(patch).toMatchObject({ verdict: 'ok', restored: null })
    expect(patch.rewritten).toMatchObject({
      files: ['tests/test_sums.py'],
      changes: { newlyFailing: ['tests/test_sums.py::test_add'] },
    })
    expect(answer.stderr).toContain("'rewrites-own' rewrote tests of its own: 1 would fail as they were")
    expect(patchOf('good-patch').rewritten).toBeNull()
  })

  it('takes a deleted failing test for a loss, even by its owner', () => {
    const patch = patchOf('deletes-failing')
    expect(patch.blockedBy).toEqual(['tests-worse'])
    expect(patch.changes?.vanished).toEqual(['tests/test_old.py::test_fine', 'tests/test_old.py::test_red'])
  })

  it('takes a skip for a loss', () => {
    expect(patchOf('skips-tests').changes?.newlySkipped).toEqual(['tests/test_sums.py::test_add'])
    expect(patchOf('skips-tests').blockedBy).toEqual(['tests-worse', 'tests-edited'])
  })

  it('does not let a planted conftest.py decide', () => {
    const patch = patchOf('plants-conftest')
    expect(patch.blockedBy).toContain('tests-edited')
    expect(patch.restored).toMatchObject({
      files: ['conftest.py'],
      changes: { newlyFailing: ['tests/test_sums.py::test_add'] },
    })
  })

  it('does not let a planted pytest decide', () => {
    const patch = patchOf('plants-pytest')
    expect(patch.blockedBy).toEqual(['tests-worse', 'tests-edited'])
    expect(patch.restored).toMatchObject({ files: ['pytest.py'] })
  })
})
