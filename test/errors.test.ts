import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runPipe, type StageCall, wholePipe } from './support/pipeline.ts'
import { git, makeRepository, temporaryFolder } from './support/repository.ts'
import { makeSmallPlan } from './support/small-plan.ts'

const planArgs = ['PLAN.md', '--test', 'sh check.sh']

/** One stage alone, or a pipe whose last stage is looked at. */
async function run(
  stages: StageCall[],
  { cwd = temporaryFolder(), env = {} as Record<string, string>, stdin = '' } = {},
) {
  const state = join(temporaryFolder(), 'state')
  const result = await runPipe(stages, { cwd, stdin, env: { BW_STATE_DIR: state, HOME: temporaryFolder(), ...env } })
  const last = stages.at(-1)?.tool ?? ''
  const lines = (result.stderr[last] ?? '').split('\n').filter((line) => line !== '' && !line.includes('warning:'))
  return { status: result.status[last], lines, stdout: result.stdout, state, tool: last, all: result }
}

/** One clear line that begins with the tool's name, then at most a hint; exit 1; nothing on stdout but `end`. */
function expectRefusal({ status, lines, tool }: Awaited<ReturnType<typeof run>>, message: string | RegExp): void {
  expect([status, lines[0]], lines.join('\n')).toEqual([1, expect.stringMatching(message)])
  expect(lines[0]).toMatch(new RegExp(`^(${tool}:|[^ ]+:\\d+:|[^ ]+: error:)`))
  expect(
    lines.slice(1).every((line) => line.startsWith('hint: ')),
    lines.join('\n'),
  ).toBe(true)
  expect(lines.length).toBeLessThanOrEqual(2)
}

const stages = wholePipe.filter((tool) => tool !== 'bw-plan')
const argsOf = (tool: string) => (tool === 'bw-spawn' ? ['--agent', 'command', '--command', 'true'] : [])

describe.each(wholePipe)('%s', (tool) => {
  test('refuses an unknown flag', async () =>
    expectRefusal(await run([{ tool, args: ['--bogus'] }]), "unknown flag '--bogus'"))
})

describe.each(stages)('%s', (tool) => {
  test('refuses an empty stdin and leaves nothing behind', async () => {
    const result = await run([{ tool, args: argsOf(tool) }])
    expectRefusal(result, 'no records on stdin')
    expect(existsSync(result.state)).toBe(false)
  })
  test('refuses a line that is not JSON', async () =>
    expectRefusal(await run([{ tool, args: argsOf(tool) }], { stdin: 'hello\n' }), 'line 1: not JSON'))
  test('refuses a run that it does not know', async () => {
    expectRefusal(await run([{ tool, args: ['--run', 'none-00000000', ...argsOf(tool)] }]), "no run 'none-00000000'")
  })
})

describe('bw-plan', () => {
  const plan = (cwd: string, ...args: string[]) =>
    run([{ tool: 'bw-plan', args: args.length === 0 ? planArgs : args }], { cwd })

  test('refuses a plan that is not there', async () =>
    expectRefusal(await plan(makeSmallPlan().repo, 'NOPE.md'), 'NOPE.md'))
  test('refuses a call without a plan', async () =>
    expectRefusal(await run([{ tool: 'bw-plan' }], { cwd: makeSmallPlan().repo }), /plan/i))
  test('refuses a folder that is no repository', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'PLAN.md'), '- [ ] 1. Write `one.txt`\n')
    expectRefusal(await plan(folder), /repository/)
  })
  test('refuses a repository without a commit', async () => {
    const folder = temporaryFolder()
    git(folder, 'init', '-q')
    writeFileSync(join(folder, 'PLAN.md'), '- [ ] 1. Write `one.txt`\n')
    expectRefusal(await plan(folder), /commit/)
  })
  test('refuses a plan without items, with the place', async () => {
    const { repo } = makeSmallPlan({ plan: ['# Nothing to do'] })
    const { status, lines, stdout } = await plan(repo)
    expect([status, stdout]).toEqual([1, ''])
    expect(lines.join('\n')).toMatch(/no item/)
  })
  test('refuses a repository whose test command cannot be told', async () => {
    const repo = makeRepository({ 'PLAN.md': '- [ ] 1. Write `one.txt`\n' })
    expectRefusal(await plan(repo, 'PLAN.md'), /test/)
  })
  test('refuses a linked worktree and a repository with submodules', async () => {
    const { repo } = makeSmallPlan()
    git(repo, 'worktree', 'add', '-q', '../linked')
    expectRefusal(await plan(join(repo, '..', 'linked')), /worktree/)
    const { repo: outer } = makeSmallPlan()
    git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repo, 'inner')
    git(outer, 'commit', '-q', '-m', 'Add inner')
    expectRefusal(await plan(outer), /submodule/)
  })
  test('refuses a repository with a branch named builders, before anything is spent', async () => {
    const { repo } = makeSmallPlan()
    git(repo, 'branch', 'builders')
    expectRefusal(await plan(repo), /builders/)
  })
  test('takes a detached head', async () => {
    const { repo } = makeSmallPlan()
    git(repo, 'checkout', '-q', '--detach')
    expect((await plan(repo)).status).toBe(0)
  })
})

