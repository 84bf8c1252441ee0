/**
 * Paths in prose. A plan names files next to commands, routes, package names and fractions, so a word counts as a path only
 * by its looks: a known extension, a trailing slash, a wildcard, or a first folder that the repository has.
 */
import { normalizeGlob, type Tree } from '@buildwave/core'
import { splitCode } from './code-spans.ts'
import { hasKnownExtension, isKnownFileName } from './file-names.ts'

export interface PathRules {
  tree: Tree
  /** In a `Files:` place every word that can be a path is one; in prose it has to look like one. */
  declared: boolean
}

/** The paths and globs that a text claims, as written less line numbers; each once, in order. */
export function readPaths(text: string, rules: PathRules): string[] {
  const claims = splitClauses(withoutAsides(text))
    .filter((clause) => !isProhibition(clause))
    .flatMap((clause) =>
      joinToFolder(readTokens(clause, rules), clause).flatMap((token) => claimOf(token, rules) ?? []),
    )
  return [...new Set(claims)]
}

/** What stands in a `Files:` place and is no path: the members of its list that claim nothing, or all of it. */
export function unreadFiles(text: string, rules: Omit<PathRules, 'declared'>): string[] {
  const isRead = (part: string) => readPaths(part, { ...rules, declared: true }).length > 0
  const isTold = (part: string) =>
    !/[\p{L}\p{N}]/u.test(part) || noFiles.test(part) || isProhibition(part) || outsidePaths(part).length > 0
  if (!isRead(text)) return isTold(text) ? [] : [text.trim()]
  const members = splitOutsideBraces(withoutAsides(text).replace(/(?:^|\s)\([^()]*\)/g, ' ')).map((part) => part.trim())
  return members.filter((part) => /^(?:`[^`]+`|\S+)$/.test(part) && !isRead(part) && !isTold(part))
}

const noFiles = /^[\s*_(`]*(?:none|nothing|n\/a|no(?: files?| changes?)?|nil|tbd|unknown|keine?|无|なし|нет)\b/i

interface Token {
  text: string
  isCode: boolean
  /** The word before, lower case. */
  after: string
  /** It begins a member of a list. */
  isFirst: boolean
}

function withoutAsides(text: string): string {
  return text
    .replace(/<!--.*?(?:-->|$)/g, ' ')
    .replace(/<br\s*\/?>/gi, ' , ')
    .replace(/(?<=[\w/.*-])\{[^{}\n]{1,500}\}/g, (braces) => braces.replace(/\s*([,{}])\s*/g, '$1'))
    .replace(/\[(?:source|ref|see):[^[\]]{0,300}\]/gi, ' ')
    .replace(/\[([^[\]]{0,300})\]\([^)\s]{0,500}\)/g, '$1')
}

