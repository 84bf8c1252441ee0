import { expect, test } from 'vitest'
import { unionOfAdditions } from './union.ts'

test.each([
  ['both at the end, ours first', 'a\n', 'a\nb\n', 'a\nc\n', 'a\nb\nc\n'],
  ['at different places', 'a\nb\n', '0\na\nb\n', 'a\nb\nc\n', '0\na\nb\nc\n'],
  ['the same block once', 'a\n', 'a\nb\n', 'a\nb\n', 'a\nb\n'],
  ['blocks that share a line whole', 'a\n', 'a\nb\n\n', 'a\nc\n\n', 'a\nb\n\nc\n\n'],
  ['CRLF as it is', 'a\r\n', 'a\r\nb\r\n', 'a\r\nc\r\n', 'a\r\nb\r\nc\r\n'],
  ['after a last line without an end', 'a', 'a\nb', 'a\nc', 'a\nb\nc\n'],
  ['a file new on both sides', '', 'b\n', 'c\n', 'b\nc\n'],
  ['one side alone', 'a\n', 'a\n', 'a\nc\n', 'a\nc\n'],
])('%s', (_title, base, ours, theirs, union) => {
  expect(unionOfAdditions(base, ours, theirs)).toBe(union)
})

test.each([
  ['a line that is taken away', 'a\nb\n', 'a\n', 'a\nb\nc\n'],
  ['a line that is changed', 'a\nb\n', 'a\nb\nc\n', 'a\nB\n'],
  ['lines that change places', 'a\nb\n', 'b\na\n', 'a\nb\nc\n'],
])('%s is no union', (_title, base, ours, theirs) => {
  expect(unionOfAdditions(base, ours, theirs)).toBeNull()
})
