import { describe, expect, test } from 'vitest'
import { type Flags, parseFlags } from './flags.ts'

const flags = {
  'max-parallel': { type: 'count', help: '', env: 'BW_MAX_PARALLEL' },
  shared: { type: 'strings', help: '', env: 'BW_SHARED' },
  name: { type: 'string', help: '' },
  again: { type: 'boolean', help: '' },
} as const satisfies Flags
const parse = (...argv: string[]) => parseFlags({ argv, env: {} }, flags)

describe('flags', () => {
  test('values come by camel-cased name, repeated ones as a list, the rest as arguments', () => {
    expect(parse('PLAN.md', '--max-parallel', '2', '--shared', 'a', '--shared=b', '2', '3')).toEqual({
      flags: { maxParallel: 2, shared: ['a', 'b'], name: undefined, again: false },
      args: ['PLAN.md', '2', '3'],
    })
  })

  test('a flag beats its variable, an empty variable is none', () => {
    expect(parseFlags({ argv: [], env: { BW_MAX_PARALLEL: '5' } }, flags).flags.maxParallel).toBe(5)
    expect(parseFlags({ argv: ['--max-parallel', '1'], env: { BW_MAX_PARALLEL: '5' } }, flags).flags.maxParallel).toBe(
      1,
    )
    expect(parseFlags({ argv: [], env: { BW_MAX_PARALLEL: '' } }, flags).flags.maxParallel).toBeUndefined()
  })

  test.each([
    [['--bogus', '7'], "unknown flag '--bogus'"],
    [['--name', 'a', '--name', 'b'], "'--name' is given twice"],
    [['--name'], 'argument missing'],
    [['--max-parallel', '0'], "needs a whole number above 0, not '0'"],
    [['--max-parallel', '1e'], "needs a whole number above 0, not '1e'"],
    [['--again=yes'], 'does not take an argument'],
  ])('%j is refused', (argv, message) => {
    expect(() => parse(...argv)).toThrow(message)
  })

  test('a near miss names the flag that was meant', () => {
    expect(() => parse('--max-paralel', '2')).toThrow(
      expect.objectContaining({ hint: "did you mean '--max-parallel'? see --help" }),
    )
  })

  test('what follows -- is an argument even when it looks like a flag', () => {
    expect(parse('--', '--bogus').args).toEqual(['--bogus'])
  })
})
