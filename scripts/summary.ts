/** Reads the records of a run and prints what each item did, the verified branch, its commits, and how to review it. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

interface Line {
  kind: string
  item?: string
  attempt?: number
  [field: string]: unknown
}

const lines = readFileSync(process.argv[2] ?? '', 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Line)
const last = (kind: string, item?: string) =>
  lines.findLast((line) => line.kind === kind && (item === undefined || line.item === item))
const text = (value: unknown) => String(value ?? '')
const run = last('run')
const delivery = last('delivery')
if (run === undefined || delivery === undefined) {
  process.stderr.write('summary: these records hold no delivery\n')
  process.exit(1)
}

const out: string[] = ['', 'What each item did']
for (const { item, title } of lines.filter(({ kind }) => kind === 'item')) {
  const patch = last('patch', item)
  const files = (patch?.['files'] as { path: string }[] | undefined) ?? []
  const proof = last('regression', item)?.['verdict'] === 'proven' ? ', its test fails without the fix' : ''
  out.push(`  ${text(item)}  ${text(title)}`)
  out.push(
    `     wave ${text(last('item', item)?.['wave'])}; ${counted(patch?.['tests'])}${proof}; secrets: ${text(last('scan', item)?.['verdict'])}; merge: ${text(last('merge', item)?.['outcome'])}`,
  )
  out.push(`     ${files.map(({ path }) => path).join('  ')}`)
}
const verification = last('verification')
const branch = text(delivery['ref']).replace('refs/heads/', '')
const repo = text(run['repo'])
const range = `${text(run['base']).slice(0, 10)}..${branch}`
out.push(
  '',
  `Verified branch ${branch}`,
  `  the whole suite on ${text(verification?.['head']).slice(0, 10)}, offline: ${counted(verification?.['result'])}`,
  '',
)
out.push(`git log --oneline ${range}`)
const log = execFileSync('git', ['-C', repo, 'log', '--oneline', range], { encoding: 'utf8' })
out.push(
  ...log
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`),
  '',
  'Review it with',
  `  git -C ${repo} diff ${range}`,
  '',
)
process.stdout.write(out.join('\n'))

function counted(result: unknown): string {
  const { verdict, tests } = (result ?? {}) as { verdict?: string; tests?: Record<string, string> | null }
  if (tests === null || tests === undefined) return `tests ${text(verdict)}`
  return `${Object.values(tests).filter((outcome) => outcome === 'passed').length} of ${Object.keys(tests).length} tests passed`
}
