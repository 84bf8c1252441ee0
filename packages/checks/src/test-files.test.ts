import { describe, expect, it } from 'vitest'
import { decidesTests, looksLikeTest } from './test-files.ts'

describe('looksLikeTest', () => {
  it.each([
    'tests/test_a.py',
    'test_a.py',
    'pkg/a_test.go',
    'src/a.test.ts',
    'src/a.spec.jsx',
    'src/FooTest.java',
    'spec/a_spec.rb',
    'src/__tests__/a.js',
    'tests/data.json',
  ])('takes %s for a test', (path) => {
    expect(looksLikeTest(path)).toBe(true)
  })

  it.each(['src/a.py', 'src/latest.ts', 'contest.py', 'src/attest/a.go', 'docs/testing.md'])(
    'does not take %s',
    (path) => {
      expect(looksLikeTest(path)).toBe(false)
    },
  )
})

describe('decidesTests', () => {
  it.each([
    'conftest.py',
    'pkg/conftest.py',
    'pytest.ini',
    'pyproject.toml',
    'pytest.py',
    'pytest/__init__.py',
    '_pytest/x.py',
    'sitecustomize.py',
    'evil.pth',
    'package.json',
    'vitest.config.ts',
    'node_modules/vitest/index.js',
    'Makefile',
    'tests/test_a.py',
  ])('sees that %s could decide', (path) => {
    expect(decidesTests(path, 'python3 -m pytest')).toBe(true)
  })

  it('sees what the command names', () => {
    expect(decidesTests('scripts/check.sh', 'sh ./scripts/check.sh --fast')).toBe(true)
    expect(decidesTests('scripts/other.sh', 'sh ./scripts/check.sh --fast')).toBe(false)
  })

  it('leaves what is tested alone', () => {
    for (const path of ['src/pytest_helper.py', 'mathkit/stats.py', 'README.md'])
      expect(decidesTests(path, 'pytest')).toBe(false)
  })
})
