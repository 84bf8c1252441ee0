import { deflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { built, item, openScene, passed, runId, scanOf } from './scene.ts'

test('items that passed become one commit each, with title, identity and date of their patch, and nothing else', async () => {
  const scene = await openScene()
  const one = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }))
  const two = await scene.patch('two', await scene.commit({ 'two.txt': '2\n' }))
  const items = [item('one', { title: '[build] #1: ünï' }), item('two')]
  const { status, answers, integration, merges } = await scene.merge([...items, ...passed(one), ...passed(two)])
  expect([status, answers]).toEqual([0, { one: 'applied', two: 'applied' }])
  expect(integration?.items.map((entry) => entry.item)).toEqual(['one', 'two'])
  expect(integration?.branch).toBe(`builders/${runId}`)
  expect(scene.git('rev-parse', `refs/heads/builders/${runId}`)).toBe(integration?.head)
  expect(scene.git('log', '--format=%an <%ae> %aI %cI|%B', '-1', merges[0]?.commit ?? '')).toBe(
    'Ada <ada@example.org> 2026-03-04T05:06:07+00:00 2026-03-04T05:06:07+00:00|[build] #1: ünï',
  )
  expect(scene.git('ls-tree', '--name-only', integration?.head ?? '').split('\n')).toEqual([
    'a.txt',
    'one.txt',
    'two.txt',
  ])
})

test('a conflict is set aside with its path and oids, the others go on, exit 3', async () => {
  const scene = await openScene({ 'a.txt': 'a\n', 'b c.txt': 'x\n' })
  const one = await scene.patch('one', await scene.commit({ 'b c.txt': 'one\n' }))
  const two = await scene.patch('two', await scene.commit({ 'b c.txt': 'two\n' }))
  const three = await scene.patch('three', await scene.commit({ 'three.txt': '3\n' }))
  const records = [item('one'), item('two'), item('three'), ...passed(two), ...passed(three), ...passed(one)]
  const { status, answers, merges, integration } = await scene.merge(records)
  expect([status, answers]).toEqual([3, { one: 'applied', two: 'conflict', three: 'applied' }])
  const blob = (rev: string) => scene.git('rev-parse', `${rev}:b c.txt`)
  const conflict = merges.find(({ outcome }) => outcome === 'conflict')
  expect(conflict?.conflicts).toEqual([
    { path: 'b c.txt', base: blob(scene.base), ours: blob(one.commit ?? ''), theirs: blob(two.commit ?? '') },
  ])
  expect(conflict?.message).toBe('conflict with one in b c.txt')
  expect(integration?.items.map((entry) => entry.item)).toEqual(['three', 'one'])
})

describe('the tree does not depend on which builder was faster', () => {
  test('shared files get the lines of both items, in plan order', async () => {
    const scene = await openScene({ 'init.py': 'import os\r\n', 'one.txt': '' }, { shared: ['init.py'] })
    const one = await scene.patch('one', await scene.commit({ 'init.py': 'import os\r\nfrom a import a\r\n' }))
    const two = await scene.patch('two', await scene.commit({ 'init.py': 'import os\r\nfrom b import b\r\n' }))
    const three = await scene.patch('three', await scene.commit({ 'three.txt': '3\n' }))
    const items = [item('one'), item('two'), item('three', { wave: 2 })]
    const trees = new Set<string>()
    for (const order of [
      [one, two, three],
      [three, two, one],
      [two, three, one],
    ]) {
      const { status, integration, stderr } = await scene.merge([...items, ...order.flatMap(passed)], ['--again'])
      expect(stderr).toBe('')
      expect(status).toBe(0)
      trees.add(integration?.tree ?? '')
      expect(await scene.read(integration?.head ?? '', 'init.py')).toBe(
        'import os\r\nfrom a import a\r\nfrom b import b\r\n',
      )
    }
    expect(trees.size).toBe(1)
  })

  test('an item that leaves its own files is held until its wave is answered; one that stays inside is not', async () => {
    const scene = await openScene()
    const one = await scene.patch('one', await scene.commit({ 'elsewhere.txt': '1\n' }))
    const two = await scene.patch('two', await scene.commit({ 'two.txt': '2\n' }))
    const { merges } = await scene.merge([
      item('one'),
      item('two'),
      item('three'),
      ...passed(one),
      ...passed(two),
      ...built('three'),
    ])
    expect(merges.map((merge) => merge.item)).toEqual(['two', 'three', 'one'])
  })

  test('a deferred item and a failed start keep nobody waiting', async () => {
    const scene = await openScene()
    const one = await scene.patch('one', await scene.commit({ 'elsewhere.txt': '1\n' }))
    const late = await scene.patch('late', await scene.commit({ 'late.txt': '2\n' }))
    const deferred = {
      kind: 'deferred',
      v: 1,
      run: runId,
      item: 'two',
      at: one.at,
      waitsFor: ['x'],
      reason: 'dependency-failed',
      message: 'm',
    }
    const failure = {
      kind: 'failure',
      v: 1,
      run: runId,
      item: 'three',
      at: one.at,
      stage: 'bw-spawn',
      code: 'no-image',
      message: 'm',
      hint: null,
    }
    const items = [item('one'), item('two'), item('three'), item('late', { wave: 2 })]
    const records = [...items, ...passed(late), ...passed(one), deferred, failure]
    const { merges } = await scene.merge(records, [], { cut: true })
    expect(merges.map((merge) => merge.item)).toEqual(['late', 'one'])
    const { answers, status } = await scene.merge(records)
    expect([answers['two'], answers['three'], status]).toEqual(['skipped: dependency-failed', 'skipped: no-image', 5])
  })
})

