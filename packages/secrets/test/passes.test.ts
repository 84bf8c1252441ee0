import { describe, expect, it } from 'vitest'
import { allPasses } from '../src/passes.ts'
import { scanBytes } from '../src/scan.ts'
import { fill, seeded } from './template.ts'
import { wrappings } from './wrappings.ts'

describe.each(wrappings.map((wrapping) => [wrapping.name, wrapping] as const))(
  'a token wrapped as %s',
  (name, wrapping) => {
    const random = seeded(name.length * 7919)
    const secret = fill('sk-ant-oat01-<w93>AA', random)
    const bytes = wrapping.wrap(secret, random)
    const options = { surface: 'file', file: wrapping.file ?? 'a' }

    it('is found, and the record of it says what it was wrapped in', () => {
      const { findings } = scanBytes(bytes, options)
      expect(findings.length).toBeGreaterThan(0)
      if (name !== 'kubernetes-secret') expect(findings.map((finding) => finding.secret)).toContain(secret)
      for (const need of wrapping.needs) expect(findings.some(({ via }) => via.includes(need))).toBe(true)
    })

    it.each(wrapping.needs)('is not seen without the pass %s', (need) => {
      const passes = allPasses.filter((pass) => pass.name !== need)
      const { findings } = scanBytes(bytes, { ...options, passes })
      expect(findings.filter((finding) => finding.secret === secret || name === 'kubernetes-secret')).toEqual([])
    })
  },
)

it('has a wrapping, or a test of its own, for every pass', () => {
  const needed = new Set(wrappings.flatMap(({ needs }) => needs))
  expect(allPasses.map((pass) => pass.name).filter((pass) => !needed.has(pass))).toEqual(['opaque'])
})
