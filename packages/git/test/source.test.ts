import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseGitVersion } from '../src/git-version.ts'
import { inspectSource, listTracked, readFileAt, requireGit, resolveCommit } from '../src/index.ts'
import { commitFiles, difference, fingerprint, git, scratchFolder, userRepo } from './scratch.ts'

function withEnvironment(variables: Record<string, string>): void {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  onTestFinished(() => {
    process.env = before
  })
}

test('a repository is described from any folder inside it, and stays as it was', async () => {
  const repo = userRepo({ 'src/deep/a.txt': 'x\n', 'b.txt': 'y\n' })
  writeFileSync(join(repo, 'b.txt'), 'changed and not committed\n')
  const before = fingerprint(repo)
  const source = await inspectSource(join(repo, 'src', 'deep'))
  expect(source).toMatchObject({
    top: repo,
    gitDir: join(repo, '.git'),
    head: git(repo, 'rev-parse', 'HEAD'),
    branch: 'main',
    linkedWorktree: false,
    submodules: [],
    shallow: false,
    objectFormat: 'sha1',
  })
  await listTracked(source, source.head ?? '')
  expect(difference(before, fingerprint(repo))).toEqual([])
})

test('no commit, a detached head, a shallow clone and a linked worktree are told apart', async () => {
  const repo = userRepo()
  const second = commitFiles(repo, { 'b.txt': 'b\n' }, 'second')
  const empty = join(scratchFolder(), 'empty')
  mkdirSync(empty)
  git(empty, 'init', '--quiet')
  expect(await inspectSource(empty)).toMatchObject({ head: null, submodules: [] })

  const shallow = join(scratchFolder(), 'shallow')
  git('/', 'clone', '--quiet', '--depth=1', `file://${repo}`, shallow)
  git(shallow, 'checkout', '--quiet', '--detach')
  expect(await inspectSource(shallow)).toMatchObject({ head: second, branch: null, shallow: true })

  const linked = join(scratchFolder(), 'linked')
  git(repo, 'worktree', 'add', '--quiet', linked)
  expect(await inspectSource(linked)).toMatchObject({ linkedWorktree: true })
})

test('submodules are found by their path', async () => {
  const repo = userRepo()
  const inner = userRepo()
  git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'libs/s p')
  git(repo, 'commit', '--quiet', '-m', 'with a submodule')
  expect((await inspectSource(repo)).submodules).toEqual(['libs/s p'])
})

test('a folder that is no repository is said so', async () => {
  await expect(inspectSource(scratchFolder())).rejects.toMatchObject({ code: 'not-a-repository' })
  await expect(inspectSource('/does/not/exist')).rejects.toMatchObject({ code: 'no-such-folder' })
})

test.skipIf(process.getuid?.() !== 0)(
  'the repository of another user is read without HOME and without trusting it (needs root)',
  async () => {
    const repo = userRepo()
    git(repo, 'config', 'user.name', 'Grace')
    git(repo, 'config', 'user.email', 'grace@example.org')
    execFileSync('chown', ['-R', '12345:12345', repo])
    const before = { ...process.env }
    onTestFinished(() => {
      process.env = before
    })
    delete process.env['HOME']
    const source = await inspectSource(repo)
    expect(source.identity).toEqual({ name: 'Grace', email: 'grace@example.org' })
    expect(await listTracked(source, source.head ?? '')).toEqual(['a.txt'])
  },
)

test.skipIf(process.getuid?.() !== 0)(
  "a user without passwd entry and HOME reads another user's repository (needs root)",
  () => {
    const repo = userRepo()
    git(repo, 'config', 'user.name', 'Grace')
    git(repo, 'config', 'user.email', 'grace@example.org')
    chmodSync(join(repo, '..'), 0o755)
    const door = join(import.meta.dirname, '..', 'src', 'index.ts')
    const script = `import { inspectSource, listTracked } from '${door}'
    const source = await inspectSource('${repo}')
    console.log(source.identity.email, await listTracked(source, source.head))`
    const found = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      uid: 23456,
      gid: 23456,
      cwd: '/',
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    })
    expect(found.trim()).toBe("grace@example.org [ 'a.txt' ]")
  },
)

test('the identity is the one git would commit with, or none when git would refuse', async () => {
  const repo = userRepo()
  const home = scratchFolder()
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tuseConfigOnly = true\n')
  withEnvironment({ HOME: home, XDG_CONFIG_HOME: join(home, 'none') })
  expect((await inspectSource(repo)).identity).toBeNull()
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tuseConfigOnly = true\n\tname = Ö <b>\n\temail = o@example.org\n')
  expect((await inspectSource(repo)).identity).toEqual({ name: 'Ö b', email: 'o@example.org' })
})

test('a caller whose environment points at another repository is not followed', async () => {
  const repo = userRepo()
  const other = userRepo({ 'other.txt': 'x\n' })
  withEnvironment({ GIT_DIR: join(other, '.git'), GIT_INDEX_FILE: '/nowhere', GIT_WORK_TREE: other })
  const source = await inspectSource(repo)
  expect(source.gitDir).toBe(join(repo, '.git'))
  expect(await listTracked(source, source.head ?? '')).toEqual(['a.txt'])
})

test('names of commits resolve, options and nonsense do not', async () => {
  const repo = userRepo()
  git(repo, 'tag', '-a', 'v1', '-m', 'annotated')
  const source = await inspectSource(repo)
  expect(await resolveCommit(source, 'v1')).toBe(source.head)
  expect(await resolveCommit(source, 'main')).toBe(source.head)
  for (const rev of ['nope', '--all', '-h', 'HEAD:a.txt', '']) {
    await expect(resolveCommit(source, rev)).rejects.toMatchObject({ code: 'unknown-commit' })
  }
})

test('files are listed and read by the exact bytes of their names', async () => {
  const names = ['with space', 'tab\there', 'line\nbreak', '"quoted"', '-dash', 'ünï', ':(glob)*']
  const repo = userRepo(Object.fromEntries(names.map((name) => [name, `in ${name}\n`])))
  execFileSync('sh', ['-c', 'printf raw > "$(printf \'caf\\351\')"'], { cwd: repo })
  commitFiles(repo, {}, 'a name that is not UTF-8')
  const source = await inspectSource(repo)
  const head = source.head ?? ''
  expect(await listTracked(source, head)).toEqual(expect.arrayContaining([...names, 'caf\udce9']))
  for (const name of names) expect((await readFileAt(source, head, name))?.toString()).toBe(`in ${name}\n`)
  expect((await readFileAt(source, head, 'caf\udce9'))?.toString()).toBe('raw')
  expect(await readFileAt(source, head, 'absent\nname')).toBeNull()
})

test('a replacement ref of the user does not change what a commit holds', async () => {
  const repo = userRepo()
  const first = git(repo, 'rev-parse', 'HEAD')
  const second = commitFiles(repo, { 'b.txt': 'b\n' }, 'second')
  git(repo, 'replace', second, first)
  expect(await listTracked(await inspectSource(repo), second)).toEqual(['a.txt', 'b.txt'])
})

test('git is new enough here, and its version is read from any spelling', async () => {
  expect((await requireGit())[0]).toBeGreaterThanOrEqual(2)
  expect(parseGitVersion('git version 2.39.5 (Apple Git-154)')).toEqual([2, 39])
  expect(parseGitVersion('git version 2.51.0.rc1')).toEqual([2, 51])
  expect(parseGitVersion('something else')).toEqual([0, 0])
})
