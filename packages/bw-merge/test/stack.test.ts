import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { item, openScene, passed, runId, type Scene } from './scene.ts'

/** Three items on the stack: `two` was started from a head with `one`, `three` from the base. */
async function stackOfThree(): Promise<{ scene: Scene; records: object[]; head: string }> {
  const scene = await openScene({ 'a.txt': 'a\n', 'common.txt': '1\n2\n3\n4\n5\n6\n7\n' })
  const one = await scene.patch(
    'one',
    await scene.commit({ 'one.txt': 'line of one\n', 'common.txt': 'line of one\n1\n2\n3\n4\n5\n6\n7\n' }),
  )
  const items = [item('one'), item('two', { wave: 2 }), item('three', { wave: 2 })]
  const first = await scene.merge([item('one'), ...passed(one)])
  const start = first.integration?.head ?? ''
  const common = 'line of one\n1\n2\n3\n4\n5\n6\n7\nline of two\n'
  const two = await scene.patch('two', await scene.commit({ 'two.txt': 'line of two\n', 'common.txt': common }, start))
  const three = await scene.patch('three', await scene.commit({ 'three.txt': 'line of three\n' }))
  const records = [...items, ...passed(one), ...passed(two), ...passed(three)]
  const { status, integration } = await scene.merge(records)
  expect(status).toBe(0)
  return { scene, records, head: integration?.head ?? '' }
}

const grep = (scene: Scene, head: string, text: string) => {
  try {
    return scene.git('grep', '-l', text, head)
  } catch {
    return ''
  }
}

describe('--drop', () => {
  test('leaves no line of the item, also where a later item started from a head with it, and stays so', async () => {
    const { scene, records, head } = await stackOfThree()
    const dropped = await scene.replay('--drop', 'one')
    expect(dropped.status).toBe(0)
    expect(dropped.answers).toMatchObject({ one: 'dropped: dropped-by-user', two: 'applied', three: 'applied' })
    const next = dropped.integration?.head ?? ''
    expect(next).not.toBe(head)
    expect(grep(scene, next, 'line of one')).toBe('')
    expect(grep(scene, next, 'line of two').split('\n')).toHaveLength(2)
    expect(scene.git('log', '--format=%s', `${scene.base}..${next}`).split('\n').toSorted()).toEqual([
      'Title of three',
      'Title of two',
    ])
    const again = await scene.merge(records)
    expect([again.status, again.integration?.head]).toEqual([0, next])
  })

  test('takes out what needs the item too, and says why', async () => {
    const scene = await openScene()
    const one = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }))
    const start = (await scene.merge([item('one'), ...passed(one)])).integration?.head ?? ''
    const needs = await scene.patch('needs', await scene.commit({ 'needs.txt': 'x\n' }, start))
    const edits = await scene.patch('edits', await scene.commit({ 'one.txt': '1 and more\n' }, start))
    const items = [item('one'), item('needs', { after: ['one'], wave: 2 }), item('edits', { wave: 2 })]
    await scene.merge([...items, ...passed(one), ...passed(needs), ...passed(edits)])
    const { answers, merges, integration, status } = await scene.replay('--drop', 'one')
    expect(answers).toMatchObject({ needs: 'dropped: needs-dropped', edits: 'dropped: needs-dropped' })
    expect(merges.findLast((merge) => merge.item === 'needs')?.message).toBe('it needs one, which is taken out')
    expect(merges.findLast((merge) => merge.item === 'edits')?.message).toBe(
      'it does not fit without one: conflict in one.txt',
    )
    expect([integration?.head, integration?.items, status]).toEqual([scene.base, [], 5])
  })

  test('lets in what was in conflict with the item', async () => {
    const scene = await openScene({ 'x.txt': 'x\n' })
    const one = await scene.patch('one', await scene.commit({ 'x.txt': 'one\n' }))
    const two = await scene.patch('two', await scene.commit({ 'x.txt': 'two\n' }))
    const first = await scene.merge([item('one'), item('two'), ...passed(one), ...passed(two)])
    expect(first.answers).toEqual({ one: 'applied', two: 'conflict' })
    const dropped = await scene.replay('--drop', 'one')
    expect([dropped.status, dropped.answers]).toEqual([0, { one: 'dropped: dropped-by-user', two: 'applied' }])
    expect(await scene.read(dropped.integration?.head ?? '', 'x.txt')).toBe('two\n')
  })

  test('of an item that is not in the run names those that are', async () => {
    const scene = await openScene()
    await scene.merge([item('one')])
    const { status, stderr } = await scene.replay('--drop', 'nine')
    expect([status, stderr]).toEqual([1, `bw-merge: run '${runId}' has no item 'nine'\nhint: its items: one\n`])
  })
})

