import type { ItemRecord, RunRecord } from '@buildwave/core'

/** A run record as bw-plan writes it, for tests that need one without a repository. */
export function runRecord(change: Partial<RunRecord> = {}): RunRecord {
  return {
    kind: 'run',
    v: 1,
    run: 'plan-00000000',
    repo: '/nowhere',
    base: '0'.repeat(40),
    branch: 'main',
    identity: { name: 'A', email: 'a@example.com' },
    test: 'true',
    testFrom: 'option',
    setup: null,
    image: 'buildwave/base',
    shared: [],
    limits: {
      memoryMiB: 512,
      pids: 128,
      cpus: 1,
      minutes: 5,
      testMinutes: 5,
      tmpMiB: 64,
      homeMiB: 64,
      workMiB: 512,
      outMiB: 16,
    },
    plan: 'PLAN.md',
    planDigest: '0'.repeat(64),
    ...change,
  }
}

/** An item record as bw-plan writes it. */
export function itemRecord(item: string, change: Partial<ItemRecord> = {}): ItemRecord {
  return {
    kind: 'item',
    v: 1,
    run: 'plan-00000000',
    item,
    id: item,
    title: `Do ${item}`,
    text: '',
    type: 'feature',
    owns: [`${item}.txt`],
    ownsFrom: 'declared',
    after: [],
    wave: 1,
    waitsFor: [],
    priority: null,
    done: false,
    line: 1,
    ...change,
  }
}

/** Records as the lines of a stream. */
export function lines(...records: object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}
