import { isRandom, isSpecimen } from '../judge.ts'

/** What a credential looks like: data, plus a judge where a shape alone would also be met by chance. */

export type Confidence = 'exact' | 'verified' | 'format' | 'heuristic'

export interface Rule {
  readonly id: string
  /** Lower case; the rule is tried only where one of these words stands, with `pattern` starting there. */
  readonly keywords: readonly string[]
  /**
   * Sticky, bounded quantifiers only, over text with one character per byte. The group `secret` (or `plain`, its form without quotes), else the whole match after
   * the group `before` (what a lookbehind saw to the left of the keyword), is the secret; the group `shown` is the public
   * beginning that a masked form may keep.
   */
  readonly pattern: RegExp
  /** The shape is proof by itself: used for masking and in joined and transformed views. */
  readonly strong: boolean
  /** The confidence with which this counts, or null when it is none. */
  readonly judge: (secret: string, found: FoundText) => Confidence | null
  /** Templates (see `template.ts`) of text in which the rule must find a secret. */
  readonly yes: readonly string[]
  /** Templates in which it must not; the test adds the `yes` templates filled with one letter and cut short. */
  readonly no: readonly string[]
}

export interface FoundText {
  readonly text: string
  /** Offset of the secret in `text`. */
  readonly start: number
  readonly shown: string
}

export interface TokenOptions {
  /** Class of characters that would make a longer token; default: letters and digits. */
  readonly alphabet?: string
  /** For beginnings that chance or other words also write: not right after a letter or digit. */
  readonly bounded?: boolean
  readonly judge?: Rule['judge']
  readonly no?: readonly string[]
}

/**
 * A rule for a credential with a beginning of its own.
 * @param prefix the literal beginnings, in their own case, separated by `|`
 * @param body regular expression source for the rest
 * @param yes templates, separated by `|`
 */
export function token(id: string, prefix: string, body: string, yes: string, options: TokenOptions = {}): Rule {
  const prefixes = prefix.split('|')
  // An escape such as \n before the token is not part of a longer word.
  const before = options.bounded ? '(?<![A-Za-z0-9_](?<!\\\\[nrtbfv]))' : ''
  const shown = prefixes.map(quotePattern).join('|')
  return {
    id,
    keywords: prefixes.map((each) => each.toLowerCase()),
    pattern: new RegExp(`${before}(?<shown>${shown})(?:${body})(?![${options.alphabet ?? 'A-Za-z0-9'}])`, 'y'),
    strong: true,
    judge: options.judge ?? judgeBody,
    yes: yes.split('|'),
    no: options.no ?? [],
  }
}

/** Between the name of a service or field and its value: the rest of the name, an assignment, an opening quote. */
const assignment =
  '[\\w.-]{0,32}["\'`\\]]{0,2}[ \\t]{0,8}(?:=>|:=|[=:,(]|[ \\t])[ \\t]{0,8}(?:Bearer |token )?\\\\{0,3}["\'`]?'

/** A rule for a value without a beginning of its own, told by the word before it. */
export function named(id: string, words: string, value: string, yes: string, options: TokenOptions = {}): Rule {
  const alphabet = options.alphabet ?? 'A-Za-z0-9_-'
  const keywords = words.split('|')
  return {
    id,
    keywords: keywords.map((word) => word.toLowerCase()),
    pattern: new RegExp(
      `(?:${keywords.map(quotePattern).join('|')})${assignment}(?<secret>${value})(?![${alphabet}])`,
      'iy',
    ),
    strong: false,
    judge: options.judge ?? judgeBody,
    yes: [yes],
    no: options.no ?? [],
  }
}

function judgeBody(secret: string, { shown }: FoundText): Confidence | null {
  return isRandom(secret.slice(shown.length)) && !isSpecimen(secret) ? 'format' : null
}

function quotePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
