import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { itemRecord, runRecord } from '../../../test/support/records.ts'
import { temporaryFolder } from '../../../test/support/repository.ts'
import { builderRecord, buildRecord, makeRun, patchRecord, someOid } from '../../../test/support/run-folder.ts'
import {
  diskSize,
  findAttempt,
  findItem,
  itemStanding,
  mergedCount,
  readHistory,
  runState,
  showAge,
  showColumns,
  showSize,
} from '../src/index.ts'

const at = '2026-01-02T00:00:00.000Z'
const head = '2'.repeat(40)
const merge = (item: string, change: object = {}) => ({
  kind: 'merge',
  v: 1,
  run: 'x',
  item,
  attempt: 1,
  key: '0'.repeat(16),
  at,
  outcome: 'applied',
  reason: null,
  message: '',
  head,
  commit: head,
  conflicts: [],
  ...change,
})
const integration = { kind: 'integration', v: 1, run: 'x', at, branch: 'builders/x', head, tree: someOid, items: [] }
const testRun = { verdict: 'green', exit: 0, runner: 'exit', tests: null, log: '', seconds: 1 }
const changes = { verdict: 'ok', newlyFailing: [], fixed: [], newlySkipped: [], vanished: [], added: [], flaky: [] }
const verification = {
  kind: 'verification',
  v: 1,
  run: 'x',
  key: '0'.repeat(16),
  at,
  head,
  tree: someOid,
  verdict: 'green',
  result: testRun,
  changes,
  culprits: [],
}
const delivery = {
  kind: 'delivery',
  v: 1,
  run: 'x',
  at,
  ref: 'refs/heads/builders/x',
  oid: head,
  base: someOid,
  delivered: ['1'],
  left: [],
  evidence: 'e',
}
const begun = [runRecord(), itemRecord('1'), builderRecord('1'), buildRecord('1'), patchRecord('1')]

function look(...records: object[]) {
  const history = readHistory(makeRun(temporaryFolder(), { run: 'r-1', records }))
  return { history, uncollected: [], leases: [] }
}

it('a run is unfinished until every item has its answer and the stack its verdict', () => {
  expect(runState(look())).toBe('empty')
  expect(runState(look(...begun))).toBe('unfinished')
  expect(runState(look(...begun, merge('1'), integration))).toBe('unfinished')
  const finished = look(...begun, merge('1'), integration, verification)
  expect(runState(finished)).toBe('finished')
  const left = [{ item: '1', attempt: 1, running: false, reason: '' }]
  expect(runState({ ...finished, uncollected: left })).toBe('unfinished')
  const lease = { stage: 'bw-spawn', pid: 1, startTicks: 1, host: 'h', acquiredAt: 1 }
  expect(runState({ ...finished, leases: [lease] })).toBe('running')
  const never = merge('1', { outcome: 'skipped', reason: 'never-came', commit: null })
  expect(runState(look(runRecord(), itemRecord('1'), never))).toBe('unfinished')
})

it('a run is delivered as long as the stack is what was delivered', () => {
  const records = [...begun, merge('1'), integration, verification, delivery]
  expect(runState(look(...records))).toBe('delivered')
  expect(runState(look(...records, { ...integration, head: '3'.repeat(40) }))).toBe('unfinished')
})

it('an item stands where its latest record of its latest attempt says', () => {
  const state = (...records: object[]) => itemStanding(look(...records), itemRecord('1')).state
  expect(state(runRecord(), itemRecord('1'))).toBe('waiting')
  expect(state(...begun.slice(0, 4))).toBe('built')
  expect(state(...begun)).toBe('collected')
  expect(state(...begun, merge('1'))).toBe('merged')
  expect(state(...begun, merge('1'), builderRecord('1', 2))).toBe('started')
  expect(mergedCount(look(...begun, merge('1')).history)).toBe(1)
})

it('a line that is not what its kind says proves nothing', () => {
  const { history } = look(runRecord(), { ...patchRecord('1'), verdict: 'maybe' })
  expect(history.records.map(({ kind }) => kind)).toEqual(['run'])
})

it('items go by slug or by their id in the plan, attempts by number or the latest', () => {
  const { history } = look(runRecord(), itemRecord('1', { id: 'Part 1' }), builderRecord('1'), builderRecord('1', 2))
  expect(findItem(history, 'Part 1').item).toBe('1')
  expect(() => findItem(history, '../1')).toThrow("no item '../1'")
  expect(findAttempt(history, '1', undefined)).toBe(2)
  expect(findAttempt(history, '1', 1)).toBe(1)
  expect(() => findAttempt(history, '1', 3)).toThrow('no attempt 3')
})

it('the size of a folder counts each file once and follows no link', () => {
  const folder = temporaryFolder()
  const big = join(temporaryFolder(), 'big')
  writeFileSync(big, Buffer.alloc(1_000_000, 1))
  mkdirSync(join(folder, 'in'))
  writeFileSync(join(folder, 'in', 'file'), Buffer.alloc(100_000, 1))
  const before = diskSize(folder)
  expect(before).toBeGreaterThanOrEqual(100_000)
  linkSync(join(folder, 'in', 'file'), join(folder, 'again'))
  symlinkSync(big, join(folder, 'link'))
  symlinkSync('.', join(folder, 'loop'))
  expect(diskSize(folder)).toBeLessThan(before + 50_000)
  expect(diskSize(join(folder, 'none'))).toBe(0)
})

it('sizes, ages and columns are short', () => {
  expect([0, 999, 1000, 12_345, 3_400_000, 10 ** 16].map(showSize)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '12 kB',
    '3.4 MB',
    '10000 TB',
  ])
  expect([-5, 59_000, 60_000, 7_200_000, 200_000_000].map(showAge)).toEqual(['0 s', '59 s', '1 min', '2 h', '2 d'])
  expect(showColumns(['a', 'b'], [['long', 'x']])).toEqual(['a     b', 'long  x'])
  expect(showColumns(['a'], [])).toEqual([])
})