test('--union settles a conflict of additions, and holds for the run from then on', async () => {
  const scene = await openScene({ 'log.md': 'start\n' })
  const one = await scene.patch('one', await scene.commit({ 'log.md': 'start\none\n' }))
  const two = await scene.patch('two', await scene.commit({ 'log.md': 'start\ntwo\n' }))
  const three = await scene.patch('three', await scene.commit({ 'three.txt': '3\n' }))
  const records = [item('three'), item('one'), item('two'), ...passed(three), ...passed(one), ...passed(two)]
  expect((await scene.merge(records)).answers).toMatchObject({ one: 'applied', two: 'conflict' })
  const settled = await scene.merge(records, ['--union', '*.md'])
  expect([settled.status, settled.answers['two']]).toEqual([0, 'applied'])
  const dropped = await scene.replay('--drop', 'three')
  expect([dropped.status, dropped.integration?.items.map((entry) => entry.item)]).toEqual([0, ['one', 'two']])
  expect(await scene.read(dropped.integration?.head ?? '', 'log.md')).toBe('start\none\ntwo\n')
})

test('an item whose title changed is committed again under the new one, without a second answer', async () => {
  const { scene, records } = await stackOfThree()
  const renamed = records.map((record) =>
    'title' in record && record.title === 'Title of two' ? { ...record, title: 'Better' } : record,
  )
  const { merges, integration, status } = await scene.merge(renamed)
  expect([status, merges.filter((merge) => merge.item === 'two').length]).toEqual([0, 1])
  expect(scene.git('log', '--format=%s', `${scene.base}..${integration?.head}`).split('\n')).toContain('Better')
})

test('--skip leaves a conflicting item out for good, without exit 3', async () => {
  const scene = await openScene({ 'x.txt': 'x\n' })
  const one = await scene.patch('one', await scene.commit({ 'x.txt': 'one\n' }))
  const two = await scene.patch('two', await scene.commit({ 'x.txt': 'two\n' }))
  const records = [item('one'), item('two'), ...passed(one), ...passed(two)]
  expect((await scene.merge(records)).status).toBe(3)
  const skipped = await scene.replay('--skip', 'two')
  expect([skipped.status, skipped.answers]).toEqual([0, { one: 'applied', two: 'skipped: skipped-by-user' }])
  expect(await scene.merge(records)).toMatchObject({ status: 0, answers: { two: 'skipped: skipped-by-user' } })
})

test('from the journal each answer is told once, and a new one after the old one', async () => {
  const { scene, head } = await stackOfThree()
  const replayed = await scene.replay()
  expect(replayed.merges.map((merge) => merge.item).sort()).toEqual(['one', 'three', 'two'])
  const again = await scene.replay('--again')
  const last = (name: string) => again.merges.findLast((merge) => merge.item === name)?.commit
  expect(again.integration?.items.map((entry) => entry.commit)).toEqual(
    again.integration?.items.map((entry) => last(entry.item)),
  )
  expect(again.integration?.tree).toBe(scene.git('rev-parse', `${head}^{tree}`))
})

