import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type PipeResult, root, runPipe, type StageCall, scriptPipe } from './support/pipeline.ts'
import { differences, fingerprint, git, makeMathkit, temporaryFolder } from './support/repository.ts'
import { makeSmallPlan } from './support/small-plan.ts'

const scripts = join(root, 'examples', 'mathkit-script')
const branchOf = ({ records }: PipeResult) => String(records.findLast(({ kind }) => kind === 'delivery')?.['ref'])
const ofKind = ({ records }: PipeResult, kind: string) => records.filter((record) => record.kind === kind)
const allGreen = (result: PipeResult) =>
  expect(Object.values(result.status), JSON.stringify(result.stderr)).toEqual(Object.keys(result.status).map(() => 0))

describe('the whole pipe on mathkit', () => {
  const repo = makeMathkit()
  const state = join(temporaryFolder('bw state, ü '), 'state')
  const env = { BW_STATE_DIR: state, HOME: temporaryFolder() }
  const before = fingerprint(repo)
  const base = git(repo, 'rev-parse', 'HEAD')
  let first: PipeResult

  beforeAll(async () => {
    first = await runPipe(scriptPipe(scripts), { cwd: repo, env })
  })

  test('every stage ends with 0 and every item is merged', () => {
    allGreen(first)
    expect(
      ofKind(first, 'merge')
        .map(({ item, outcome }) => [item, outcome])
        .sort(),
    ).toEqual([
      ['1', 'applied'],
      ['2', 'applied'],
      ['3', 'applied'],
      ['4', 'applied'],
    ])
  })

  test('the branch holds one commit an item on the base, with the title as its message, by the user', () => {
    const log = git(repo, 'log', '--format=%an <%ae> %cn|%s|%b', `${base}..${branchOf(first)}`)
      .split('\n')
      .filter((line) => line !== '')
    const titles = ofKind(first, 'item').map(({ title }) => `Test User <test@example.com> Test User|${String(title)}|`)
    expect(new Set(log)).toEqual(new Set(titles))
    expect(git(repo, 'merge-base', base, branchOf(first))).toBe(base)
  })

  test('what is delivered is what was verified', () => {
    expect(git(repo, 'rev-parse', branchOf(first))).toBe(ofKind(first, 'verification').at(-1)?.['head'])
    expect(ofKind(first, 'verification').at(-1)?.['verdict']).toBe('green')
  })

  test('both exports of the shared file are there, in plan order', () => {
    const shared = git(repo, 'show', `${branchOf(first)}:mathkit/__init__.py`)
    expect(shared.split('\n').filter((line) => line.includes('import'))).toEqual([
      'from mathkit.stats import mean',
      'from mathkit.primes import is_prime, primes_up_to',
      'from mathkit.gcdlcm import gcd, lcm',
    ])
  })

  test('the bug fix is proven by its own test', () => {
    expect(ofKind(first, 'regression')).toEqual([expect.objectContaining({ item: '3', verdict: 'proven' })])
  })

  test("the user's repository gained objects and one ref, and nothing else differs by a byte", () => {
    const changed = differences(before, fingerprint(repo))
    const refs = changed.filter((name) => !name.startsWith('./.git/objects'))
    const run = branchOf(first).replace('refs/heads/builders/', '')
    const allowed = ['./.git/refs/heads', './.git/refs/heads/builders', `./.git/refs/heads/builders/${run}`]
    expect(refs.filter((name) => !allowed.includes(name))).toEqual([])
    const gone = [...before.keys()].filter((name) => !fingerprint(repo).has(name))
    expect(gone).toEqual([])
  })

  test('the same command line again does nothing twice and exits 0', async () => {
    const journal = join(state, 'runs', String(first.records[0]?.['run']), 'journal.ndjson')
    const acted = () =>
      readFileSync(journal, 'utf8')
        .split('\n')
        .filter((line) => /"kind":"(builder|build|patch|scan|merge|verification|intent|baseline)"/.test(line)).length
    const count = acted()
    const second = await runPipe(scriptPipe(scripts), { cwd: repo, env })
    allGreen(second)
    expect(acted()).toBe(count)
    expect(branchOf(second)).toBe(branchOf(first))
  })
})

