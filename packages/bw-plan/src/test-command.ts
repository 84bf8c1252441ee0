/** The command that runs a project's tests, from the files that its base commit has. */
import type { Tree } from '@buildwave/core'

export interface TestCommand {
  test: string
  /** `flag`, `config`, or the file it was found by. */
  testFrom: string
}

export interface Project {
  tree: Tree
  tracked: readonly string[]
  /** The text of a tracked file, null when there is none. */
  read(path: string): Promise<string | null>
}

/** What the project's own files say; null when none of them says how it is tested. */
export async function detectTestCommand({ tree, tracked, read }: Project): Promise<TestCommand | null> {
  const python = pythonSign({ tree, tracked })
  if (python !== null) return { test: 'python3 -m pytest -q', testFrom: python }
  const script = testScript(await read('package.json'))
  if (script) return { test: `${packageManager(tree)} test`, testFrom: 'package.json' }
  if (tree.has('Cargo.toml')) return { test: 'cargo test', testFrom: 'Cargo.toml' }
  if (tree.has('go.mod')) return { test: 'go test ./...', testFrom: 'go.mod' }
  for (const name of ['Makefile', 'makefile', 'GNUmakefile']) {
    if (/^test\s*:(?!=)/m.test((await read(name)) ?? '')) return { test: 'make test', testFrom: name }
  }
  return null
}

/** A pyproject.toml alone may only configure tools of a project in another language. */
function pythonSign({ tree, tracked }: Pick<Project, 'tree' | 'tracked'>): string | null {
  const configured = ['pytest.ini', 'pyproject.toml', 'setup.cfg'].find((name) => tree.has(name))
  const isOther = ['package.json', 'Cargo.toml', 'go.mod'].some((name) => tree.has(name))
  if (configured !== undefined && (configured === 'pytest.ini' || !isOther)) return configured
  return tracked.find((path) => /^tests?\/(?:.*\/)?(?:test_[^/]*|[^/]*_test)\.py$/.test(path)) ?? null
}

function testScript(text: string | null): boolean {
  if (text === null) return false
  try {
    const script = (JSON.parse(text) as { scripts?: { test?: unknown } } | null)?.scripts?.test
    return typeof script === 'string' && script !== '' && !script.includes('no test specified')
  } catch {
    return false
  }
}

function packageManager(tree: Tree): string {
  if (tree.has('pnpm-lock.yaml')) return 'pnpm'
  return tree.has('yarn.lock') ? 'yarn' : 'npm'
}
