import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scanBytes } from '@buildwave/secrets'
import { describe, expect, it } from 'vitest'
import { root } from '../../../test/support/pipeline.ts'
import { git, makeRepository } from '../../../test/support/repository.ts'
import { claudeToken, workplace, writeFiles } from './scratch.ts'

const token = claudeToken(3)

describe('bw-scan alone', () => {
  it('reads a patch on stdin, binary files included', async () => {
    const place = workplace()
    const repo = makeRepository({ 'a.txt': 'x\n' }, join(place.folder, 'repo'))
    writeFiles(repo, { 'b.bin': Buffer.concat([Buffer.alloc(100), Buffer.from(token), Buffer.alloc(100)]) })
    git(repo, 'add', '--all')
    const patch = git(repo, 'diff', '--cached', '--binary')
    const answer = await place.scan(place.folder, ['--patch', '-'], `${patch}\n`)
    expect(answer.status).toBe(5)
    expect(answer.records[0]).toMatchObject({ kind: 'finding', surface: 'patch', file: '-!b.bin', via: ['git-binary'] })
    expect((await place.scan(place.folder, ['--patch', '-'], 'diff --git a/a b/a\n')).status).toBe(0)
  })

  it('reads files with their names', async () => {
    const place = workplace()
    writeFiles(place.folder, { 'a b.env': `\nK=${token}\n`, 'clean.txt': 'nothing\n' })
    const answer = await place.scan(place.folder, ['clean.txt', 'a b.env'])
    expect(answer.status).toBe(5)
    expect(answer.records.map(({ kind, file, line }) => [kind, file, line])).toEqual([
      ['finding', 'a b.env', 2],
      ['scan', undefined, undefined],
    ])
    expect(answer.stdout).not.toContain(token.slice(13, 29))
  })

  it.each([
    [['missing.txt'], /cannot read 'missing.txt': ENOENT/],
    [['.'], /'.' is a folder/],
    [['--range', 'nonsense'], /'nonsense' is not a range/],
    [['--range', 'a..b', 'file'], /exclude each other/],
    [['--allow-file', 'missing', '--patch', '-'], /cannot use 'missing': ENOENT/],
  ])('fails with status 1 and one clear line: %s', async (args, message) => {
    const place = workplace()
    const answer = await place.scan(place.folder, args, 'x')
    expect(answer.status).toBe(1)
    expect(answer.stderr).toMatch(message)
    expect(answer.stdout).toBe('')
  })
})

describe('our own repository', () => {
  it('holds nothing that its own scan takes for a secret', () => {
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
    const found = files
      .filter((file) => file !== '' && existsSync(join(root, file)))
      .flatMap((file) => scanBytes(readFileSync(join(root, file)), { surface: 'file', file }).findings)
    expect(found.map(({ file, line, rule, via }) => `${file}:${line} ${rule} ${via.join('>')}`)).toEqual([])
  })
})