describe('the pipe in pieces', () => {
  const spawnArgs = (scripts: string) => ['--agent', 'script', '--script', scripts]
  const buildWave = (scripts: string): StageCall[] => [
    { tool: 'bw-plan', args: ['PLAN.md', '--test', 'sh check.sh'] },
    { tool: 'bw-spawn', args: spawnArgs(scripts) },
    { tool: 'bw-watch' },
  ]
  const mergeWave: StageCall[] = [{ tool: 'bw-collect' }, { tool: 'bw-scan' }, { tool: 'bw-merge' }]

  test('two lines repeated until nothing is deferred give the same tree as the single pipe', async () => {
    const whole = makeSmallPlan()
    const single = await runPipe(scriptPipe(whole.scripts, { planArgs: ['--test', 'sh check.sh'] }), {
      cwd: whole.repo,
      env: whole.env,
    })
    allGreen(single)

    const parts = makeSmallPlan()
    let rounds = 0
    let merged = ''
    for (let pending = true; pending && rounds < 5; rounds++) {
      const built = await runPipe(buildWave(parts.scripts), { cwd: parts.repo, env: parts.env })
      pending = built.records.some(({ kind }) => kind === 'deferred')
      merged = (await runPipe(mergeWave, { cwd: parts.repo, env: parts.env, stdin: built.stdout })).stdout
    }
    const last = await runPipe([{ tool: 'bw-verify' }, { tool: 'bw-deliver' }], {
      cwd: parts.repo,
      env: parts.env,
      stdin: merged,
    })
    allGreen(last)
    expect(rounds).toBe(2)
    const treeOf = (repo: string, result: PipeResult) => git(repo, 'rev-parse', `${branchOf(result)}^{tree}`)
    expect(treeOf(parts.repo, last)).toBe(treeOf(whole.repo, single))
  })

  test('every stage runs from the journal alone', async () => {
    const { repo, env, scripts } = makeSmallPlan()
    const planned = await runPipe([{ tool: 'bw-plan', args: ['PLAN.md', '1', '2', '--test', 'sh check.sh'] }], {
      cwd: repo,
      env,
    })
    await runPipe([{ tool: 'bw-baseline' }], { cwd: repo, env, stdin: planned.stdout })
    const run = String(planned.records[0]?.['run'])
    for (const tool of ['bw-spawn', 'bw-watch', 'bw-collect', 'bw-scan', 'bw-merge', 'bw-verify', 'bw-deliver']) {
      const args = ['--run', run, ...(tool === 'bw-spawn' ? spawnArgs(scripts) : [])]
      allGreen(await runPipe([{ tool, args }], { cwd: repo, env }))
    }
    expect(git(repo, 'ls-tree', '--name-only', `builders/${run}`).split('\n')).toEqual([
      'PLAN.md',
      'check.sh',
      'one.txt',
      'start.txt',
      'two.txt',
    ])
  })

  test('an item record edited with jq on the way is what is built', async () => {
    const { repo, env, scripts } = makeSmallPlan()
    const planned = await runPipe([{ tool: 'bw-plan', args: ['PLAN.md', '1', '--test', 'sh check.sh'] }], {
      cwd: repo,
      env,
    })
    const edited = planned.stdout.replaceAll('Write one.txt', 'Write the first file')
    expect(edited).not.toBe(planned.stdout)
    const rest = scriptPipe(scripts).slice(1)
    const result = await runPipe(rest, { cwd: repo, env, stdin: edited })
    allGreen(result)
    expect(git(repo, 'log', '-1', '--format=%s', branchOf(result))).toBe('Write the first file')
  })
})
