/**
 * Recall and false alarms on a corpus of the project's own, made anew from a seed: every rule's examples, the usual tokens in
 * every wrapping, and what looks like secrets and is none. `BW_CORPUS_SEED` gives other draws.
 */
import { describe, expect, it } from 'vitest'
import { rules } from '../src/rules.ts'
import { scanBytes } from '../src/scan.ts'
import { negatives } from './negatives.ts'
import { fill, seeded } from './template.ts'
import { wrappings } from './wrappings.ts'

const seed = Number(process.env['BW_CORPUS_SEED'] ?? 20_261_129)

const claudeKinds = ['sk-ant-oat01-<w93>AA', 'sk-ant-api03-<w93>AA', 'sk-ant-ort01-<w93>AA', 'sk-ant-newer42-<w93>AA']
const otherKinds = ['ghp_<crc30>', 'sk-proj-<w74>T3BlbkFJ<w74>', 'xoxb-<d12>-<d13>-<n24>', 'sk_live_<n99>']

interface Case {
  readonly name: string
  readonly secret: string
  readonly isFound: boolean
  readonly isExact: boolean
}

function wrapAll(templates: readonly string[]): Case[] {
  return templates.flatMap((template, kind) =>
    wrappings
      .filter(({ name }) => name !== 'kubernetes-secret')
      .map(({ name, file, wrap }, index) => {
        const random = seeded(seed + kind * 1000 + index)
        const secret = fill(template, random)
        const { findings } = scanBytes(wrap(secret, random), { surface: 'file', file: file ?? 'a' })
        const isExact = findings.some((finding) => finding.secret === secret)
        return { name: `${template} ${name}`, secret, isFound: findings.length > 0, isExact }
      }),
  )
}

describe(`the corpus of seed ${seed}`, () => {
  it('shows every Claude token, of known and new kinds, in every wrapping, whole', () => {
    const cases = wrapAll(claudeKinds)
    expect(cases.filter(({ isExact }) => !isExact).map(({ name }) => name)).toEqual([])
  })

  it('shows at least 99 % of the other usual tokens in the same wrappings', () => {
    const cases = wrapAll(otherKinds)
    const missed = cases.filter(({ isFound }) => !isFound).map(({ name }) => name)
    expect(missed.length, missed.join(', ')).toBeLessThanOrEqual(cases.length * 0.01)
  })

  it('shows at least 99 % of what the rules are for, in twenty draws of every example', () => {
    const missed: string[] = []
    let count = 0
    for (const [index, rule] of rules.entries()) {
      for (const template of rule.yes) {
        for (let draw = 0; draw < 20; draw++, count++) {
          const text = `const k = 1\n${fill(template, seeded(seed + index * 100 + draw))}\nend\n`
          const { findings } = scanBytes(Buffer.from(text), { surface: 'file', file: 'a' })
          if (findings.length === 0) missed.push(rule.id)
        }
      }
    }
    expect(missed.length, missed.join(', ')).toBeLessThanOrEqual(count * 0.01)
  })

  it('raises no alarm on what only looks like a secret', () => {
    for (const [name, make] of Object.entries(negatives)) {
      for (let draw = 0; draw < 5; draw++) {
        const { findings, incomplete } = scanBytes(Buffer.from(make(seeded(seed + draw))), {
          surface: 'file',
          file: 'a',
        })
        expect(
          findings.map(({ rule, via, secret }) => [rule, via, secret]),
          name,
        ).toEqual([])
        expect(incomplete, name).toEqual([])
      }
    }
  })
})
