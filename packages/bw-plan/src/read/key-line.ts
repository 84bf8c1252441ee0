/** What a line of the form `Key: value` says about an item. */
export type KeyRole =
  | 'files'
  | 'file-part'
  | 'after'
  | 'gates'
  | 'consumes'
  | 'aside'
  | 'status'
  | 'priority'
  | 'type'
  | 'marker'

export interface KeyLine {
  role: KeyRole
  key: string
  value: string
}

const roles: readonly (readonly [KeyRole, RegExp])[] = [
  [
    'files',
    /^(?:(?:owned|touched|changed|affected|key|target)[ _]files?|files?|files? (?:touched|to (?:change|modify|create|edit|touch)|changed|owned|affected)|owns|touches|paths?|文件|ファイル|dateien|fichiers|archivos|файлы|파일)$/,
  ],
  [
    'file-part',
    /^(?:create[sd]?|modif(?:y|ies|ied)|tests?|deletes?|adds?|updates?|edits?|renames?|moves?|new|new files?)$/,
  ],
  [
    'after',
    /^(?:depends?(?: on| upon)?|predecessors?|dependenc(?:y|ies)|deps?|blocked by|requires|prerequisites?|needs|waits for|after|依赖(?:于)?|前置依赖|依存|зависит от|abhängig von|abhängigkeiten|dépend de|dépendances|depende de|dependencias|의존)$/,
  ],
  ['gates', /^(?:blocks|unblocks|required by)$/],
  ['consumes', /^consumes$/],
  ['status', /^(?:status|state)$/],
  ['priority', /^(?:priority|prio)$/],
  ['type', /^(?:type|kind|issue type)$/],
  ['marker', /^(?:parallel|parallelizable|can run in parallel)$/],
  [
    'aside',
    /^(?:run|verify|verification|validation|expect(?:ed)?(?: output)?|references?|see(?: also)?|patterns?(?: to follow)?|requirements?|source|sources|commands?|example|examples|boundary|covers|satisfies|acceptance(?: criteria)?|ac|do not (?:touch|modify|change)|don't touch|out of scope|parallelizable with|can run in parallel with)$/,
  ],
]

const shape = /^\s*(?:[-*+]\s+)?[*_]{0,3}\s*([\p{L}][\p{L}\p{N}'_/ -]{0,40}?)\s*[*_]{0,3}\s*[:：]\s*[*_]{0,3}\s*(.*)$/su

/** The key line that a text begins with, null when it begins with none that is known. */
export function readKeyLine(text: string): KeyLine | null {
  const found = shape.exec(text)
  if (found === null) return null
  const key = (found[1] ?? '').trim().toLowerCase()
  const role = roleOfKey(key)
  return role === null ? null : { role, key, value: (found[2] ?? '').replace(/[_*]+$/, '').trim() }
}

/** The role of a key, or of a sub-heading that stands in for one. */
export function roleOfKey(key: string): KeyRole | null {
  const name = key.replace(/[_-]+/g, ' ')
  return roles.find(([, names]) => names.test(name))?.[0] ?? null
}

/** A line that is only the name of files or dependencies, `**Depends on**`, with what it rules over below it. */
export function readBareKey(text: string): KeyLine | null {
  const name = /^\s*[*_]{0,3}([\p{Lu}*_][\p{L} _-]{1,40}?)[*_]{0,3}\s*$/u.exec(text)?.[1]
  if (name === undefined) return null
  const key = name.replace(/[*_]+/g, ' ').trim().toLowerCase()
  const role = roleOfKey(key)
  return role === 'files' || role === 'after' || role === 'gates' ? { role, key, value: '' } : null
}

/** True for a line that starts something of its own, so that the line before it ends there. */
export function isKeyLine(line: string): boolean {
  const key = readKeyLine(line)
  if (key === null) return readBareKey(line) !== null
  return key.role !== 'file-part' || /^[`\w./*-]*[/.`]/.test(key.value)
}
