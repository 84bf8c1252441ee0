import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseRepoConfig, readUserConfig } from './config.ts'
import { workKey } from './keys.ts'
import { runPaths, stateDir } from './paths.ts'
import { protectedPrefixes, refuseProtected } from './protected-paths.ts'

describe('configuration', () => {
  test('an unknown key is an error that names it', () => {
    expect(() => parseRepoConfig(Buffer.from('{"tests":"make"}'))).toThrow(/tests/)
  })
  test('a missing file is an empty configuration, a broken one an error', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bw-config-'))
    expect(readUserConfig({ BW_CONFIG: join(folder, 'none.json') })).toEqual({})
    writeFileSync(join(folder, 'bad.json'), '{')
    expect(() => readUserConfig({ BW_CONFIG: join(folder, 'bad.json') })).toThrow('is not JSON')
  })
})

describe('protected paths', () => {
  const refuse = (path: string, prefixes: string[]) => () => refuseProtected(path, 'plan', { cwd: '/home/u', prefixes })
  test.each([
    ['/mnt/data', ['/mnt//data/']],
    ['/mnt/data/x', ['/mnt/data']],
    ['/mnt/./other/../data/x', ['/mnt/data']],
    ['../../mnt/data/x', ['/mnt/data']],
    ['/anything', ['/']],
  ])('%s is under %j', (path, prefixes) => expect(refuse(path, prefixes)).toThrow('protected path'))
  test.each([
    ['/mnt/database', ['/mnt/data']],
    ['/mnt', ['/mnt/data']],
  ])('%s is not under %j', (path, prefixes) => expect(refuse(path, prefixes)).not.toThrow())
  test('entries of the variable count beside the configured ones, and must be absolute', () => {
    expect(protectedPrefixes(['/a/'], { BW_PROTECTED_PATHS: '/b//c:/d' })).toEqual(['/a', '/b/c', '/d'])
    expect(() => protectedPrefixes(['a'], {})).toThrow('not absolute')
  })
})

describe('paths and keys', () => {
  test('the state folder follows the environment', () => {
    expect(stateDir({ HOME: '/h' })).toBe('/h/.local/state/buildwave')
    expect(stateDir({ HOME: '/h', XDG_STATE_HOME: '/s' })).toBe('/s/buildwave')
    expect(stateDir({ HOME: '/h', XDG_STATE_HOME: '/s', BW_STATE_DIR: '/b ü,' })).toBe('/b ü,')
    expect(() => stateDir({ BW_STATE_DIR: 'relative' })).toThrow('not an absolute path')
  })
  test.each(['../x', 'a/b', '', 'A', '.x', 'a..b'])('%j is no run id', (id) => {
    expect(() => runPaths('/s', id)).toThrow('is not a run id')
  })
  test('a key does not depend on the order of names, but on every value', () => {
    expect(workKey({ a: 1, b: [1, 2] })).toBe(workKey({ b: [1, 2], a: 1 }))
    expect(workKey({ a: 1, b: [1, 2] })).not.toBe(workKey({ a: 1, b: [2, 1] }))
    expect(workKey('a')).toMatch(/^[0-9a-f]{16}$/)
  })
})
