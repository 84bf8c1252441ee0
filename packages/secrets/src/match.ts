/** Rules tried where their keywords stand: one pass finds the places, each rule then looks at its own. */

import { type Automaton, buildAutomaton, findWords, type WordHits } from './automaton.ts'
import type { Confidence, Rule } from './rules/rule.ts'

export interface RuleSet {
  readonly automaton: Automaton
  /** The rules to try for each word of the table. */
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

/** @param signs further words to find in the same pass, for others to use */
export function buildRuleSet(rules: readonly Rule[], signs: readonly string[] = []): RuleSet {
  const byWord = new Map<string, Rule[]>()
  for (const rule of rules) {
    for (const word of rule.keywords) byWord.set(word, [...(byWord.get(word) ?? []), rule])
  }
  for (const sign of signs) if (!byWord.has(sign)) byWord.set(sign, [])
  return { automaton: buildAutomaton([...byWord.keys()]), rulesOf: [...byWord.values()] }
}

/** What rules are tried on. */
export interface Searched {
  readonly bytes: Uint8Array
  /** `bytes` as latin-1, so that offsets agree. */
  readonly text: string
}

/** All secrets that the rules find, in order of their start; one match for each place. */
export function matchRules(ruleSet: RuleSet, searched: Searched, work: Work): Match[] {
  return matchHits(ruleSet, { hits: findWords(ruleSet.automaton, searched.bytes), text: searched.text }, work)
}

/** As {@link matchRules}, where the words have been found already. */
export function matchHits(
  { automaton, rulesOf }: RuleSet,
  { hits, text }: { hits: WordHits; text: string },
  work: Work,
): Match[] {
  const matches: Match[] = []
  work.bytes += text.length
  for (const [index, word] of hits.words.entries()) {
    const start = (hits.ends[index] ?? 0) - (automaton.words[word]?.length ?? 0)
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
