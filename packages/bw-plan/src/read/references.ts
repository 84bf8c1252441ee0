/** What a text says about which items come first. */

/** A mention of other items: one, a range, or all that stand before. */
export type Reference =
  | { type: 'one'; id: string; isLoose: boolean }
  | { type: 'range'; from: string; to: string }
  | { type: 'all-before' }

/** Longest list of references that is read, in characters. */
const maxList = 10_000

const noun = `(?:tasks?|items?|issues?|stor(?:y|ies)|units?|work packages?|wps?|tickets?|todos?|任务|задач[аиу])`
const id = String.raw`(?:[\w.-]+\/[\w.-]+#\d+|#\d+|[A-Za-z]{1,10}-?\d+(?:\.\d+)*[a-z]?|\d+(?:\.\d+)*)`
const strongId = String.raw`(?:[\w.-]+\/[\w.-]+#\d+|#\d+|[A-Z][A-Za-z]{0,9}-?\d+(?:\.\d+)*|\d+(?:\.\d+)+)`

const firstOne = new RegExp(
  String.raw`^[\s*_\x60(\[]*(?:(?:the|both|all of|all|on|upon|from)\s+)?(${noun}\s+)?(${id})(?![A-Za-z0-9/]|_+[A-Za-z0-9])[\x60*_\]]*`,
  'i',
)
const joiner = String.raw`(?:and|und|et|y|i|or|oder|ou|plus|as well as)\b`
const between = new RegExp(
  String.raw`^\s*(?:\([^)]{0,80}\)\s*)?(?:(?:[,、，;]|<br\s*\/?>)\s*(?:&|\+|${joiner})?|&|\/|\+|\b${joiner}|和|或)\s*`,
  'i',
)
/** What may stand behind a bare number that is a reference in running text: `2 flags` is none. */
const behindBare = new RegExp(
  String.raw`^\s*(?:$|[,.;:)\]、，&\/+|_*]|[-–—]\s*\d|\([^)]*\)|(?:and|und|et)\b|through\b|to\s+\d|(?:or|oder|ou|plus|as well as)\s+(?:${noun}\s+)?#?[A-Z]{0,10}-?\d)`,
  'i',
)
const rangeBetween = /^\s*(?:-|–|—|\.\.|through|to|bis)\s*/i
const allBefore =
  /^[\s*_(]*(?:all|every(?:thing)?)\s+(?:the\s+)?(?:of the\s+)?(?:previous|prior|above|earlier|preceding|before)/i
const nothing =
  /^[\s*_([\x60]*(?:none|nothing|n\/a|no|nil|null|not applicable|independent|standalone|(?:can )?start(?:s)? (?:immediately|now|at once)|nichts|keine?|aucune?|rien|ninguna?|nada|nessuna|geen|无|なし|нет|-{1,3}|–|—|\[\])(?=$|[\s.,;()[\]*_\x60])/i

/** What the value of a dependency key says, and the parts of it that say nothing readable. */
export interface ReferenceValue {
  references: Reference[]
  unread: string[]
}

/** Reads the value of a key such as `Depends on:`, part by part. */
export function readReferenceValue(value: string): ReferenceValue {
  const said: ReferenceValue = { references: [], unread: [] }
  let rest = value
  let isFirst = true
  while (rest.trim() !== '') {
    const list = readList(rest, { bare: true, strict: false })
    if (list.found.length > 0) said.references.push(...list.found)
    else if (isFirst && (nothing.test(rest) || isNegation(rest))) break
    isFirst = false
    const end = partEnd.exec(list.rest)
    const part = end === null ? list.rest : list.rest.slice(0, end.index)
    if (list.found.length === 0) addPart(said, part)
    else if (/^\s*(?:[.:]|\s[-–—]\s)/.test(part)) break
    rest = end === null ? '' : list.rest.slice(end.index + end[0].length)
  }
  return said
}

/** Where one part of a value ends; a remark in brackets holds together. */
const partEnd = new RegExp(String.raw`(?<!\([^)]{0,80})(?:<br\s*\/?>|[,、，;+&\n]|\s${joiner}|和|或)\s*`, 'i')

function addPart(said: ReferenceValue, part: string): void {
  const text = part.replace(/[*_`]+/g, '').trim()
  if (!/[\p{L}\p{N}]/u.test(text) || nothing.test(text) || isNegation(text)) return
  const strong = strongReferences(part)
  if (strong.length > 0) said.references.push(...strong)
  else said.unread.push(text)
}

/** References in running text. In the first paragraph also those after `after`, `once`, `requires` and `needs`. */
export function readInlineReferences(text: string, isFirst: boolean): Reference[] {
  const found: Reference[] = []
  const strong =
    /(?<![A-Za-z0-9])(?:(?:depends?|dependent|depending|builds?)[\s_-]+(?:up)?on\b:?|blocked[\s_-]+by\b:?|waits?\s+for\b:?|(?:deps?|depends|dependenc(?:y|ies)|predecessors?|prerequisites?)\s*[:：])|依赖(?:于)?|зависит от|abhängig von|dépend de|depende de/gi
  for (const match of text.matchAll(strong)) {
    if (isNegation(text.slice(Math.max(0, match.index - 20), match.index + match[0].length))) continue
    found.push(
      ...readList(text.slice(match.index + match[0].length, match.index + maxList), { bare: true, strict: true }).found,
    )
  }
  if (!isFirst) return found
  for (const match of text.matchAll(/\b(?:after|once|requires?|needs?|following)\b:?/gi)) {
    if (isNegation(text.slice(Math.max(0, match.index - 20), match.index))) continue
    found.push(
      ...readList(text.slice(match.index + match[0].length, match.index + maxList), { bare: false, strict: true })
        .found,
    )
  }
  return found
}

/** The references of a line such as `Consumes: parse() from Task 1`. */
export function readSources(value: string): Reference[] {
  return [...value.matchAll(new RegExp(String.raw`\bfrom\s+(?=${noun}\s+\S|#\d|[A-Z]+-?\d)`, 'gi'))].flatMap(
    (match) => readList(value.slice(match.index + match[0].length), { bare: false, strict: true }).found,
  )
}

function isNegation(text: string): boolean {
  return /\b(?:does not|doesn't|do not|don't|not|never|no longer)\s+(?:depend|block|wait|require|need)|\bno dependenc|\bindependent(?:ly)? (?:of|from)|\bnot\s*$/i.test(
    text,
  )
}

interface ListRules {
  /** Bare numbers count. */
  bare: boolean
  /** A bare number must be followed by punctuation: `2 flags` is no reference. */
  strict: boolean
}

function readList(text: string, { bare, strict }: ListRules): { found: Reference[]; rest: string } {
  if (allBefore.test(text)) return { found: [{ type: 'all-before' }], rest: '' }
  const found: Reference[] = []
  let rest = text
  let behind = text
  let isNamed = false
  while (rest !== '') {
    const one = firstOne.exec(rest)
    if (one?.[2] === undefined) break
    isNamed ||= one[1] !== undefined
    const tail = rest.slice(one[0].length)
    const isBare = /^\d+$/.test(one[2]) && !isNamed
    if (isBare && (!bare || (strict && !behindBare.test(tail)))) break
    if (!isBare && !isNamed && !isStrong(one[2])) break
    const range = rangeEnd(tail)
    if (range !== null) found.push({ type: 'range', from: one[2], to: range.to })
    else found.push({ type: 'one', id: one[2], isLoose: isBare })
    behind = range === null ? tail : range.rest
    const link = between.exec(behind)
    if (link === null) break
    rest = behind.slice(link[0].length)
  }
  return { found, rest: behind }
}

function rangeEnd(text: string): { to: string; rest: string } | null {
  const link = rangeBetween.exec(text)
  if (link === null) return null
  const end = new RegExp(`^(?:${noun}\\s+)?(${id})(?![\\w/.]*\\w)`, 'i').exec(text.slice(link[0].length))
  if (end?.[1] === undefined) return null
  return { to: end[1], rest: text.slice(link[0].length + end[0].length) }
}

function isStrong(text: string): boolean {
  return new RegExp(`^${strongId}$`).test(text) || /^[a-z]{1,4}\d+$/i.test(text)
}

function strongReferences(text: string): Reference[] {
  const pattern = new RegExp(
    String.raw`(?<![\w#/.-])(?:${noun}\s+#?(\d+(?:\.\d+)*|[A-Za-z]+-?\d+)|(${strongId}))(?![\w/])`,
    'gi',
  )
  return [...text.matchAll(pattern)].flatMap((match): Reference[] => {
    const name = match[1] ?? match[2]
    return name === undefined || !(match[1] !== undefined || isStrong(name))
      ? []
      : [{ type: 'one', id: name, isLoose: false }]
  })
}
