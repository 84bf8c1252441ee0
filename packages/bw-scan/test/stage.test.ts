import { readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { findingRecord, scanRecord } from '@buildwave/core'
import { describe, expect, it } from 'vitest'
import { type Answer, claudeToken, collected, commit, writeFiles } from './scratch.ts'

const token = claudeToken()

function kinds(records: Answer['records'], kind: string) {
  return records.filter((record) => record.kind === kind)
}

describe('bw-scan in a pipe', () => {
  it('passes a clean attempt, and every record that it read', async () => {
    const run = await collected({ made: { 'a.py': 'print(1)\n' }, logs: { 'tests.log': 'ok\n' } })
    const answer = await run.scan(run.repo, [], run.input())
    expect(answer.stderr).toBe('')
    expect(answer.status).toBe(0)
    expect(answer.records.map(({ kind }) => kind)).toEqual(['run', 'item', 'patch', 'scan', 'end', 'end'])
    const scan = scanRecord.parse(answer.records[3])
    expect(scan).toMatchObject({ item: 'one', attempt: 1, verdict: 'clean', findings: 0, incomplete: [] })
  })

  it.each([
    ['a file', 'blob', { made: { '.env': `K=${token}\n` } }],
    ['a binary file', 'blob', { made: { 'a.gz': gzipSync(`K=${token}\n`) } }],
    ['a file name', 'path', { made: { [`notes/${token}.txt`]: 'x\n' } }],
    ['the target of a link', 'symlink', { made: { here: { link: `/tmp/${token}` } } }],
    ['the message', 'message', { made: {}, message: `Use ${token}` }],
    ['the test log', 'log', { made: {}, logs: { 'tests.log': `trace ${token}\n` } }],
    [
      'the event stream',
      'stream',
      { made: {}, logs: { 'out/stream.jsonl': `${JSON.stringify({ text: `"${token}"` })}\n` } },
    ],
    ['the stderr of the agent', 'stream', { made: {}, logs: { 'out/stderr.log': `401 ${token}\n` } }],
  ] as const)('blocks an attempt that has a token in %s, and shows it to nobody', async (_, surface, setting) => {
    const run = await collected(setting)
    const answer = await run.scan(run.repo, [], run.input())
    expect(answer.status).toBe(5)
    const findings = kinds(answer.records, 'finding').map((record) => findingRecord.parse(record))
    expect(findings.length).toBeGreaterThan(0)
    expect(findings[0]).toMatchObject({
      rule: 'anthropic-token',
      surface,
      masked: 'sk-ant-oat01-…(108)',
      allowed: false,
    })
    expect(kinds(answer.records, 'scan')[0]).toMatchObject({ verdict: 'blocked', findings: findings.length })
    for (const text of [answer.stdout, answer.stderr, readFileSync(run.journal, 'latin1')]) {
      expect(text).not.toContain(token.slice(13, 29))
    }
  })

  it('says the same from the journal, without scanning again', async () => {
    const run = await collected({ made: { '.env': `K=${token}\n` } })
    const first = await run.scan(run.repo, [], run.input())
    const again = await run.scan(run.repo, [], run.input())
    const said = (answer: typeof first) => answer.records.filter(({ kind }) => kind === 'finding' || kind === 'scan')
    expect(again.status).toBe(5)
    expect(said(again)).toEqual(said(first))
  })

  it('blocks what could not be opened, unless that kind is let pass', async () => {
    const made = { 'model.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' }
    const run = await collected({ made })
    const answer = await run.scan(run.repo, [], run.input())
    expect(answer.status).toBe(5)
    expect(kinds(answer.records, 'scan')[0]).toMatchObject({
      verdict: 'incomplete',
      incomplete: [{ file: 'model.bin', reason: 'lfs-pointer' }],
    })
    const allowed = await run.scan(run.repo, ['--allow-incomplete', 'lfs-pointer'], run.input())
    expect(allowed.status).toBe(0)
    expect(kinds(allowed.records, 'scan')[0]).toMatchObject({ verdict: 'clean' })
  })

  it('does not blame an attempt for what stands in its start commit', async () => {
    const base = { 'fixture.env': `K=${token}\n` }
    const run = await collected({ base, made: { 'fixture.env': `# moved\nK=${token}\n` } })
    const answer = await run.scan(run.repo, [], run.input())
    expect(answer.status).toBe(0)
    expect(kinds(answer.records, 'finding')[0]).toMatchObject({ allowed: true, preExisting: true })
  })

  it('heeds the allow file of the base commit, never one that comes with the work', async () => {
    const first = await collected({ made: { '.env': `K=${token}\n` } })
    const found = await first.scan(first.repo, [], first.input())
    const print = `${String(kinds(found.records, 'finding')[0]?.['fingerprint'])}\n`
    const key = readFileSync(join(first.home, '.config', 'buildwave', 'scan.key'))
    const withKey = async (setting: Parameters<typeof collected>[0]) => {
      const run = await collected(setting)
      writeFiles(run.home, { '.config/buildwave/scan.key': key })
      return run.scan(run.repo, [], run.input())
    }
    const smuggled = await withKey({ made: { '.env': `K=${token}\n`, '.bwscanignore': print } })
    expect(smuggled.status).toBe(5)
    const decided = await withKey({ base: { '.bwscanignore': print }, made: { '.env': `K=${token}\n` } })
    expect(decided.status).toBe(0)
    expect(kinds(decided.records, 'finding')[0]).toMatchObject({ allowed: true })
  })

  it("finds the run's own credential by value, although no rule knows it", async () => {
    const own = 'plain-words-that-are-a-credential'
    const run = await collected({ made: { 'a.txt': `x ${Buffer.from(own).toString('hex')} y\n` } })
    writeFiles(run.home, { '.config/buildwave/token': `${own}\n` })
    const answer = await run.scan(run.repo, [], run.input())
    expect(kinds(answer.records, 'finding')[0]).toMatchObject({ rule: 'known-credential', confidence: 'exact' })
    expect(answer.status).toBe(5)
  })

  it('neither follows nor waits for what a builder put in the place of its event stream', async () => {
    const run = await collected({ made: {}, logs: { 'out/other': 'x' } })
    symlinkSync('/etc/passwd', run.attempt.stream)
    const answer = await run.scan(run.repo, [], run.input())
    expect(answer.status).toBe(5)
    expect(kinds(answer.records, 'scan')[0]).toMatchObject({
      verdict: 'incomplete',
      incomplete: [{ file: 'stream.jsonl', reason: 'not-a-file' }],
    })
  })

  it('refuses a patch that is not what was collected', async () => {
    const run = await collected({ made: { 'a.txt': 'x\n' } })
    const answer = await run.scan(run.repo, [], run.input({ digest: '0'.repeat(64) }))
    expect(answer.status).toBe(4)
    expect(kinds(answer.records, 'failure')[0]).toMatchObject({ stage: 'bw-scan', code: 'patch-changed' })
    expect(kinds(answer.records, 'scan')).toEqual([])
  })

  it('scans the logs of an attempt that changed nothing', async () => {
    const run = await collected({ made: {}, logs: { 'tests.log': `${token}\n` } })
    const answer = await run.scan(run.repo, [], run.input({ commit: null, digest: null }))
    expect(answer.status).toBe(5)
  })

  it('fails, and does not pass, when the objects cannot be read', async () => {
    const run = await collected({ made: { 'a.txt': 'x\n' } })
    const answer = await run.scan(run.repo, [], run.input({ commit: '1'.repeat(40) }))
    expect([1, 4]).toContain(answer.status)
    expect(kinds(answer.records, 'scan')).toEqual([])
  })
})

describe('bw-scan --range', () => {
  it('finds what one commit adds and the next removes, in files, names and messages', async () => {
    const run = await collected({ made: { '.env': `K=${token}\n` } })
    commit(run.repo, { '.env': 'K=\n' }, 'Take it out')
    const answer = await run.scan(run.repo, ['--range', `${run.patch.start}..HEAD`])
    expect(answer.status).toBe(5)
    expect(kinds(answer.records, 'finding')).toHaveLength(1)
    expect((await run.scan(run.repo, ['--range', 'HEAD~1..HEAD'])).status).toBe(0)
    expect(dirname(run.repo)).toBe(run.folder)
  })
})
