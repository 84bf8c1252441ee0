import { describe, expect, it } from 'vitest'
import { compileScope } from '../src/index.ts'

describe('scope', () => {
  it.each([
    [['src/**'], 'src/.env', true],
    [['src/**'], 'src', false],
    [['src/'], 'src/a/b.ts', true],
    [['src/auth'], 'src/auth/login.ts', true],
    [['src/auth.ts'], 'src/auth.ts/x', false],
    [['app/[id]/page.tsx'], 'app/[id]/page.tsx', true],
    [['app/[id]/page.tsx'], 'app/i/page.tsx', false],
    [['app/(shop)/**'], 'app/(shop)/cart.ts', true],
    [['*.md'], 'docs/deep/.notes.md', true],
    [['src/{a,b}.ts:10-20'], 'src/b.ts', true],
    [['src/**', '!src/gen/'], 'src/gen/api.ts', false],
    [['src/**', '!src/gen/'], 'src/general.ts', true],
    [[], 'a.ts', false],
    [['a4/**'], 'a4/x\ny/z.ts', true],
    [['a4/'], 'a4/\r\u2028\n', true],
    [['src/*.ts'], 'src/a\nb.ts', true],
    [['src/?.ts'], 'src/\n.ts', true],
    [['a4/**'], 'a4\n/z.ts', false],
    [['**', '!a4/**'], 'a4/x\ny/z.ts', false],
    [['caf\u00e9.md'], 'cafe\u0301.md', true],
  ])('of %j: is %s within? %s', (globs, path, expected) => {
    expect(compileScope(globs)(path)).toBe(expected)
  })
})
