import { describe, expect, it } from 'vitest'
import { unionOfAdditions } from './union.ts'

describe('unionOfAdditions', () => {
  it.each([
    ['both at the end', 'a\n', 'a\nb\n', 'a\nc\n', 'a\nb\nc\n'],
    ['both at the start', 'a\n', 'b\na\n', 'c\na\n', 'b\nc\na\n'],
    ['the same line once', 'a\n', 'a\nb\n', 'a\nb\n', 'a\nb\n'],
    ['a new file', '', 'b\n', 'c\n', 'b\nc\n'],
    ['no line end', 'a', 'a\nb', 'a\nc', 'a\nb\nc\n'],
    ['apart', 'a\nb\n', 'x\na\nb\n', 'a\ny\nb\n', 'x\na\ny\nb\n'],
  ])('keeps what both added: %s', (_title, base, ours, theirs, merged) => {
    expect(unionOfAdditions(base, ours, theirs)).toBe(merged)
  })

  it('refuses when a side changed or took away a line', () => {
    expect(unionOfAdditions('a\nb\n', 'a\n', 'a\nb\nc\n')).toBeNull()
    expect(unionOfAdditions('a\nb\n', 'a\nb\nc\n', 'a\nB\n')).toBeNull()
  })
})
