import type { TestOutcome } from '@buildwave/core'
import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { collectResults } from './results.ts'

/** Larger reports are not read: 64 MiB is ten times the report of a suite of 100,000 tests. */
export const maxReportBytes = 64 * 1024 * 1024

const maxDepth = 32

const roots = new Set(['testsuites', 'testsuite'])

interface State {
  current: { name: string; outcome: TestOutcome } | null
  isRefused: boolean
}

/**
 * The per-test results of a JUnit XML report (none where no test ran), or null when it is not one or is too large. Names are those
 * of the runner: pytest's node id where the report says which file a test is in (`tests/test_a.py::TestX::test_y[1]`),
 * `file > classname > name` for other files, else `classname.name`. `<failure>` and `<error>` are `failed`, `<skipped>` is `skipped` (pytest writes an expected failure
 * so), and the worst entry of a name counts.
 *
 * A document type declaration is refused, so no entity but XML's own five is ever expanded.
 */
export function parseJunit(report: Buffer): Record<string, TestOutcome> | null {
  if (report.length > maxReportBytes) return null
  const results = collectResults()
  const open: string[] = []
  const state: State = { current: null, isRefused: false }

  const parser = new SaxesParser()
  const refuse = () => {
    state.isRefused = true
  }
  parser.on('doctype', refuse)
  parser.on('opentag', (tag) => {
    open.push(tag.name)
    if (open.length > maxDepth || !roots.has(open[0] ?? '')) refuse()
    if (tag.name === 'testcase') state.current ??= { name: testName(tag), outcome: 'passed' }
    else if (state.current !== null && open.at(-2) === 'testcase')
      state.current.outcome = worse(state.current.outcome, tag.name)
  })
  parser.on('closetag', (tag) => {
    open.pop()
    if (tag.name !== 'testcase' || state.current === null) return
    results.add(state.current.name, state.current.outcome)
    state.current = null
  })

  try {
    for (const part of decodedParts(report)) {
      parser.write(part)
      if (state.isRefused) return null
    }
    parser.close()
  } catch {
    // Without a listener for errors saxes throws what is not well-formed.
    return null
  }
  return state.isRefused ? null : results.done()
}

/** Decoded a part at a time: a whole report as one string would need several times its size. */
function* decodedParts(report: Buffer): Generator<string> {
  const decoder = new TextDecoder()
  const step = 256 * 1024
  for (let start = 0; start < report.length; start += step)
    yield decoder.decode(report.subarray(start, start + step), { stream: true })
  yield decoder.decode()
}

function testName(tag: SaxesTagPlain): string {
  const name = attribute(tag, 'name')
  const file = attribute(tag, 'file')
  const classname = attribute(tag, 'classname')
  if (file === '') return classname === '' ? name : `${classname}.${name}`
  if (!file.endsWith('.py'))
    return [file.replace(/^\/work\//, ''), classname, name].filter((part) => part !== '').join(' > ')
  const module = file.slice(0, -'.py'.length).replaceAll('/', '.')
  const within =
    classname === module ? '' : classname.startsWith(`${module}.`) ? classname.slice(module.length + 1) : ''
  return [file, ...within.split('.').filter((part) => part !== ''), name].join('::')
}

function attribute(tag: SaxesTagPlain, name: string): string {
  return tag.attributes[name] ?? ''
}

function worse(outcome: TestOutcome, child: string): TestOutcome {
  if (child === 'failure' || child === 'error') return 'failed'
  return child === 'skipped' && outcome === 'passed' ? 'skipped' : outcome
}
