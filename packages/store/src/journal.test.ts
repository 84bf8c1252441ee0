import { appendFileSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openJournal } from './journal.ts'

const place = () => join(mkdtempSync(join(tmpdir(), 'bw-journal-')), 'journal.ndjson')

test('records come back in order, and a second opener sees what the first one adds', () => {
  const path = place()
  const writer = openJournal(path, { create: true })
  const reader = openJournal(path, { create: false })
  writer.append({ kind: 'a', n: 1 })
  writer.append({ kind: 'b', text: 'ü\n' })
  expect(reader.refresh()).toEqual([
    { kind: 'a', n: 1 },
    { kind: 'b', text: 'ü\n' },
  ])
  expect(reader.refresh()).toEqual([])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a line torn by a kill is closed by the next append and passed over', () => {
  const path = place()
  const first = openJournal(path, { create: true })
  first.append({ kind: 'a' })
  appendFileSync(path, '{"kind":"b","half')
  const second = openJournal(path, { create: true })
  expect(second.records()).toEqual([{ kind: 'a' }])
  second.append({ kind: 'c' })
  expect(readFileSync(path, 'utf8').split('\n')).toEqual(['{"kind":"a"}', '{"kind":"b","half', '{"kind":"c"}', ''])
  second.refresh()
  expect(second.records()).toEqual([{ kind: 'a' }, { kind: 'c' }])
  expect(second.tornLines()).toBe(1)
})

test('a line that another process has written half is read once it is whole', () => {
  const path = place()
  const journal = openJournal(path, { create: true })
  appendFileSync(path, '{"kind":')
  expect(journal.refresh()).toEqual([])
  appendFileSync(path, '"a"}\n')
  expect(journal.refresh()).toEqual([{ kind: 'a' }])
})