test('every attempt and every item gets exactly one answer, with the reason', async () => {
  const scene = await openScene()
  const patch = async (name: string, change = {}) =>
    scene.patch(name, await scene.commit({ [`${name}.txt`]: name }), change)
  const blocked = await patch('blocked', { verdict: 'blocked', blockedBy: ['tests-worse', 'out-of-scope'] })
  const [secret, partly, unscanned, unproven] = [
    await patch('secret'),
    await patch('partly'),
    await patch('unscanned'),
    await patch('unproven'),
  ]
  const failed = {
    kind: 'failure',
    v: 1,
    run: runId,
    item: 'failed',
    attempt: 1,
    at: secret.at,
    stage: 'bw-collect',
    code: 'attempt-gone',
    message: 'm',
    hint: null,
  }
  const regression = {
    kind: 'regression',
    v: 1,
    run: runId,
    item: 'unproven',
    attempt: 1,
    key: secret.key,
    at: secret.at,
    verdict: 'unproven',
    testFiles: [],
    failedWithoutFix: [],
    log: null,
  }
  const pending = {
    kind: 'deferred',
    v: 1,
    run: runId,
    item: 'pending',
    at: secret.at,
    waitsFor: ['x'],
    reason: 'dependency-pending',
    message: 'm',
  }
  const names = ['blocked', 'secret', 'partly', 'unscanned', 'unproven', 'failed', 'uncollected', 'never', 'pending']
  const { answers, merges, status, records } = await scene.merge([
    ...names.map((name) => item(name)),
    item('ready', { done: true }),
    ...built('blocked'),
    blocked,
    ...built('secret'),
    secret,
    scanOf(secret, 'blocked'),
    partly,
    scanOf(partly, 'incomplete'),
    unscanned,
    regression,
    unproven,
    scanOf(unproven),
    failed,
    ...built('uncollected'),
    pending,
  ])
  expect(answers).toEqual({
    blocked: 'skipped: tests-worse',
    secret: 'skipped: secret-found',
    partly: 'skipped: scan-incomplete',
    unproven: 'skipped: regression-unproven',
    failed: 'skipped: attempt-gone',
    unscanned: 'skipped: unscanned',
    uncollected: 'skipped: uncollected',
    never: 'skipped: never-came',
    pending: 'skipped: dependency-pending',
  })
  expect(merges).toHaveLength(names.length)
  expect(status).toBe(5)
  expect(records.at(-1)).toMatchObject({ kind: 'end', complete: true })
  expect(scene.git('for-each-ref')).toBe('')
})

test('a patch that waits for nothing but a blocked check is answered at once, since others wait for the answer', async () => {
  const scene = await openScene()
  const patch = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }), {
    verdict: 'blocked',
    blockedBy: ['no-changes'],
  })
  const { merges, status } = await scene.merge([item('one'), item('two'), patch], [], { cut: true })
  expect(merges).toMatchObject([{ item: 'one', outcome: 'skipped', reason: 'no-changes' }])
  expect(status).toBe(1)
})

