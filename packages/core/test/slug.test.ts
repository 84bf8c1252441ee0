import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { distinctSlugs, slugify } from '../src/index.ts'

const safe = /^[a-z0-9][a-z0-9._-]{0,79}$/
const isSafe = (slug: string) =>
  safe.test(slug) && !slug.includes('..') && !slug.endsWith('.lock') && !slug.endsWith('.')

describe('slugs', () => {
  it.each([
    ['T001', 't001'],
    ['2.1', '2.1'],
    ['#132', '132'],
    ['acme/api#12', 'acme-api-12'],
    ['feat/', 'feat'],
    ['-x', 'x'],
    ['a..b', 'a.b'],
    ['DOM\\user', 'dom-user'],
    ['two\nlines', 'two-lines'],
    ['Über.lock', 'uber-lock'],
  ])('of %j is %s', (text, slug) => {
    expect(slugify(text)).toBe(slug)
  })

  it('are never empty, too long or shared, whatever the texts', () => {
    const texts = [
      '🎉',
      '🚀',
      '日本語',
      '中文',
      'x'.repeat(300),
      `${'x'.repeat(300)}y`,
      '',
      '..',
      '-',
      'T1',
      't1',
      't1',
      't1',
    ]
    const slugs = distinctSlugs(texts)
    expect(slugs.filter((slug) => !isSafe(slug))).toEqual([])
    expect(new Set(slugs).size).toBe(texts.length)
  })

  it('are safe and distinct for any list of texts', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 100 })), (texts) => {
        const slugs = distinctSlugs(texts)
        expect(slugs.every(isSafe)).toBe(true)
        expect(new Set(slugs).size).toBe(texts.length)
      }),
      { seed: 11, numRuns: 500 },
    )
  })

  it('do not change when the plan grows at its end', () => {
    expect(distinctSlugs(['T1', 't1', 'new']).slice(0, 2)).toEqual(distinctSlugs(['T1', 't1']))
  })
})
