import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { planItems } from '../src/plan.ts'
import { readPlan } from '../src/read/read-plan.ts'

interface ExpectedItem {
  id: string
  title: string
  done: boolean
  deps: string[]
  files: string[]
  kind: string
  line: number
  state?: string
  optional?: boolean
  parallel?: boolean
}
interface Expected {
  input: string
  format: string
  options: { maxParallel: number }
  exit: number
  items: ExpectedItem[]
  groups?: string[]
  notItems?: string[]
  notFiles?: Record<string, string[]>
  mayAlsoInclude?: Record<string, string[]>
  waves: {
    exact: string[][]
    absent: string[]
    apart: string[][]
    before: string[][]
    together?: string[][]
  } | null
  diagnostics: { level: string; kind: string; line: number; id?: string; about?: string }[]
}

const cases = new URL('cases/plans/', import.meta.url)

describe.each(readdirSync(cases).toSorted())('%s', (name) => {
  const folder = new URL(`${name}/`, cases)
  const expected = JSON.parse(readFileSync(new URL('expected.json', folder), 'utf8')) as Expected
  const reading = readPlan({ name: expected.input, bytes: readFileSync(new URL(expected.input, folder)) })
  const planned = planItems(reading, { maxParallel: expected.options.maxParallel })
  const told = planned.diagnostics

  it('gives the diagnostics', () => {
    const errors = told.filter(({ level }) => level === 'error').map(({ kind, line }) => `${line} ${kind}`)
    const wanted = expected.diagnostics
      .filter(({ level }) => level === 'error')
      .map(({ kind, line }) => `${line} ${kind}`)
    expect(errors).toEqual(wanted)
    for (const { level, kind, line, id, about } of expected.diagnostics) {
      const found = told.find((one) => one.kind === kind && one.line === line)
      expect(found).toMatchObject({
        level,
        kind,
        line,
        ...(id === undefined ? {} : { id }),
        ...(about === undefined ? {} : { about }),
      })
    }
    expect(planned.items.length === 0).toBe(expected.exit === 1)
  })

  it('gives the items', () => {
    if (expected.exit === 1) return
    const also = expected.mayAlsoInclude ?? {}
    const items = reading.items.map((item) => ({
      id: item.id,
      title: item.title,
      done: item.state === 'done' || item.state === 'skipped',
      deps: item.after.toSorted(),
      files: item.owns.filter((path) => !also[item.id]?.includes(path)).toSorted(),
      kind: item.type,
      line: item.line,
    }))
    expect(items).toEqual(
      expected.items.map(({ id, title, done, deps, files, kind, line }) => ({
        id,
        title: title.replace(/\s+/g, ' '),
        done,
        deps: deps.toSorted(),
        files: files.filter((path) => !also[id]?.includes(path)).toSorted(),
        kind,
        line,
      })),
    )
    for (const { id, state, optional, parallel } of expected.items) {
      const item = reading.items.find((one) => one.id === id)
      if (state !== undefined) expect(item?.state).toBe(state)
      if (optional !== undefined) expect(item?.optional).toBe(optional)
      if (parallel !== undefined) expect(item?.marked).toBe(parallel)
    }
    expect(reading.format).toBe(expected.format)
  })

  it('gives none of what only looks like it', () => {
    for (const id of expected.groups ?? []) expect(reading.items.map((item) => item.id)).not.toContain(id)
    for (const text of expected.notItems ?? []) {
      expect(reading.items.map(({ title }) => title)).not.toContain(text.replaceAll('`', ''))
    }
    for (const [id, paths] of Object.entries(expected.notFiles ?? {})) {
      const owns = reading.items.find((item) => item.id === id)?.owns ?? []
      for (const path of paths) expect(owns).not.toContain(path)
    }
  })

  it('gives the waves', () => {
    if (expected.waves === null) return
    const waveOf = new Map(planned.items.map(({ id, wave }) => [id, wave]))
    const waves: string[][] = []
    for (const { id, wave } of planned.items) if (wave !== null) waves[wave - 1] = [...(waves[wave - 1] ?? []), id]
    expect(waves).toEqual(expected.waves.exact)
    for (const id of expected.waves.absent) expect(waveOf.get(id)).toBeNull()
    for (const [a = '', b = ''] of expected.waves.before) expect(waveOf.get(a) ?? 0).toBeLessThan(waveOf.get(b) ?? 0)
    for (const [a = '', b = ''] of expected.waves.apart) expect(waveOf.get(a)).not.toBe(waveOf.get(b))
    for (const group of expected.waves.together ?? []) expect(new Set(group.map((id) => waveOf.get(id))).size).toBe(1)
  })
})
