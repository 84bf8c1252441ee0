/** Names by which the common runners find tests, whatever folder they are in. */
const testNames = [
  /^test_.*\.py$/,
  /_test\.(py|go|rb|exs|dart|c|cc|cpp|rs)$/,
  /[._-](test|spec)\.[cm]?[jt]sx?$/,
  /_spec\.rb$/,
  /(Test|Tests|Spec|IT)\.(java|kt|scala|groovy|cs|swift|php)$/,
  /\.(bats|t)$/,
]

const testFolders = new Set(['test', 'tests', 'spec', 'specs', '__tests__', '__snapshots__', 'testdata', 'fixtures'])

/** Files that decide how tests are found, set up or run, by name. */
const runnerNames = [
  /^(conftest|sitecustomize|usercustomize)\.py$/,
  /\.pth$/,
  /^(\.?pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|\.coveragerc|noxfile\.py)$/,
  /^(vitest|vite|jest|ava|karma|playwright|cypress)\.(config|workspace|setup)\./,
  /^\.(mocharc|babelrc|npmrc|pnpmfile)(\.|$)/,
  /^(package\.json|pnpm-workspace\.yaml|GNUmakefile|makefile|Makefile|justfile)$/,
  /^(go\.mod|Cargo\.toml|build\.rs|pom\.xml|build\.gradle(\.kts)?)$/,
]

/** Modules that a file of the same name in the repository's top folder stands in front of, as `python3 -m pytest` imports. */
const shadowed =
  /^(_?pytest|pluggy|iniconfig|packaging|unittest|xdist|importlib|runpy|py|node_modules|vendor)(\.py|\/|$)/

/** True when a path looks like a test, or like data that only tests read. */
export function looksLikeTest(path: string): boolean {
  const parts = path.split('/')
  const name = parts.pop() ?? ''
  return testNames.some((pattern) => pattern.test(name)) || parts.some((part) => testFolders.has(part))
}

/**
 * True when a changed file could decide what the tests say without being what is tested: a test, a runner's configuration
 * or plug-in, a module in front of the runner's own, or a file that the test command names.
 */
export function decidesTests(path: string, command: string): boolean {
  const name = path.split('/').at(-1) ?? ''
  if (looksLikeTest(path) || runnerNames.some((pattern) => pattern.test(name)) || shadowed.test(path)) return true
  return command.split(/[\s'"=;&|()]+/).some((word) => word.replace(/^\.\//, '') === path)
}
