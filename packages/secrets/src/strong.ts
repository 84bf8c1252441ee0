/**
 * The tables that all scans share, made at their first use since every tool loads this package for its masks, and what is
 * found with them once per view.
 */
import { findWords, type WordHit } from './automaton.ts'
import { buildRuleSet } from './match.ts'
import { once } from './once.ts'
import { rules } from './rules.ts'

/** The rules that are proof without any context: for masking, and for views made by joining or mirroring text. */
export const strongRules = once(() => buildRuleSet(rules.filter((rule) => rule.strong)))

/** All rules; in the same pass the signs of mirrored tokens are found. */
export const allRules = once(() => buildRuleSet(rules, [...reversedWords(), ...rotatedWords()]))

/** Beginnings that are rare enough to be looked for backwards or shifted: shorter ones are ordinary syllables there. */
function distinctWords(): string[] {
  return strongRules().automaton.words.filter((word) => word.length >= 4 && /[-_]/.test(word))
}

const reversedWords = once(() => new Set(distinctWords().map((word) => [...word].toReversed().join(''))))

const rotatedWords = once(() => new Set(distinctWords().map(rotate)))

/** What a word of `allRules` is a sign of, by its index. */
export const wordSigns = once(() => {
  const { automaton, rulesOf } = allRules()
  return automaton.words.map((word, index) => ({
    isStrong: (rulesOf[index] ?? []).some((rule) => rule.strong),
    isReversed: reversedWords().has(word),
    isRotated: rotatedWords().has(word),
  }))
})

const known = new WeakMap<object, WordHit[]>()

/** Where the words of `allRules` stand in a view, found once. */
export function hitsOf(view: { readonly bytes: Uint8Array }): readonly WordHit[] {
  let hits = known.get(view)
  if (hits === undefined) {
    hits = findWords(allRules().automaton, view.bytes)
    known.set(view, hits)
  }
  return hits
}

/** Rot13, which is its own inverse. */
export function rotate(text: string): string {
  return text.replace(/[a-zA-Z]/g, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
}