describe('a newer attempt of an item on the stack', () => {
  test('takes the place of the old one, of which no line is left', async () => {
    const { scene, records } = await stackOfThree()
    const newer = await scene.patch('one', await scene.commit({ 'one.txt': 'second try\n' }), { attempt: 2 })
    const { answers, merges, integration, status } = await scene.merge([...records, ...passed(newer)])
    expect(status).toBe(0)
    expect(answers).toEqual({ one: 'applied', two: 'applied', three: 'applied' })
    expect(merges.filter((merge) => merge.reason === 'superseded')).toMatchObject([
      { item: 'one', attempt: 1, outcome: 'dropped' },
    ])
    expect(integration?.items.map((entry) => `${entry.item}/${entry.attempt}`)).toEqual(['one/2', 'three/1', 'two/1'])
    expect(grep(scene, integration?.head ?? '', 'line of one')).toBe('')
    expect(await scene.read(integration?.head ?? '', 'one.txt')).toBe('second try\n')
  })

  test('counts with all its lines when it was started on top of the old one', async () => {
    const { scene, records, head } = await stackOfThree()
    const newer = await scene.patch('one', await scene.commit({ 'one.txt': 'line of one\nand more\n' }, head), {
      attempt: 2,
    })
    const { integration, status } = await scene.merge([...records, ...passed(newer)])
    expect(status).toBe(0)
    expect(integration?.items).toHaveLength(3)
    expect(await scene.read(integration?.head ?? '', 'one.txt')).toBe('line of one\nand more\n')
    expect(await scene.read(integration?.head ?? '', 'common.txt')).toBe(
      'line of one\n1\n2\n3\n4\n5\n6\n7\nline of two\n',
    )
  })

  test('that is in conflict changes nothing', async () => {
    const scene = await openScene({ 'x.txt': 'x\n' })
    const one = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }))
    const two = await scene.patch('two', await scene.commit({ 'x.txt': 'two\n' }))
    const records = [item('one'), item('two'), ...passed(one), ...passed(two)]
    const first = await scene.merge(records)
    const newer = await scene.patch('one', await scene.commit({ 'x.txt': 'one\n' }), { attempt: 2 })
    const second = await scene.merge([...records, ...passed(newer)])
    expect(second.status).toBe(3)
    expect(second.merges.findLast((merge) => merge.item === 'one')).toMatchObject({ attempt: 2, outcome: 'conflict' })
    expect(second.integration?.head).toBe(first.integration?.head)
  })
})

test('a finding that comes later takes the item off the stack', async () => {
  const { scene, records } = await stackOfThree()
  const blocked = records.map((record) =>
    'verdict' in record && 'bytes' in record && 'item' in record && record.item === 'three'
      ? { ...record, verdict: 'blocked', findings: 1 }
      : record,
  )
  const { answers, status, integration } = await scene.merge(blocked)
  expect([answers['three'], status]).toEqual(['dropped: secret-found', 5])
  expect(grep(scene, integration?.head ?? '', 'line of three')).toBe('')
})

describe('killed between two effects', () => {
  /** Cuts the journal after the line that is the last one kept. */
  const cutJournal = (scene: Scene, keep: (line: string) => boolean) => {
    const path = join(scene.state, 'runs', runId, 'journal.ndjson')
    const rows = readFileSync(path, 'utf8').split('\n')
    writeFileSync(path, `${rows.slice(0, rows.findIndex(keep) + 1).join('\n')}\n{"kind":"mer`)
  }
  const isIntentOf = (name: string) => (line: string) =>
    line.includes('"kind":"intent"') && line.includes(`"item":"${name}"`)
  const stackAfter = async () => {
    const scene = await openScene()
    const one = await scene.patch('one', await scene.commit({ 'one.txt': '1\n' }))
    const two = await scene.patch('two', await scene.commit({ 'two.txt': '2\n' }))
    const records = [item('one'), item('two'), ...passed(one), ...passed(two)]
    return { scene, records, whole: await scene.merge(records) }
  }

  test('after the ref moved: the record is written, the item is not merged again', async () => {
    const { scene, records, whole } = await stackAfter()
    cutJournal(scene, isIntentOf('two'))
    const again = await scene.merge(records)
    expect([again.status, again.integration?.head]).toEqual([0, whole.integration?.head])
    expect(again.merges.map(({ item: name, commit }) => [name, commit])).toEqual(
      whole.merges.map(({ item: name, commit }) => [name, commit]),
    )
    expect(scene.git('rev-list', '--count', `${scene.base}..${again.integration?.head}`)).toBe('2')
  })

  test('before the ref moved: the item is merged once', async () => {
    const { scene, records, whole } = await stackAfter()
    cutJournal(scene, isIntentOf('two'))
    scene.git('update-ref', `refs/heads/builders/${runId}`, whole.merges[0]?.commit ?? '')
    const again = await scene.merge(records)
    expect([again.status, again.integration?.head]).toEqual([0, whole.integration?.head])
    expect(scene.journal().filter(({ kind, item: name }) => kind === 'merge' && name === 'two')).toHaveLength(1)
  })

  test('a ref that nothing explains stops everything', async () => {
    const { scene, records } = await stackAfter()
    scene.git('update-ref', `refs/heads/builders/${runId}`, await scene.commit({ 'odd.txt': 'x\n' }))
    const { status, stderr } = await scene.merge(records)
    expect(status).toBe(1)
    expect(stderr).toContain('which no record explains')
  })
})