describe('a stage that needs', () => {
  const spawnPipe: StageCall[] = [
    { tool: 'bw-plan', args: planArgs },
    { tool: 'bw-spawn', args: argsOf('bw-spawn') },
  ]

  test('an engine says that none answers', async () => {
    const { repo } = makeSmallPlan()
    expectRefusal(
      await run(spawnPipe, { cwd: repo, env: { DOCKER_HOST: 'unix:///nonexistent/engine.sock' } }),
      'no container engine answers',
    )
  })
  test('an image says which one is missing', async () => {
    const { repo } = makeSmallPlan()
    const [plan, spawn] = spawnPipe as [StageCall, StageCall]
    const withImage = { ...plan, args: [...planArgs, '--image', 'buildwave/none'] }
    expectRefusal(await run([withImage, spawn], { cwd: repo }), 'buildwave/none')
  })
  test('an identity says how to set one, and bw-plan has warned', async () => {
    const { repo } = makeSmallPlan()
    for (const name of ['user.name', 'user.email']) git(repo, 'config', '--unset', name)
    git(repo, 'config', 'user.useConfigOnly', 'true')
    const result = await run(spawnPipe, { cwd: repo })
    expectRefusal(result, /identity/)
    expect(result.all.stderr['bw-plan']).toMatch(/warning:.*identity/)
  })
  test('a test command that can run says what it printed', async () => {
    const { repo } = makeSmallPlan()
    const [, spawn] = spawnPipe as [StageCall, StageCall]
    const { status, lines } = await run([{ tool: 'bw-plan', args: ['PLAN.md', '--test', 'no-such-program'] }, spawn], {
      cwd: repo,
    })
    expect([status, lines[0]]).toEqual([1, expect.stringContaining("the test command 'no-such-program' cannot be run")])
  })
  test('a configuration refuses an unknown key', async () => {
    const { repo } = makeSmallPlan({ files: { '.claude/buildwave.json': '{"tests":"make"}' } })
    expectRefusal(await run([{ tool: 'bw-plan', args: planArgs }], { cwd: repo }), 'tests')
  })
})

describe('a protected path is refused', () => {
  test('as the repository of a plan, and of a run that was planned before', async () => {
    const { repo } = makeSmallPlan()
    const env = { BW_PROTECTED_PATHS: repo }
    expectRefusal(await run([{ tool: 'bw-plan', args: planArgs }], { cwd: repo, env }), /protected path/)
    const planned = await run([{ tool: 'bw-plan', args: planArgs }], { cwd: repo })
    expectRefusal(await run([{ tool: 'bw-baseline' }], { env, stdin: planned.stdout }), /repository .* protected path/)
  })
  test('as the state folder', async () => {
    const { repo } = makeSmallPlan()
    const planned = await run([{ tool: 'bw-plan', args: planArgs }], { cwd: repo })
    const state = join(temporaryFolder(), 'state')
    const env = { BW_STATE_DIR: state, BW_PROTECTED_PATHS: state }
    expectRefusal(
      await run([{ tool: 'bw-baseline' }], { env, stdin: planned.stdout }),
      /state folder .* protected path/,
    )
    expect(existsSync(state)).toBe(false)
  })
})

test('a state folder inside the repository is refused, before anything is put there', async () => {
  const { repo } = makeSmallPlan()
  const planned = await run([{ tool: 'bw-plan', args: planArgs }], { cwd: repo })
  for (const inside of ['state', '.git/state']) {
    const env = { BW_STATE_DIR: join(repo, inside) }
    expectRefusal(await run([{ tool: 'bw-baseline' }], { env, stdin: planned.stdout }), 'is inside the repository')
    expect(existsSync(join(repo, inside))).toBe(false)
  }
})

test('a branch that this state folder knows nothing of is refused before anything is built', async () => {
  const { repo } = makeSmallPlan()
  const planned = await run([{ tool: 'bw-plan', args: planArgs }], { cwd: repo })
  const name = String(JSON.parse(planned.stdout.split('\n')[0] ?? '').run)
  git(repo, 'branch', `builders/${name}`)
  const spawn = { tool: 'bw-spawn', args: argsOf('bw-spawn') }
  expectRefusal(await run([spawn], { stdin: planned.stdout }), `'builders/${name}' is in the repository`)
})
