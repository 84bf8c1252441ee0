import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { openStack, type Piece, type StackRun } from './stack.ts'

// Every step starts containers; on a busy machine one can take long without anything being wrong.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

const files = {
  'calc/__init__.py': 'from .area import area\n',
  'calc/area.py': 'def area(a):\n    return a * a\n',
  'tests/test_area.py': 'from calc.area import area\n\ndef test_area():\n    assert area(3) == 9\n',
  'tests/test_old.py': 'def test_red():\n    assert False\n',
}

const harmless = (n: number): Piece => ({
  item: `harmless-${n}`,
  files: { [`calc/h${n}.py`]: '', [`tests/test_h${n}.py`]: 'def test_fine():\n    pass\n' },
})

/** Takes a second argument from now on, and says so in its own test. */
const changesCall: Piece = {
  item: 'changes-call',
  files: {
    'calc/area.py': 'def area(a, b):\n    return a * b\n',
    'tests/test_area.py': 'from calc.area import area\n\ndef test_area():\n    assert area(3, 2) == 6\n',
  },
}

/** Calls it the old way from a new place. */
const addsCaller: Piece = {
  item: 'adds-caller',
  files: {
    'calc/tiles.py': 'from .area import area\n\ndef tiles(n):\n    return area(n) + 1\n',
    'tests/test_tiles.py': 'from calc.tiles import tiles\n\ndef test_tiles():\n    assert tiles(2) == 5\n',
  },
}

const opened: StackRun[] = []

async function open(...args: Parameters<typeof openStack>): Promise<StackRun> {
  const stack = await openStack(...args)
  opened.push(stack)
  return stack
}

afterAll(async () => {
  for (const stack of opened) await stack.close()
})

const kinds = (stack: StackRun) =>
  readFileSync(stack.journal(), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).kind as string)

describe('bw-verify', () => {
  it('is green when nothing got worse, though a test was red at the base, and runs nothing again', async () => {
    const stack = await open(files, [harmless(1), harmless(2)])
    const first = await stack.verify()
    expect(first).toMatchObject({ status: 0, verifications: [{ verdict: 'green', head: stack.head, culprits: [] }] })
    expect(first.verifications[0]?.changes.added).toEqual([
      'tests/test_h1.py::test_fine',
      'tests/test_h2.py::test_fine',
    ])
    const second = await stack.verify()
    expect(second.verifications).toEqual(first.verifications)
    expect(kinds(stack).filter((kind) => kind === 'baseline' || kind === 'verification')).toEqual([
      'baseline',
      'verification',
    ])
  })

  it('names two items that are green alone and red together, with the test', async () => {
    const stack = await open(files, [harmless(1), changesCall, harmless(2), addsCaller, harmless(3)])
    const { status, verifications, stderr } = await stack.verify()
    expect(verifications[0]).toMatchObject({
      verdict: 'red',
      culprits: ['changes-call', 'adds-caller'],
      changes: { newlyFailing: ['tests/test_tiles.py::test_tiles'], flaky: [] },
    })
    expect(stderr).toContain('red because of changes-call and adds-caller together: tests/test_tiles.py::test_tiles')
    expect(status).toBe(5)
  })

  it('names one item that is red by itself, not what it was built on', async () => {
    const broken: Piece = {
      item: 'broken',
      startsAfter: 2,
      files: {
        'calc/h1.py': 'import nothing_like_it\n',
        'tests/test_broken.py': 'import calc.h1\n\ndef test_it():\n    pass\n',
      },
    }
    const stack = await open(files, [harmless(1), harmless(2), broken, harmless(3)])
    const { verifications } = await stack.verify()
    expect(verifications[0]).toMatchObject({ verdict: 'red', culprits: ['broken'] })
  })

  it('puts together what both add to a shared file when it asks about a pair', async () => {
    const registers = (piece: Piece, line: string): Piece => ({
      ...piece,
      files: { ...piece.files, 'calc/__init__.py': `${files['calc/__init__.py']}${line}\n` },
    })
    const first = registers(changesCall, 'import calc.area')
    const between = {
      ...harmless(1),
      files: { ...harmless(1).files, 'calc/__init__.py': 'import os\nfrom .area import area\n' },
    }
    const stack = await open(files, [first, between, addsCaller], { shared: ['calc/__init__.py'] })
    const { verifications } = await stack.verify()
    expect(verifications[0]?.culprits).toEqual(['changes-call', 'adds-caller'])
  })

  it('misses a test that an item had and the whole has not', async () => {
    const claims = {
      ...harmless(1),
      tests: { 'tests/test_h1.py::test_fine': 'passed', 'tests/test_h1.py::test_lost': 'passed' } as const,
    }
    const stack = await open(files, [harmless(2), claims])
    const { status, verifications } = await stack.verify()
    expect(verifications[0]).toMatchObject({
      verdict: 'red',
      culprits: ['harmless-1'],
      changes: { vanished: ['tests/test_h1.py::test_lost'] },
    })
    expect(status).toBe(5)
  })

  it('takes the baseline for the verdict on a stack without items', async () => {
    const stack = await open(files, [])
    const { status, verifications } = await stack.verify()
    expect(verifications[0]).toMatchObject({ verdict: 'green', head: stack.run.base, result: { log: 'baseline.log' } })
    expect(status).toBe(0)
  })
})
