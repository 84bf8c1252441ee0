/** The tables that all scans share, and what is found with them once per view. */

import { findWords, type WordHit } from './automaton.ts'
import { buildRuleSet } from './match.ts'
import { rules } from './rules.ts'

/** The rules that are proof without any context: for masking, and for views made by joining or mirroring text. */
export const strongRules = buildRuleSet(rules.filter((rule) => rule.strong))

/** Beginnings that are rare enough to be looked for backwards or shifted: shorter ones are ordinary syllables there. */
const distinctWords = strongRules.automaton.words.filter((word) => word.length >= 4 && /[-_]/.test(word))

const reversedWords = new Set(distinctWords.map((word) => [...word].toReversed().join('')))

const rotatedWords = new Set(distinctWords.map(rotate))

export const allRules = buildRuleSet(rules, [...reversedWords, ...rotatedWords])

const { words } = allRules.automaton

/** For each word of `allRules`, whether a strong rule begins with it. */
export const isStrongWord = allRules.rulesOf.map((found) => found.some((rule) => rule.strong))

/** For each word of `allRules`, whether it begins a token read backwards, or shifted by 13 letters. */
export const isReversedWord = words.map((word) => reversedWords.has(word))
export const isRotatedWord = words.map((word) => rotatedWords.has(word))

const known = new WeakMap<object, WordHit[]>()

/** Where the words of `allRules` stand in a view, found once. */
export function hitsOf(view: { readonly bytes: Uint8Array }): readonly WordHit[] {
  let hits = known.get(view)
  if (hits === undefined) {
    hits = findWords(allRules.automaton, view.bytes)
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
