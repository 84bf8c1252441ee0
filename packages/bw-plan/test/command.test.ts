import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { schemas } from '@buildwave/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { itemsOf, makeScene, plan, type Scene, type SceneOptions } from './scene.ts'

const text = `# Plan

- [ ] 1. Add a parser in \`src/parse.py\`
- [ ] 2. Fix the printer in \`src/print.py\`
- [ ] 3. Join both in \`src/main.py\` (depends on 1, 2)
- [x] 4. Tidy \`src/a.py\`
`

let scene: Scene | undefined
afterEach(() => {
  vi.unstubAllEnvs()
  scene?.remove()
})

function sceneWith(options: SceneOptions = {}): Scene {
  scene = makeScene({ ...options, files: { 'PLAN.md': text, ...options.files } })
  return scene
}

describe('bw-plan writes', () => {
  it('a run, its items in wave order with the finished last, and an end, all as the schemas have it', async () => {
    const here = sceneWith()
    const answer = await plan(here, ['PLAN.md'])
    expect(answer.status).toBe(0)
    expect(answer.records.map(({ kind, id, wave }) => [kind, id, wave])).toEqual([
      ['run', undefined, undefined],
      ['item', '1', 1],
      ['item', '2', 1],
      ['item', '3', 2],
      ['item', '4', null],
      ['end', undefined, undefined],
    ])
    for (const record of answer.records) {
      const schema = schemas[record['kind'] as keyof typeof schemas]
      expect(schema.safeParse(record).error).toBeUndefined()
      expect(record['run']).toMatch(/^plan-[0-9a-f]{8}$/)
    }
    expect(answer.records[0]).toMatchObject({
      repo: here.dir,
      base: here.git('rev-parse', 'HEAD').trim(),
      branch: 'main',
      identity: { name: 'Ada', email: 'ada@example.com' },
      test: 'python3 -m pytest -q',
      testFrom: 'pytest.ini',
      maxParallel: 3,
      plan: 'PLAN.md',
    })
    expect(itemsOf(answer)[2]).toMatchObject({
      after: ['1', '2'],
      waitsFor: [
        { item: '1', reason: 'dependency' },
        { item: '2', reason: 'dependency' },
      ],
    })
  })

  it('the same bytes each time, and nothing in the repository', async () => {
    const here = sceneWith()
    const before = here.fingerprint()
    const first = await plan(here, ['PLAN.md'])
    const second = await plan(here, ['PLAN.md'])
    expect(second).toEqual(first)
    expect(here.fingerprint()).toBe(before)
  })

  it('another run id for another plan, base or choice', async () => {
    const here = sceneWith()
    const runOf = async (...argv: string[]) => (await plan(here, argv)).records[0]?.['run']
    const first = await runOf('PLAN.md')
    const chosen = await runOf('PLAN.md', '1')
    here.git('commit', '-q', '--allow-empty', '-m', 'Next')
    const moved = await runOf('PLAN.md')
    here.write('PLAN.md', `${text}\n`)
    const edited = await runOf('PLAN.md')
    expect(new Set([first, chosen, moved, edited]).size).toBe(4)
    expect(await runOf('PLAN.md', '--run', 'mine')).toBe('mine')
  })

  it('a run id of its own for a plan whose name has a dash where it is cut', async () => {
    const name = `${'a'.repeat(59)}-${'b'.repeat(20)}.md`
    const answer = await plan(sceneWith({ files: { [name]: text } }), [name])
    expect(answer).toMatchObject({ status: 0 })
    expect(answer.records[0]?.['run']).toMatch(/^a{59}-[0-9a-f]{8}$/)
  })

  it('the waves as text on a terminal, records there with --json', async () => {
    const here = sceneWith()
    const shown = await plan(here, ['PLAN.md'], { isTTY: true })
    expect(shown.stdout).toContain('wave 2\n  3   Join both in src/main.py')
    expect(shown.stdout).toContain('waits for 1 (dependency), 2 (dependency)')
    expect(shown.stdout).toContain('done: 4')
    const json = await plan(here, ['PLAN.md', '--json'], { isTTY: true })
    expect(JSON.parse(json.stdout.split('\n')[0] ?? '')).toMatchObject({ kind: 'run' })
  })

  it('a plan from stdin', async () => {
    const answer = await plan(sceneWith(), ['-'], { stdin: text })
    expect(itemsOf(answer).map(({ id }) => id)).toEqual(['1', '2', '3', '4'])
  })

  it('no credential that the plan holds', async () => {
    const here = sceneWith()
    const token = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
    const answer = await plan(here, ['-'], { stdin: `- [ ] 1. Use ${token} in \`src/x.py\`\n` })
    expect(answer.status).toBe(0)
    expect(`${answer.stdout}${answer.stderr}`).not.toContain(token)
    expect(answer.stderr).toContain("-:1: warning: item '1' holds a credential, which is masked")
  })

  it('control characters of a plan never to the terminal', async () => {
    const here = sceneWith()
    const odd = `- [ ] 1. Clear \u001b[2J the screen in \`src/x.py\`\n- [ ] 2. Same (depends on 9\u001b[31m)\n`
    const shown = await plan(here, ['-'], { stdin: odd, isTTY: true })
    expect(`${shown.stdout}${shown.stderr}`).not.toContain('\u001b')
  })
})

