import type { TestOutcome } from '@buildwave/core'
import { parseGoJson } from './go-json.ts'
import { parseJestJson } from './jest-json.ts'
import { parseJunit } from './junit.ts'
import { parseTap } from './tap.ts'

/**
 * How one test command is made to say what each test did. The command itself is run as the user wrote it: runners are told
 * through their environment, and only jest and vitest, which have no variable for it, get arguments appended.
 */
export interface Runner {
  /** The runner that the command and the repository's files point to; `exit` when none does. */
  name: 'pytest' | 'vitest' | 'jest' | 'go' | 'node' | 'junit' | 'exit'
  /** For `sh -c`, in `/work`. */
  command: string
  env: Record<string, string>
  /** The report's absolute path in the container, null when results are read from the output. */
  report: string | null
  /** The same run of just these tests and perhaps a few more; of the whole suite where the runner cannot choose. */
  only: (tests: readonly string[]) => Runner
}

export interface Found {
  /** Whose results these are; `exit` when only the status is known. */
  runner: string
  tests: Record<string, TestOutcome> | null
}

/** The files that `detectRunner` looks at, where they exist, at the base commit. */
export const runnerFiles = ['package.json', 'GNUmakefile', 'makefile', 'Makefile'] as const

export interface RunnerOptions {
  /** Text of those of `runnerFiles` that exist, by path. */
  files: Pick<ReadonlyMap<string, string>, 'get'>
  /** A JUnit XML report that the command itself writes, relative to `/work` or absolute; null for none. */
  junit: string | null
}

const root = '/work'
const reportXml = '/tmp/bw-results.xml'
const reportJson = '/tmp/bw-results.json'

/** Beyond this many names the whole suite is run: a command line has an end. */
const maxChosen = 100

/**
 * The runner behind a test command. What the base's `package.json` or Makefile says is followed, so that `npm test` and
 * `make test` are seen through. A command that points to nothing known still gets pytest's variable: it costs nothing where
 * pytest is not used, and finds it behind any script.
 */
export function detectRunner(command: string, { files, junit }: RunnerOptions): Runner {
  const report = junit ?? ownReport(command)
  if (report !== null) return junitRunner(command, report.startsWith('/') ? report : `${root}/${report}`)
  const script = followScript(command, files)
  const tool = jsTool(script)
  if (tool !== null) return jsRunner(command, tool, [])
  if (/\bgo test\b/.test(script)) return goRunner(command, [])
  if (/\bnode\b.* --test\b/.test(script)) return nodeRunner(command, [])
  return pytestRunner(command, /\b(pytest|py\.test)\b/.test(script) ? 'pytest' : 'exit', [])
}

/**
 * The per-test results of a run: from the runner's report, else from TAP or `go test -json` in the output. A report that is
 * missing or unreadable gives no tests, and then the exit status is all there is.
 */
export function readResults(runner: Runner, given: { report: Buffer | null; log: string }): Found {
  const tests = given.report === null ? null : readReport(runner, given.report)
  if (tests !== null) return { runner: runner.name === 'exit' ? 'pytest' : runner.name, tests }
  if (runner.name === 'go') return { runner: 'go', tests: parseGoJson(given.log) }
  if (runner.name !== 'exit') return { runner: runner.name, tests: null }
  const tap = /^TAP version 1[34]\r?$/m.test(given.log) ? parseTap(given.log) : null
  return tap === null ? { runner: 'exit', tests: null } : { runner: 'tap', tests: tap }
}

function readReport(runner: Runner, report: Buffer): Record<string, TestOutcome> | null {
  return runner.report === reportJson ? parseJestJson(report, root) : parseJunit(report)
}

