/** All that is sought by its words in some bytes, found in one pass over them and once for each view. */
import { findWords, type WordHits } from './automaton.ts'
import { buildRuleSet } from './match.ts'
import { once } from './once.ts'
import { rules } from './rules.ts'
import { strongRules } from './strong.ts'

/** All rules; in the same pass the signs of mirrored tokens are found, and those that decoding passes look for. */
export const allRules = once(() =>
  buildRuleSet(rules, [...reversedWords(), ...rotatedWords(), ...quoteWords(), ...passSigns]),
)

/** Beginnings that are rare enough to be looked for backwards or shifted: shorter ones are ordinary syllables there. */
function distinctWords(): string[] {
  return strongRules().automaton.words.filter((word) => word.length >= 4 && /[-_]/.test(word))
}

const reversedWords = once(() => new Set(distinctWords().map((word) => [...word].toReversed().join(''))))

const rotatedWords = once(() => new Set(distinctWords().map(rotate)))

/** Beginnings of what passes read, with one character a byte; letters in lower case, so a hit has still to be looked at. */
const passSigns = [
  '\x1f\x8b\x08',
  '\x28\xb5\x2f\xfd',
  '\x78\x01',
  '\x78\x5e',
  '\x78\x9c',
  '\x78\xda',
  'pk\x03\x04',
  'git binary patch',
  '@@ -',
  'kind:',
  '=3d',
  '=2d',
  '=5f',
  '=\n',
  '><',
] as const

export type PassSign = (typeof passSigns)[number]

/** What may stand between pieces of a word. */
export const separators = ' \t\r\n"\'`+,.|&\\()[]'

/** A quote that no piece follows. */
const quoteWords = once(
  () => new Set([...'"\'`'].flatMap((quote) => [...separators].map((separator) => quote + separator))),
)

/** Where the words of all kinds stand in some bytes. */
export interface Survey {
  /** The words of rules. */
  readonly hits: WordHits
  /** Those of them that begin strong tokens. */
  readonly strong: WordHits
  /** Ends of such beginnings, reversed and rotated. */
  readonly reversed: readonly number[]
  readonly rotated: readonly number[]
  /** Offsets of the quotes that no piece follows. */
  readonly quotes: readonly number[]
  /** Offsets of a sign, empty where it does not stand. */
  readonly signs: (sign: PassSign) => readonly number[]
}

/** Roles of a word, as bits. */
const role = { rule: 1, strong: 2, reversed: 4, rotated: 8, quote: 16, sign: 32 } as const

const rolesOfWords = once(() => {
  const { automaton, rulesOf } = allRules()
  const signs: ReadonlySet<string> = new Set(passSigns)
  return Uint8Array.from(automaton.words, (word, index) => {
    const own = rulesOf[index] ?? []
    return (
      (own.length > 0 ? role.rule : 0) |
      (own.some((rule) => rule.strong) ? role.strong : 0) |
      (reversedWords().has(word) ? role.reversed : 0) |
      (rotatedWords().has(word) ? role.rotated : 0) |
      (quoteWords().has(word) ? role.quote : 0) |
      (signs.has(word) ? role.sign : 0)
    )
  })
})

const known = new WeakMap<object, Survey>()

/** The survey of a view, made once. */
export function surveyOf(view: { readonly bytes: Uint8Array }): Survey {
  let survey = known.get(view)
  if (survey === undefined) {
    survey = makeSurvey(view.bytes)
    known.set(view, survey)
  }
  return survey
}

function makeSurvey(bytes: Uint8Array): Survey {
  const { automaton } = allRules()
  const roles = rolesOfWords()
  const { words, ends } = findWords(automaton, bytes)
  const survey = {
    hits: { words: [] as number[], ends: [] as number[] },
    strong: { words: [] as number[], ends: [] as number[] },
    reversed: [] as number[],
    rotated: [] as number[],
    quotes: [] as number[],
  }
  const signs = new Map<string, number[]>()
  for (let i = 0; i < words.length; i++) {
    const [word, end] = [words[i] as number, ends[i] as number]
    const roleBits = roles[word] as number
    if ((roleBits & role.rule) !== 0) add(survey.hits, word, end)
    if ((roleBits & role.strong) !== 0) add(survey.strong, word, end)
    if ((roleBits & role.reversed) !== 0) survey.reversed.push(end)
    if ((roleBits & role.rotated) !== 0) survey.rotated.push(end)
    if ((roleBits & role.quote) !== 0) survey.quotes.push(end - 2)
    if ((roleBits & role.sign) !== 0) {
      const text = automaton.words[word] ?? ''
      const places = signs.get(text)
      if (places === undefined) signs.set(text, [end - text.length])
      else places.push(end - text.length)
    }
  }
  return { ...survey, signs: (sign) => signs.get(sign) ?? [] }
}

function add(hits: WordHits, word: number, end: number): void {
  hits.words.push(word)
  hits.ends.push(end)
}

/** Rot13, which is its own inverse. */
export function rotate(text: string): string {
  return text.replace(/[a-zA-Z]/g, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
}