function splitClauses(text: string): string[] {
  return text.split(/[;；。\n]|\.(?=\s|$)|,\s+(?=(?:but|without|do not|don't|never)\b)|\s[-–—]\s/)
}

const prohibition =
  /\b(?:do(?:es)? not|don't|never|must not|should not|without|nor)\s+(?:be\s+)?(?:touch|chang|edit|modif|alter)|\bnot be (?:touched|changed|edited|modified)|\bunchanged\b|\bread[- ]only\b|\bno changes? (?:outside|to|in|under)\b|\bleave\b.*\b(?:alone|as is|untouched)\b|\buntouched\b|禁止修改|不要改|不修改|不得修改|変更しない/i

function isProhibition(clause: string): boolean {
  return prohibition.test(clause)
}

function readTokens(clause: string, { declared }: { declared: boolean }): Token[] {
  const tokens: Token[] = []
  for (const { text, isCode } of splitCode(clause)) {
    const words = isCode ? codeWords(text, declared) : plainWords(text)
    for (const [at, word] of words.entries()) {
      const before = tokens.at(-1)?.text.toLowerCase() ?? ''
      const isFirst = /^(?:|,|and|or|&|\+)$/.test(before) || (at === 0 && isCode && placeWords.has(before))
      tokens.push({ text: word, isCode, after: before, isFirst })
    }
  }
  return tokens
}

/** A code span with spaces is a command, unless it is a list of paths or, where files are declared, a name with spaces. */
function codeWords(code: string, declared: boolean): string[] {
  const words = splitOutsideBraces(code).map((word) => word.trim())
  if (!words.some((word) => /\s/.test(word))) return words
  if (!declared) return []
  return words.flatMap((word) => {
    const parts = word.split(/\s+/)
    if (parts.every((part) => /[/.]/.test(part) && (part.endsWith('/') || anyExtension.test(part)))) return parts
    return isNameWithSpaces(parts) ? [word] : []
  })
}

function isNameWithSpaces(parts: readonly string[]): boolean {
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (commandName.test(first) || parts.some((part) => /^[-|&<>$]|[=|<>;$]/.test(part))) return false
  return last.endsWith('/') || hasKnownExtension(last) || (first.includes('/') && !first.startsWith('./'))
}

const commandName =
  /^(?:\.\/.*|npx?|npm|pnpm|yarn|bunx?|node|deno|python[\d.]*|pip\d?|pytest|uvx?|go|cargo|make|just|git|gh|cat|ls|cd|cp|mv|rm|mkdir|touch|chmod|(?:ba|z)?sh|curl|wget|docker|kubectl|ruby|rails|bundle|php|composer|dotnet|javac?|mvn|gradle|tsc|vitest|jest|biome|eslint|prettier|ruff|mypy|echo|sed|awk|grep|rg|find|source|export|import|from|GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/
const anyExtension = /[\w)\]}*]\.[A-Za-z][\w-]*$/

function splitOutsideBraces(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}') depth--
    else if (text[at] === ',' && depth <= 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)]
}

function plainWords(text: string): string[] {
  return splitOutsideBraces(text)
    .join(' , ')
    .split(/[\s→⇒|]+|->/)
    .filter((word) => word !== '')
    .map(trimWord)
}

