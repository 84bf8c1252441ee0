import { describe, expect, it } from 'vitest'
import { latin1 } from '../src/latin1.ts'
import { buildRuleSet, matchRules } from '../src/match.ts'
import { rules } from '../src/rules.ts'
import { fill, seeded } from './template.ts'

const all = buildRuleSet(rules)

function found(text: string): string[] {
  const bytes = Buffer.from(text)
  return matchRules(all, { bytes, text: latin1(bytes) }, { bytes: 0, views: 0, tries: 0 }).map((match) => match.rule)
}

describe('the rule table', () => {
  it('names more than 120 kinds of credential, each once', () => {
    expect(rules.length).toBeGreaterThan(120)
    expect(new Set(rules.map((rule) => rule.id)).size).toBe(rules.length)
  })

  it('bounds every quantifier, so that the work at one keyword does not grow with the text', () => {
    for (const rule of rules) {
      const source = rule.pattern.source.replace(/\\./g, '').replace(/\[[^\]]*\]/g, '')
      expect(source, rule.id).not.toMatch(/[*+]|\{\d+,\}/)
      expect(rule.pattern.flags, rule.id).toContain('y')
    }
  })
})

describe.each(rules.map((rule) => [rule.id, rule] as const))('%s', (id, rule) => {
  it('is found in each of its examples, for five draws', () => {
    expect(rule.yes.length).toBeGreaterThan(0)
    for (const template of rule.yes) {
      for (let seed = 1; seed <= 5; seed++) {
        const text = fill(template, seeded(seed))
        expect(found(`x ${text} y\n`), text).toContain(id)
      }
    }
  })

  it('is not found in its counter-examples, nor cut short, nor filled with one letter', () => {
    for (const template of [...rule.no, ...rule.yes.flatMap(spoil)]) {
      const text = fill(template, seeded(3))
      expect(found(`x ${text} y\n`), text).not.toContain(id)
    }
  })
})

/** The template with its random parts replaced by a run of one letter, and cut to an eighth. */
function spoil(template: string): string[] {
  return [
    template.replace(/<[a-z]+\d*>/gi, (part) => 'x'.repeat(Number(/\d+/.exec(part)?.[0] ?? 36))),
    template.replace(
      /<([a-z]+?_?)(\d+)>/gi,
      (_, kind: string, count: string) => `<${kind}${Math.floor(Number(count) / 8)}>`,
    ),
  ].filter((spoiled) => spoiled !== template)
}
