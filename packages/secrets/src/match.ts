/** Rules tried where their keywords stand: one automaton pass finds the places, each rule then looks at its own. */
import { type Automaton, buildAutomaton, findWords } from './automaton.ts'
import type { Confidence, Rule } from './rules/rule.ts'

export interface RuleSet {
  readonly automaton: Automaton
  /** The rules to try for each word of the automaton. */
  readonly rulesOf: readonly (readonly Rule[])[]
}

export interface Match {
  readonly rule: string
  readonly confidence: Confidence
  readonly strong: boolean
  readonly secret: string
  /** The public beginning that a masked form may keep. */
  readonly shown: string
  /** Byte offsets of the secret. */
  readonly start: number
  readonly end: number
}

/** Counts of what was done, so that tests can hold growth and savings without a clock. */
export interface Work {
  bytes: number
  views: number
  tries: number
}

export function buildRuleSet(rules: readonly Rule[]): RuleSet {
  const byWord = new Map<string, Rule[]>()
  for (const rule of rules) {
    for (const word of rule.keywords) byWord.set(word, [...(byWord.get(word) ?? []), rule])
  }
  return { automaton: buildAutomaton([...byWord.keys()]), rulesOf: [...byWord.values()] }
}

/**
 * All secrets that the rules find in `bytes`, in order of their start; one match for each place, that of the rule that comes
 * first in the set.
 * @param text `bytes` as latin-1, so that offsets agree
 */
export function matchRules(ruleSet: RuleSet, bytes: Uint8Array, text: string, work: Work): Match[] {
  const { automaton, rulesOf } = ruleSet
  const matches: Match[] = []
  work.bytes += bytes.length
  for (const { word, end } of findWords(automaton, bytes)) {
    const start = end - (automaton.words[word]?.length ?? 0)
    for (const rule of rulesOf[word] ?? []) {
      work.tries++
      const match = tryRule(rule, text, start)
      if (match !== null) matches.push(match)
    }
  }
  return withoutOverlaps(matches)
}

function tryRule(rule: Rule, text: string, at: number): Match | null {
  rule.pattern.lastIndex = at
  const found = rule.pattern.exec(text)
  if (found === null) return null
  const before = found.groups?.['before'] ?? ''
  const secret = found.groups?.['secret'] ?? found.groups?.['plain'] ?? before + found[0]
  const shown = found.groups?.['shown'] ?? ''
  const start = before === '' ? found.index + found[0].lastIndexOf(secret) : found.index - before.length
  const confidence = rule.judge(secret, { text, start, shown })
  if (confidence === null) return null
  return { rule: rule.id, confidence, strong: rule.strong, secret, shown, start, end: start + secret.length }
}

/** Keeps of overlapping matches the one whose shape proves most, then the longest. */
function withoutOverlaps(matches: Match[]): Match[] {
  if (matches.length < 2) return matches
  const kept: Match[] = []
  for (const match of matches.toSorted(byStart)) {
    const last = kept.at(-1)
    if (last === undefined || match.start >= last.end) kept.push(match)
    else if (isBetter(match, last)) kept[kept.length - 1] = match
  }
  return kept
}

function byStart(a: Match, b: Match): number {
  return a.start - b.start || b.end - a.end
}

function isBetter(a: Match, b: Match): boolean {
  const difference = rank(a) - rank(b)
  return difference !== 0 ? difference > 0 : a.end - a.start > b.end - b.start
}

function rank(match: Match): number {
  return match.strong ? 2 : match.confidence === 'heuristic' ? 0 : 1
}