describe('what cannot be used is named, with exit 4, and moves nothing', () => {
  test('a digest that is wrong', async () => {
    const scene = await openScene()
    const one = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }), { digest: '0'.repeat(64) })
    const two = await scene.patch('two', await scene.commit({ 'two.txt': '2\n' }))
    const { status, answers } = await scene.merge([item('one'), item('two'), ...passed(one), ...passed(two)])
    expect([status, answers]).toEqual([4, { one: 'skipped: patch-changed', two: 'applied' }])
  })

  test('a start commit that is not the parent, or is missing', async () => {
    const scene = await openScene()
    const other = await scene.commit({ 'x.txt': 'x\n' })
    const one = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }), { start: other })
    expect(await scene.merge([item('one'), ...passed(one)])).toMatchObject({
      status: 4,
      answers: { one: 'skipped: patch-changed' },
    })
    const two = await scene.patch('two', await scene.commit({ 'two.txt': '2\n' }, other))
    scene.damage(other, null)
    const { status, merges } = await scene.merge([item('two'), ...passed(two)])
    expect([status, merges[0]?.reason]).toEqual([4, 'object-unusable'])
    expect(scene.git('for-each-ref', 'refs/heads')).toBe('')
  })

  test('a blob with other bytes under its oid', async () => {
    const scene = await openScene()
    const one = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }))
    const blob = scene.git('rev-parse', `${one.commit}:one.txt`)
    scene.damage(blob, deflateSync(Buffer.from('blob 2\0X\n')))
    const { status, merges } = await scene.merge([item('one'), ...passed(one)])
    expect([status, merges[0]?.outcome]).toEqual([4, 'skipped'])
    expect(scene.git('for-each-ref', 'refs/heads')).toBe('')
  })
})

test('an input that breaks off changes no more than what was ready, and writes no integration', async () => {
  const scene = await openScene()
  const one = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }))
  const two = await scene.patch('two', await scene.commit({ 'elsewhere.txt': '2\n' }))
  const items = [item('one'), item('two'), item('three')]
  const broken = await scene.merge([...items, ...passed(one), ...passed(two)], [], { cut: true })
  expect([broken.status, broken.answers, broken.integration]).toEqual([1, { one: 'applied' }, undefined])
  const whole = await scene.merge([...items, ...passed(one), ...passed(two)])
  expect(whole.answers).toEqual({ one: 'applied', three: 'skipped: never-came', two: 'applied' })
  expect(whole.integration?.items).toHaveLength(2)
})

test('an item whose dependency is not on the stack is left out, and so says why', async () => {
  const scene = await openScene()
  const two = await scene.patch('two', await scene.commit({ 'two.txt': '2\n' }))
  const items = [item('one'), item('two', { after: ['one'], wave: 2 })]
  const { answers, merges } = await scene.merge([...items, ...built('one'), ...passed(two)])
  expect(answers['two']).toBe('skipped: dependency-failed')
  expect(merges.find((merge) => merge.item === 'two')?.message).toBe('it needs one, which is not on the stack')
})

test('the same input again does nothing twice, and the journal says the same as the pipe', async () => {
  const scene = await openScene({ 'x.txt': 'x\n' })
  const one = await scene.patch('one', await scene.commit({ 'x.txt': 'one\n' }))
  const two = await scene.patch('two', await scene.commit({ 'x.txt': 'two\n' }))
  const records = [item('one'), item('two'), item('three'), ...passed(one), ...passed(two)]
  const first = await scene.merge(records)
  const before = scene.journal().filter(({ kind }) => kind !== 'end')
  const second = await scene.merge(records)
  expect(new Set(second.merges)).toEqual(new Set(first.merges))
  expect(second.integration).toEqual(first.integration)
  expect([first.status, second.status]).toEqual([3, 3])
  expect(scene.journal().filter(({ kind }) => kind !== 'end')).toEqual(before)
})

test('without a name to sign with nothing is merged', async () => {
  const scene = await openScene({}, { identity: null })
  const { status, stderr } = await scene.merge([item('one')])
  expect([status, stderr.split('\n')[0]]).toEqual([1, `bw-merge: no name to sign commits with in '${scene.repo}'`])
})
