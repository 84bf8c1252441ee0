/** Just enough of Markdown to hold documents to what the program says. */

export interface Section {
  title: string
  /** 1 for `#`. */
  level: number
  /** Everything up to the next heading of any level. */
  text: string
}

/** The headings of a document with the text below each; headings inside of fences are text. */
export function sections(markdown: string): Section[] {
  const found: Section[] = []
  let isFenced = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isFenced = !isFenced
    const heading = isFenced ? null : /^(#+) (.+)$/.exec(line)
    if (heading === null) {
      const last = found.at(-1)
      if (last !== undefined) last.text += `${line}\n`
    } else found.push({ title: heading[2] ?? '', level: heading[1]?.length ?? 1, text: '' })
  }
  return found
}

/** The text below one heading. Throws when there is none. */
export function section(markdown: string, title: string): string {
  const found = sections(markdown).find((each) => each.title === title)
  if (found === undefined) throw new Error(`no section '${title}'`)
  return found.text
}

/** The cells of every table row but the headers, backticks taken off; `\|` is a bar inside of a cell. */
export function tableRows(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'))
  const isRule = (line: string | undefined) => line !== undefined && /^\|[\s:|-]+\|$/.test(line)
  return rows
    .filter((line, index) => !isRule(line) && !isRule(rows[index + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('\\|', '|').replaceAll('`', '')),
    )
}

/** The content of fenced blocks of these languages. */
export function fences(markdown: string, languages: readonly string[]): string[] {
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, language = '', text = '']) =>
    languages.includes(language) ? [text] : [],
  )
}

/** Inline code, fences left out. */
export function codeSpans(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

/** Targets of links, without those to other sites. */
export function localLinks(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => (/^[a-z]+:/.test(target) ? [] : [target]))
}

/** The anchor that a heading gets on the usual forges. */
export function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}
