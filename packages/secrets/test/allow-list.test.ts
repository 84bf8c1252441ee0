import { describe, expect, it } from 'vitest'
import { parseAllowList } from '../src/allow-list.ts'
import { fingerprint, reportFindings, scanBytes } from '../src/index.ts'
import { fill, seeded } from './template.ts'

const key = Buffer.from('k'.repeat(32))
const password = fill('<n20>', seeded(2))
const token = fill('sk-ant-oat01-<w93>AA', seeded(3))
const text = `first\nDB_PASSWORD = "${password}"\nK=${token}\n`

function report(allowFile: string, commit?: string) {
  const result = scanBytes(Buffer.from(text), { surface: 'blob', file: 'src/a.ts' })
  const allow = parseAllowList(allowFile, '.bwscanignore', '2026-11-29')
  return reportFindings(result, { key, allow, ...(commit === undefined ? {} : { commit }) })
}

const allowed = (allowFile: string, commit?: string) => report(allowFile, commit).map((finding) => finding.allowed)

describe('an allow list', () => {
  const print = fingerprint('assigned-secret', password, key)

  it('lets a finding pass by its fingerprint, and the finding is still reported', () => {
    expect(allowed('')).toEqual([false, false])
    expect(allowed(`# known\n${print} reason=a test fixture\n`)).toEqual([true, false])
    expect(allowed(fingerprint('anthropic-token', token, key))).toEqual([false, true])
  })

  it("lets a finding pass by gitleaks' lines, of the same commit where one is named", () => {
    const commit = 'ab'.repeat(20)
    expect(allowed('src/a.ts:generic-api-key:2')).toEqual([true, false])
    expect(allowed(`${commit}:src/a.ts:generic-api-key:2`, commit)).toEqual([true, false])
    expect(allowed(`${commit}:src/a.ts:generic-api-key:2`)).toEqual([false, false])
    expect(allowed('src/a.ts:generic-api-key:3')).toEqual([false, false])
  })

  it('lets a Claude token pass by its fingerprint only', () => {
    expect(allowed('src/a.ts:anthropic-token:3')).toEqual([false, false])
  })

  it('ends with the date it names', () => {
    expect(allowed(`${print} until=2026-11-29`)).toEqual([true, false])
    expect(allowed(`${print} until=2026-11-28 reason=old`)).toEqual([false, false])
  })

  it.each(['*', '**/*', 'src/*:rule:3', 'some words', `${print} until=soon`, `${print} untill=2027-01-01`])(
    'refuses a line that it cannot read: %s',
    (line) => {
      expect(() => parseAllowList(`\n${line}\n`, 'f', '2026-11-29')).toThrow(/'f' line 2/)
    },
  )
})

describe('a reported finding', () => {
  it('holds nothing of the secret but its public beginning and length', () => {
    const out = JSON.stringify(report(''))
    expect(out).not.toContain(password)
    expect(out).not.toContain(token.slice(13, 30))
    expect(report('').map((finding) => finding.masked)).toEqual(['…(20)', 'sk-ant-oat01-…(108)'])
  })

  it('masks a secret in the name of its file, whatever rule found it', () => {
    const name = `notes/${token}/password=${password}`
    const result = scanBytes(Buffer.from(name), { surface: 'path', file: name })
    const out = JSON.stringify(reportFindings(result, { key, allow: [] }))
    expect(result.findings).toHaveLength(2)
    expect(out).not.toContain(password)
    expect(out).not.toContain(token.slice(13, 30))
  })

  it('has one fingerprint for a secret in every place, and another under another key', () => {
    const prints = (surface: string, secretKey: Buffer) =>
      reportFindings(scanBytes(Buffer.from(surface), { surface: 'blob', file: 'x' }), {
        key: secretKey,
        allow: [],
      }).map((finding) => finding.fingerprint)
    const here = prints(`a ${token}`, key)
    expect(prints(`b\n${Buffer.from(`cd ${token}`).toString('base64')}`, key)).toEqual(here)
    expect(prints(`a ${token}`, Buffer.from('other'.repeat(8)))).not.toEqual(here)
  })
})
