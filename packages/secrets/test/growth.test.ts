/** Work is counted, not timed: bytes looked at, views made, rules tried. Doubling a text must not more than double it. */
import { describe, expect, it } from 'vitest'
import type { Work } from '../src/match.ts'
import { rules } from '../src/rules.ts'
import { scanBytes } from '../src/scan.ts'
import { fill, seeded } from './template.ts'

/** What a quadratic step would pass beyond: 2.2 at twice the size. */
const mostGrowth = 2.2

function workOf(text: string): Work {
  return scanBytes(Buffer.from(text, 'latin1'), { surface: 'file', file: 'a' }).work
}

function expectLinear(make: (count: number) => string, count: number): void {
  const [once, twice] = [workOf(make(count)), workOf(make(count * 2))]
  expect(twice.bytes).toBeLessThanOrEqual(once.bytes * mostGrowth + 4096)
  expect(twice.tries).toBeLessThanOrEqual(once.tries * mostGrowth + 64)
  expect(twice.views).toBeLessThanOrEqual(once.views * mostGrowth + 16)
}

describe('the work of a scan at most doubles with', () => {
  const shapes: Readonly<Record<string, (count: number) => string>> = {
    'beginnings without an end': (n) => 'sk-ant-'.repeat(n),
    'headers of keys': (n) => '-----BEGIN PRIVATE KEY-----\n'.repeat(n),
    'first parts of web tokens': (n) => `eyJ${'a'.repeat(40)}.`.repeat(n),
    assignments: (n) => 'password = '.repeat(n),
    addresses: (n) => 'a://b:'.repeat(n),
    escapes: (n) => '\\u0041\\x41%41&#65;=3D'.repeat(n),
    'escaped escapes': (n) => '\\\\\\\\n'.repeat(n),
    quotes: (n) => `"a" + 'b' + \`c\` `.repeat(n),
    'one line of base64': (n) => Buffer.from('sk-ant- and other words. '.repeat(n)).toString('base64'),
    'short lines of base64': (n) => `${Buffer.from('some twenty bytes of it').toString('base64')}\n`.repeat(n),
    'starts of archives': (n) => 'PK\x03\x04\x1f\x8b\x08\x78\x9c'.repeat(n),
    'spaced letters': (n) => 's k - a n t - '.repeat(n),
    digits: (n) => '115, 107, 45, '.repeat(n),
    'diff lines': (n) => `@@ -1,${n} +1,${n} @@\n${'+sk-\n-ant\n'.repeat(n)}`,
    'zeros between letters': (n) => 's\0k\0-\0'.repeat(n),
    'machine entries': (n) => 'machine a login b password '.repeat(n),
    'secrets of kubernetes': (n) => 'kind: Secret\n a: YWJjZGVmZ2g=\n---\n'.repeat(n),
  }
  it.each(Object.entries(shapes))('%s', (_, make) => expectLinear(make, 1500))

  it('the examples of each rule, repeated', () => {
    for (const rule of rules) {
      const text = rule.yes.map((template) => fill(template, seeded(4))).join('\n')
      expectLinear((count) => `${text}\n`.repeat(count), 40)
    }
  })
})
