import { describe, expect, it } from 'vitest'
import { detectRunner, readResults } from './runner.ts'

const none = { files: new Map<string, string>(), junit: null }
const withScript = (test: string) => ({
  ...none,
  files: new Map([['package.json', JSON.stringify({ scripts: { test } })]]),
})
const withMakefile = (text: string) => ({ ...none, files: new Map([['Makefile', text]]) })

describe('detectRunner', () => {
  it.each([
    ['python3 -m pytest -q', none, 'pytest'],
    ['pytest', none, 'pytest'],
    ['make test', withMakefile('test:\n\tpython3 -m pytest\n'), 'pytest'],
    ['make test', withMakefile('test:\n\tgo test ./...\n'), 'go'],
    ['make test', withMakefile('test:\n\tcc t.c && ./a.out\n'), 'exit'],
    ['go test ./...', none, 'go'],
    ['npx vitest run', none, 'vitest'],
    ['npm test', withScript('vitest run --dir src'), 'vitest'],
    ['pnpm test', withScript('NODE_ENV=test jest'), 'jest'],
    ['npm test', withScript('jest && eslint .'), 'exit'],
    ['npm test', withScript('node --test'), 'node'],
    ['node --enable-source-maps --test test/', none, 'node'],
    ['npm test', { ...none, files: new Map([['package.json', '{"scripts":']]) }, 'exit'],
    ['npm test', none, 'exit'],
    ['./check.sh', none, 'exit'],
    ['pytest --junitxml=report.xml', none, 'junit'],
    ['mvn -q test', { ...none, junit: 'target/report.xml' }, 'junit'],
  ])('sees %s (%o) as %s', (command, options, name) => {
    expect(detectRunner(command, options).name).toBe(name)
  })

  it('leaves the command as it is where the environment is enough', () => {
    for (const command of ['python3 -m pytest -q', 'go test ./...', './check.sh', 'node --test'])
      expect(detectRunner(command, none).command).toBe(command)
  })

  it('gives npm the divider that it needs', () => {
    expect(detectRunner('npm test', withScript('jest')).command).toMatch(/^npm test -- --json /)
    expect(detectRunner('pnpm test', withScript('jest')).command).toMatch(/^pnpm test --json /)
  })

  it("reads the command's own report, below /work unless absolute", () => {
    expect(detectRunner('pytest --junitxml out/r.xml', none).report).toBe('/work/out/r.xml')
    expect(detectRunner('x', { ...none, junit: '/tmp/r.xml' }).report).toBe('/tmp/r.xml')
  })

  it('asks pytest for just the named tests, by their functions', () => {
    const runner = detectRunner('make test', withMakefile('test:\n\tpytest'))
    const few = runner.only(['tests/test_a.py::TestX::test_y[a b-1]', 'tests/test_b.py::test_z'])
    expect(few.env['PYTEST_ADDOPTS']).toMatch(/ -k 'test_y or test_z'$/)
  })

  it('runs the whole suite again where a test cannot be named, or too many are', () => {
    const runner = detectRunner('pytest', none)
    expect(runner.only(["a.py::odd'name"]).env).toEqual(runner.env)
    expect(runner.only(Array.from({ length: 500 }, (_, index) => `a.py::test_${index}`)).env).toEqual(runner.env)
    expect(detectRunner('x', { ...none, junit: 'r.xml' }).only(['a']).command).toBe('x')
  })

  it('quotes titles for go, node and the shell', () => {
    expect(detectRunner('go test ./...', none).only(['m/a.TestA/sub case', 'm/b.TestB']).env['GOFLAGS']).toBe(
      '-json -count=1 -run=^(TestA|TestB)$',
    )
    expect(detectRunner('node --test', none).only(['a.js > g > is "so" (x)']).env['NODE_OPTIONS']).toContain(
      '--test-name-pattern="is \\"so\\" \\\\(x\\\\)"',
    )
    expect(detectRunner('npx vitest run', none).only(["a.ts > it's $HOME"]).command).toContain("-t 'it'\\''s \\$HOME'")
  })
})

describe('readResults', () => {
  const xml = Buffer.from('<testsuite><testcase name="a"/></testsuite>')

  it('finds pytest behind a command that did not show it', () => {
    expect(readResults(detectRunner('./check.sh', none), { report: xml, log: '' })).toEqual({
      runner: 'pytest',
      tests: { a: 'passed' },
    })
  })

  it('finds TAP in the output of a command of unknown kind', () => {
    const log = 'starting\nTAP version 14\nok 1 - a\n'
    expect(readResults(detectRunner('./check.sh', none), { report: null, log })).toEqual({
      runner: 'tap',
      tests: { a: 'passed' },
    })
  })

  it('knows only the exit status when there is no report, or one that cannot be read', () => {
    expect(readResults(detectRunner('./check.sh', none), { report: null, log: '3 passed' })).toEqual({
      runner: 'exit',
      tests: null,
    })
    expect(readResults(detectRunner('pytest', none), { report: Buffer.from('<x'), log: '' })).toEqual({
      runner: 'pytest',
      tests: null,
    })
  })
})