describe('bw-plan takes from its command line', () => {
  it('the chosen items alone, and tells of what they leave behind', async () => {
    const answer = await plan(sceneWith(), ['PLAN.md', '3', '2'])
    expect(itemsOf(answer).map(({ id, wave, after }) => [id, wave, after])).toEqual([
      ['2', 1, []],
      ['3', 2, ['2']],
    ])
    expect(answer.stderr).toContain("PLAN.md:5: warning: item '3' depends on '1', which is open and not chosen")
  })

  it('files, order and kind of an item, over what the plan says', async () => {
    const flags = ['--owns', '2=src/{parse,x}.py,docs/', '--after', '3=', '--type', '1=bugfix']
    const items = itemsOf(await plan(sceneWith(), ['PLAN.md', ...flags]))
    expect(items.map(({ id, wave, type }) => [id, wave, type])).toEqual([
      ['1', 1, 'bugfix'],
      ['3', 1, 'feature'],
      ['2', 2, 'bugfix'],
      ['4', null, 'feature'],
    ])
    expect(items[2]).toMatchObject({
      owns: ['src/{parse,x}.py', 'docs/'],
      ownsFrom: 'option',
      waitsFor: [{ item: '1', reason: 'file', witness: 'src/parse.py' }],
    })
  })

  it('shared files, beside those of the configuration', async () => {
    const config = JSON.stringify({ test: 'make check', shared: ['src/list.py'], junit: 'report.xml' })
    const here = sceneWith({ files: { '.claude/buildwave.json': config } })
    const stdin =
      '- [ ] 1. In `src/list.py` and `src/b.py`\n- [ ] 2. In `src/list.py`, `src/more.py` and `src/c.py`\n- [ ] 3. In `src/more.py`\n'
    const answer = await plan(here, ['-', '--shared', 'src/more.py'], { stdin })
    expect(itemsOf(answer).map(({ wave }) => wave)).toEqual([1, 1, 1])
    expect(answer.records[0]).toMatchObject({
      test: 'make check',
      testFrom: 'config',
      shared: ['src/list.py', 'src/more.py'],
      junit: 'report.xml',
    })
  })

  it('records edited with jq, to place them anew', async () => {
    const here = sceneWith()
    const first = await plan(here, ['PLAN.md'])
    const edited = first.records.map((record) =>
      record['id'] === '2' ? { ...record, owns: ['src/parse.py'] } : record,
    )
    const stdin = edited.map((record) => JSON.stringify(record)).join('\n')
    const answer = await plan(here, ['--from', '-'], { stdin })
    expect(itemsOf(answer).map(({ id, wave }) => [id, wave])).toEqual([
      ['1', 1],
      ['2', 2],
      ['3', 3],
      ['4', null],
    ])
    expect(answer.records[0]).toEqual(first.records[0])
    expect(await plan(here, ['--from', '-'], { stdin: first.stdout })).toMatchObject({ stdout: first.stdout })
  })

  it('corrections of records too, and tells of a cycle that an edit has made', async () => {
    const here = sceneWith({ files: { '.claude/buildwave.json': '{"owns":{"1":["lib/"],"99":["x/"]}}' } })
    const first = await plan(here, ['PLAN.md'])
    expect(itemsOf(first)[0]).toMatchObject({ owns: ['lib/'], ownsFrom: 'option' })
    const again = await plan(here, ['--from', '-', '--owns', '1=src/print.py'], { stdin: first.stdout })
    expect(itemsOf(again).map(({ id, wave }) => [id, wave])).toEqual([
      ['1', 1],
      ['2', 2],
      ['3', 3],
      ['4', null],
    ])
    const stdin = first.stdout
      .replace('"item":"1","id":"1"', '"item":"1","id":"1","x":0')
      .replace('"after":[]', '"after":["3"]')
    const cycle = await plan(here, ['--from', '-'], { stdin })
    expect(cycle).toMatchObject({ status: 1, stdout: '' })
    expect(cycle.stderr).toBe('-:3: error: the items wait for each other: 1 -> 3 -> 1\n')
  })

  it('records without one that another waits for as an error, unless --after says otherwise', async () => {
    const here = sceneWith()
    const first = await plan(here, ['PLAN.md'])
    const stdin = first.records.flatMap((one) => (one['id'] === '1' ? [] : [JSON.stringify(one)])).join('\n')
    const refused = await plan(here, ['--from', '-'], { stdin })
    expect(refused).toMatchObject({ status: 1, stdout: '' })
    expect(refused.stderr).toBe(
      "-:5: error: item '3' depends on '1', which is not among these records (--after 3= says otherwise)\n",
    )
    const mended = await plan(here, ['--from', '-', '--after', '3=2'], { stdin })
    expect(itemsOf(mended).map(({ id, wave }) => [id, wave])).toEqual([
      ['2', 1],
      ['3', 2],
      ['4', null],
    ])
  })

  it('records, to the same records, whatever order the plan was in', async () => {
    const here = sceneWith()
    const stdin =
      '## Phase 1\n- [ ] 1. In `a.py` (depends on 3)\n- [ ] 2. In `a.py`\n- [ ] 3. In `c.py`\n## Phase 2\n- [ ] 4. Any\n- [x] 5. In `d.py`\n'
    const first = await plan(here, ['-'], { stdin })
    expect(itemsOf(first).map(({ id }) => id)).toEqual(['2', '3', '1', '4', '5'])
    expect((await plan(here, ['--from', '-'], { stdin: first.stdout })).stdout).toBe(first.stdout)
    const prd = JSON.stringify({
      userStories: [
        { id: 'B', title: 'Second in b.py', priority: 2, passes: false },
        { id: 'A', title: 'First in a.py', priority: 1, passes: false },
      ],
    })
    const story = await plan(here, ['-'], { stdin: prd })
    expect(itemsOf(story).map(({ id, wave }) => [id, wave])).toEqual([
      ['A', 1],
      ['B', 2],
    ])
    expect((await plan(here, ['--from', '-'], { stdin: story.stdout })).stdout).toBe(story.stdout)
  })

  it('--lint, to say what is wrong and write nothing', async () => {
    const here = sceneWith()
    expect(await plan(here, ['--lint', 'PLAN.md'])).toMatchObject({ status: 0, stdout: '', stderr: '' })
    const answer = await plan(here, ['--lint', '-'], { stdin: '- [ ] 1. A\n- [ ] 1. B (depends on 7)\n' })
    expect(answer).toMatchObject({ status: 1, stdout: '' })
    expect(answer.stderr).toBe(
      "-:2: error: id '1' is used twice, first at line 1\n-:2: error: item '1' depends on '7', which is not in this plan\n",
    )
  })

  it('--unknown=error, to have every item name its files', async () => {
    const answer = await plan(sceneWith(), ['-', '--unknown', 'error'], { stdin: '- [ ] 1. A\n- [ ] 2. In `b.py`\n' })
    expect(answer).toMatchObject({ status: 1, stdout: '', stderr: "-:1: error: item '1' names no file\n" })
  })

  it('what each rule costs', async () => {
    const stdin =
      '## Phase 1\n- [ ] 1. In `a.py`\n## Phase 2\n- [ ] 2. In `b.py`\n- [ ] 3. Anything\n- [ ] 4. In `c.py`\n'
    const { stderr } = await plan(sceneWith(), ['-'], { stdin })
    expect(stderr).toContain(
      '-:5: warning: 1 item names no file (3): +2 waves; name its files or pass --unknown=parallel',
    )
    expect(stderr).toContain('each phase waits for the one before (--no-phases): +1 wave')
  })
})