/** The `--junitxml` that the command already has: it would win over ours, so it is the one that is read. */
function ownReport(command: string): string | null {
  return /--junit-?xml[= ]['"]?([^\s'"]+)/.exec(command)?.[1] ?? null
}

/** What `npm test` or `make test` runs, or the command itself. */
function followScript(command: string, files: RunnerOptions['files']): string {
  if (/^(npm|pnpm|yarn)( run)?( -\S+)* test\b/.test(command)) return npmScript(files.get('package.json')) ?? command
  if (!/^make\b/.test(command)) return command
  const makefile = runnerFiles.map((name) => (name === 'package.json' ? undefined : files.get(name)))
  return `${command}\n${makefile.find((text) => text !== undefined) ?? ''}`
}

function npmScript(manifest: string | undefined): string | null {
  try {
    const script: unknown = JSON.parse(manifest ?? '')?.scripts?.test
    return typeof script === 'string' ? script : null
  } catch {
    return null
  }
}

/** A script that is one vitest or jest call and nothing after it: only then do appended arguments reach the tool. */
function jsTool(script: string): 'vitest' | 'jest' | null {
  const call = /^(?:\w+=\S+ +|cross-env +|npx +|pnpm +(?:exec +)?|yarn +)*(vitest|jest)(?: [^;&|<>`$()\n]*)?$/.exec(
    script.trim(),
  )
  return call?.[1] === 'vitest' || call?.[1] === 'jest' ? call[1] : null
}

function pytestRunner(command: string, name: 'pytest' | 'exit', chosen: readonly string[]): Runner {
  const words = [`--junitxml=${reportXml}`, '-o', 'junit_family=xunit1', '--continue-on-collection-errors']
  const pick = chosen.length === 0 ? [] : ['-k', `'${chosen.map(pytestWord).join(' or ')}'`]
  return {
    name,
    command,
    // pytest's own older report format is the one that names the file, and with it the node id.
    env: { PYTEST_ADDOPTS: [...words, ...pick].join(' ') },
    report: reportXml,
    only: (tests) => pytestRunner(command, name, choosable(tests, pytestWord)),
  }
}

/** The word of a node id that `-k` selects by: the function without its parameters; '' when it is not a plain word. */
function pytestWord(test: string): string {
  const word = (test.split('::').at(-1) ?? '').replace(/\[.*$/s, '').split('.').at(-1) ?? ''
  return /^\w+$/.test(word) && !['and', 'or', 'not'].includes(word) ? word : ''
}

function goRunner(command: string, chosen: readonly string[]): Runner {
  const pick = chosen.length === 0 ? [] : [`-run=^(${chosen.map(goWord).join('|')})$`]
  return {
    name: 'go',
    command,
    env: { GOFLAGS: ['-json', '-count=1', ...pick].join(' ') },
    report: null,
    only: (tests) => goRunner(command, choosable(tests, goWord)),
  }
}

function goWord(test: string): string {
  return /\.((?:Test|Example|Fuzz)\w*)(?:\/.*)?$/s.exec(test)?.[1] ?? ''
}

function nodeRunner(command: string, chosen: readonly string[]): Runner {
  const reporters = ['spec', 'stdout', 'junit', reportXml]
  const words = reporters.map((value, index) => `--test-reporter${index % 2 === 0 ? '' : '-destination'}=${value}`)
  const pick = chosen.length === 0 ? [] : [`--test-name-pattern=${quoteForNode(alternatives(chosen.map(titleOf)))}`]
  return {
    name: 'node',
    command,
    env: { NODE_OPTIONS: [...words, ...pick].join(' ') },
    report: reportXml,
    only: (tests) => nodeRunner(command, choosable(tests, titleOf)),
  }
}

function jsRunner(command: string, tool: 'vitest' | 'jest', chosen: readonly string[]): Runner {
  const report =
    tool === 'jest'
      ? ['--json', `--outputFile=${reportJson}`]
      : ['--reporter=default', '--reporter=json', `--outputFile.json=${reportJson}`]
  const pick = chosen.length === 0 ? [] : ['-t', quoteForShell(alternatives(chosen.map(titleOf)))]
  const divider = command.startsWith('npm ') && !command.includes(' -- ') ? ['--'] : []
  return {
    name: tool,
    command: [command, ...divider, ...report, ...pick].join(' '),
    env: {},
    report: reportJson,
    only: (tests) => jsRunner(command, tool, choosable(tests, titleOf)),
  }
}

function junitRunner(command: string, report: string): Runner {
  const runner: Runner = { name: 'junit', command, env: {}, report, only: () => runner }
  return runner
}

/** A test's own title without file and groups; '' when there is none. */
function titleOf(test: string): string {
  return test.split(' > ').at(-1) ?? ''
}

/** The tests when each of them can be chosen by a word, else none, which stands for the whole suite. */
function choosable(tests: readonly string[], word: (test: string) => string): readonly string[] {
  return tests.length <= maxChosen && tests.every((test) => word(test) !== '') ? tests : []
}

function alternatives(titles: readonly string[]): string {
  return titles.map((title) => title.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** NODE_OPTIONS splits at spaces outside of double quotes, in which a backslash takes the next character as it is. */
function quoteForNode(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
