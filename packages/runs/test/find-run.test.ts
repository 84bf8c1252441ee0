import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/repository.ts'
import { findState, listRuns, pickRun, refuseRest } from '../src/index.ts'

function stateWith(...runs: string[]): string {
  const state = temporaryFolder()
  for (const run of runs) mkdirSync(join(state, 'runs', run), { recursive: true })
  return state
}

it('takes the run that the first argument names, else the only one', () => {
  const two = stateWith('a-1', 'b-2')
  expect(pickRun(two, ['b-2', '3'])).toMatchObject({ paths: { id: 'b-2' }, rest: ['3'] })
  const one = stateWith('a-1')
  expect(pickRun(one, ['3'])).toMatchObject({ paths: { id: 'a-1' }, rest: ['3'] })
  expect(pickRun(one, [])).toMatchObject({ paths: { id: 'a-1' }, rest: [] })
})

it('guesses no run among several, and none where there is none', () => {
  const two = stateWith('a-1', 'b-2')
  expect(() => pickRun(two, ['3'])).toThrow("no run '3'")
  expect(() => pickRun(two, [])).toThrow('there are 2 runs')
  expect(() => pickRun(temporaryFolder(), [])).toThrow('no run is kept')
  expect(() => refuseRest(['typo'], 'run')).toThrow("no run 'typo'")
})

it('lists folders whose name is a run id, and makes nothing by looking', () => {
  const state = stateWith('a-1', '.hidden', 'Upper')
  writeFileSync(join(state, 'runs', 'file'), '')
  symlinkSync('/nonexistent', join(state, 'runs', 'dangling'))
  expect(listRuns(state)).toEqual(['a-1'])
  const missing = join(temporaryFolder(), 'none')
  expect(listRuns(missing)).toEqual([])
  expect(existsSync(missing)).toBe(false)
})

it('refuses a state folder under a protected path by its text', () => {
  const env = { BW_STATE_DIR: '/nonexistent/state', BW_PROTECTED_PATHS: '/nonexistent', HOME: temporaryFolder() }
  expect(() => findState({ env, cwd: '/' })).toThrow('protected path')
  expect(findState({ env: { ...env, BW_PROTECTED_PATHS: '/other' }, cwd: '/' })).toBe('/nonexistent/state')
})