describe('bw-plan refuses', () => {
  it.each([
    [[], 'bw-plan: no plan is named\nhint: bw-plan PLAN.md, or bw-plan - to read it from stdin\n'],
    [['nope.md'], "bw-plan: cannot open 'nope.md'\nhint: name an existing file, or - for stdin\n"],
    [['src'], "bw-plan: 'src' is a folder\nhint: name the plan inside it\n"],
    [['PLAN.md', '9'], "bw-plan: the plan has no item '9'\nhint: its items are 1, 2, 3, 4\n"],
    [['PLAN.md', '--run', 'Not/That'], "bw-plan: 'Not/That' cannot name a run\n"],
    [['PLAN.md', '--unknown', 'x'], "bw-plan: '--unknown' is one of alone, parallel, error, not 'x'\n"],
    [['PLAN.md', '--owns', '1'], "bw-plan: '--owns' needs ITEM=VALUE, not '1'\n"],
    [['PLAN.md', '--owns', '1=../x'], "bw-plan: '--owns': '../x' lies outside the repository\n"],
    [['PLAN.md', '--base', 'nowhere'], "bw-plan: cannot read 'nowhere'\n"],
  ])('%j', async (argv, message) => {
    const answer = await plan(sceneWith(), argv)
    expect(answer).toMatchObject({ status: 1, stdout: '' })
    expect(answer.stderr).toContain(message)
  })

  it('a repository without a commit, and a folder without a repository', async () => {
    const here = sceneWith({ commit: false })
    expect((await plan(here, ['PLAN.md'])).stderr).toContain('has no commit yet')
    const outside = join(here.dir, '..', 'outside')
    mkdirSync(outside)
    expect((await plan(here, ['-'], { stdin: text, cwd: outside })).stderr).toContain('is not in a git repository')
  })

  it('a project that does not say how it is tested', async () => {
    const here = sceneWith()
    here.git('rm', '-q', 'pytest.ini')
    here.git('commit', '-q', '-m', 'Drop')
    const answer = await plan(here, ['PLAN.md'])
    expect(answer).toMatchObject({ status: 1, stdout: '' })
    expect(answer.stderr).toContain(`cannot tell how '${here.dir}' is tested`)
    expect((await plan(here, ['PLAN.md', '--test', 'true'])).status).toBe(0)
  })

  it('a linked worktree', async () => {
    const here = sceneWith()
    const linked = join(here.dir, '..', 'linked')
    here.git('worktree', 'add', '-q', linked)
    expect((await plan(here, ['PLAN.md'], { cwd: linked })).stderr).toContain('is a linked worktree')
  })

  it('submodules, at the base and not only in the working tree', async () => {
    const here = sceneWith()
    const head = here.git('rev-parse', 'HEAD').trim()
    here.git('update-index', '--add', '--cacheinfo', `160000,${head},libs/sub`)
    here.git('commit', '-q', '-m', 'Add a submodule')
    const answer = await plan(here, ['PLAN.md'])
    expect(answer.status).toBe(1)
    expect(answer.stderr).toContain("has submodules: 'libs/sub'")
    expect((await plan(here, ['PLAN.md', '--base', head])).status).toBe(0)
  })

  it('a branch in the way of the result', async () => {
    const here = sceneWith()
    here.git('branch', 'builders')
    const answer = await plan(here, ['PLAN.md', '--run', 'r1'])
    expect(answer).toMatchObject({ status: 1, stdout: '' })
    expect(answer.stderr).toContain("'refs/heads/builders' stands in the way of 'refs/heads/builders/r1'")
  })

  it('protected paths, without touching them', async () => {
    const here = sceneWith()
    const env = { BW_PROTECTED_PATHS: '/protected//data/' }
    for (const argv of [
      ['/protected/data/PLAN.md'],
      ['PLAN.md', '--repo', '/protected/data/repo'],
      ['--from', '/protected/data/x'],
    ]) {
      const answer = await plan(here, argv, { env })
      expect(answer.status).toBe(1)
      expect(answer.stderr).toContain("under the protected path '/protected/data'")
    }
  })

  it('records that are none', async () => {
    const here = sceneWith()
    expect((await plan(here, ['--from', '-'], { stdin: '{"kind":"item","v":1}\n' })).stderr).toContain(
      'line 1: not a item record',
    )
    expect((await plan(here, ['--from', '-'], { stdin: '' })).stderr).toContain('the input has no item record')
  })
})

describe('bw-plan goes on', () => {
  it('without an identity, with a warning', async () => {
    const here = sceneWith({ identity: false })
    // The identity is asked for as the user's own git would, with the environment of this process.
    vi.stubEnv('HOME', here.env['HOME'])
    vi.stubEnv('XDG_CONFIG_HOME', here.env['HOME'])
    vi.stubEnv('GIT_CONFIG_GLOBAL', undefined)
    vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1')
    const answer = await plan(here, ['PLAN.md'])
    expect(answer.status).toBe(0)
    expect(answer.records[0]).toMatchObject({ identity: null })
    expect(answer.stderr).toContain('has no git identity')
  })

  it('with a detached head', async () => {
    const here = sceneWith()
    here.git('checkout', '-q', '--detach')
    expect((await plan(here, ['PLAN.md'])).records[0]).toMatchObject({ branch: null })
  })

  it('from the local head, whatever comes after', async () => {
    const here = sceneWith()
    const head = here.git('rev-parse', 'HEAD').trim()
    here.git('commit', '-q', '--allow-empty', '-m', 'Later')
    expect((await plan(here, ['PLAN.md', '--base', head])).records[0]).toMatchObject({ base: head })
  })
})