/** Takes quotes, punctuation and Markdown marks off a word, leaving brackets that belong to a path. */
function trimWord(word: string): string {
  let text = word.replace(/^["'“”‘’(<]+(?!\w*\)\/)/, '').replace(/^(?:\*\*(?=[^/*])|~~|_(?=[^_]))/, '')
  text = text
    .replace(/["'“”‘’>.,:;!?]+$/, '')
    .replace(/([^/*])\*\*$/, '$1')
    .replace(/~~$/, '')
  if (text.endsWith(')') && !text.includes('(')) text = text.replace(/\)+$/, '')
  return text.replace(/["'“”‘’>.,:;!?]+$/, '').replace(/(\.\w+)_$/, '$1')
}

const placeWords = new Set([
  'in',
  'to',
  'into',
  'from',
  'update',
  'create',
  'edit',
  'modify',
  'add',
  'delete',
  'remove',
  'rename',
  'move',
])

function claimOf({ text, isCode, after, isFirst }: Token, rules: PathRules): string | null {
  if (!canBePath(rules.declared && isCode ? text.replace(/ /g, '_') : text)) return null
  const path = normalizeGlob(text)
  const known = isKnownHere(path, rules.tree)
  if (path.startsWith('/')) return known ? path.slice(1) : null
  if (path === '' || path === '/' || path === '*' || path === '**') return rules.declared && path === '**' ? path : null
  if (path.includes('/')) return isPathWithFolder(path, { isCode, known, declared: rules.declared }) ? path : null
  if (rules.declared && isFirst && isNameOfSomething(path, { isCode, tree: rules.tree })) return path
  if (rules.declared || isCode) return isFileName(path, rules) ? path : null
  return placeWords.has(after) && hasKnownExtension(path) && !isProductName(path, rules.tree) ? path : null
}

function isPathWithFolder(
  path: string,
  { isCode, known, declared }: { isCode: boolean; known: boolean; declared: boolean },
) {
  if (/^@[\w-]+\/[\w.-]+$/.test(path) && !known && !hasKnownExtension(path)) return false
  if (/^(?:\d+\/)+\d+\/?$/.test(path) || /^[\w-]+\.(?:com|org|io|dev|net|test)\//i.test(path)) return known
  if (path.endsWith('/') || hasKnownExtension(path) || isKnownFileName(path)) return /[\p{L}\p{N}]/u.test(path)
  if (/[*?]|\{.*,.*\}/.test(path)) return /^[\w@.[\](){}$,*?/+~-]+$/u.test(path) || isCode
  if (!declared) return isCode && known
  return (
    isCode ||
    (/^[\w.@~+/()[\]-]*\w$/u.test(path) && !/^(?:and\/or|either\/or|n\/a|i\/o|read\/write|yes\/no)$/i.test(path))
  )
}

/** A name without folder at the head of a member: in code any, in prose one with an extension that is no version. */
function isNameOfSomething(path: string, { isCode, tree }: { isCode: boolean; tree: Tree }): boolean {
  if (isProductName(path, tree) || /^v?\d+(?:\.\w+)*$/.test(path) || /^\.[a-z]{1,5}$/i.test(path)) return false
  if (anyExtension.test(path)) return !/^[a-z]\.[a-z]$/i.test(path)
  return isCode && /^[\w][\w.+-]*$/.test(path)
}

function isFileName(path: string, { tree, declared }: PathRules): boolean {
  if (isProductName(path, tree)) return false
  if (hasKnownExtension(path) || isKnownFileName(path)) return true
  if (/[*?]/.test(path)) return declared && /\w/.test(path)
  return declared && tree.has(path)
}

/** `Node.js` and its like are products, unless the repository has a file of that name. */
function isProductName(path: string, tree: Tree): boolean {
  const product =
    /^(?:node|next|vue|nuxt|react|express|three|d3|chart|ember|backbone|discord|p5|alpine|ext|asp|vb|ml)\.(?:js|net|ts|io)$/i
  return product.test(path) && !tree.has(path) && tree.named(path).length === 0
}

function isKnownHere(path: string, tree: Tree): boolean {
  const first = path.replace(/^\//, '').split('/')[0] ?? ''
  return first !== '' && tree.has(first) && (path.startsWith('/') ? tree.has(path.slice(1).replace(/\/$/, '')) : true)
}

function canBePath(text: string): boolean {
  if (text === '' || text.length > 1024 || text.includes('://') || /^[-~#&=]/.test(text) || /^\.{2,}(?!\/)/.test(text))
    return false
  if (/["'<>|=`;\\]|\s|…|^\$\{/.test(text.replace(/^\w:/, '').replaceAll(/\\(?=\w)/g, '/'))) return false
  return !/\w\([^)]*\)?$/.test(text) && !/^[a-z]+\/(?:\*|x-[\w-]+)$/.test(text)
}

/** `x.ts in src/a/` is `src/a/x.ts`; not where something is moved or put. */
function joinToFolder(tokens: readonly Token[], clause: string): readonly Token[] {
  if (/\b(?:move|put|rename|copy|transfer)/i.test(clause)) return tokens
  const joined: Token[] = []
  for (let at = 0; at < tokens.length; at++) {
    const [file, word, folder] = tokens.slice(at, at + 3)
    const isPair =
      file !== undefined &&
      /^(?:in|under|inside)$/.test(word?.text ?? '') &&
      folder?.text.endsWith('/') === true &&
      !file.text.includes('/') &&
      hasKnownExtension(file.text)
    if (isPair && folder !== undefined) {
      joined.push({ ...file, text: `${folder.text}${file.text}`, isCode: true })
      at += 2
    } else if (file !== undefined) joined.push(file)
  }
  return joined
}

/** The paths of a text that lead out of the repository: `../x`, and absolute ones in a `Files:` place. */
export function outsidePaths(text: string): string[] {
  return readTokens(withoutAsides(text), { declared: false })
    .filter(({ text: word, isCode }) => isCode && /^(?:\.\.\/|\/\w).*\.\w+$/.test(word))
    .map(({ text: word }) => word)
}
