/**
 * What a person has decided to let pass: `.bwscanignore` of the base commit, or a file of the operator. Never from the work
 * that is scanned: who leaks can also write the line that hides it.
 */
import { UserError } from '@buildwave/core'
import { isSameRule } from './gitleaks-names.ts'

export interface AllowEntry {
  /** Line in the file, from 1. */
  readonly line: number
  readonly allows: (finding: AllowSubject) => boolean
}

/** What an entry is compared with. */
export interface AllowSubject {
  readonly rule: string
  readonly file: string
  readonly line: number | null
  /** The full oid, where the finding is in one. */
  readonly commit: string | null
  readonly fingerprint: string
}

const ours = /^[a-z0-9-]+:h1:[0-9a-f]{16}$/

/**
 * Reads one entry a line: our fingerprints (`rule:h1:hex`), or gitleaks' (`file:rule:line`, `commit:file:rule:line`), then
 * optionally `until=YYYY-MM-DD` and `reason=…`; `#` begins a comment.
 * @param today ISO date; entries whose `until` is before it do not count
 * @throws UserError `bad-allow-file` on anything else, since an entry that is skipped in silence would be taken for a decision
 */
export function parseAllowList(text: string, file: string, today: string): AllowEntry[] {
  return text.split('\n').flatMap((raw, index) => {
    const content = raw.replace(/(?:^|\s)#.*$/, '').trim()
    if (content === '') return []
    const [subject = '', until] = splitOptions(content, `'${file}' line ${index + 1}`)
    const allows = readSubject(subject, `'${file}' line ${index + 1}`)
    return until !== undefined && until < today ? [] : [{ line: index + 1, allows }]
  })
}

function splitOptions(content: string, where: string): [string, string | undefined] {
  const [, subject = '', options = ''] = /^(.*?)((?:\s+(?:until=\S*|reason=.*))*)$/.exec(content) ?? []
  const until = /(?:^|\s)until=(\S*)/.exec(options.replace(/\sreason=.*$/, ''))?.[1]
  if (until !== undefined && !/^\d{4}-\d\d-\d\d$/.test(until)) {
    throw new UserError('bad-allow-file', `${where}: '${until}' is not a date`, { hint: 'write until=YYYY-MM-DD' })
  }
  return [subject, until]
}

function readSubject(subject: string, where: string): AllowEntry['allows'] {
  if (ours.test(subject)) return (finding) => finding.fingerprint === subject
  const [, commit, path, rule, line] =
    /^(?:([0-9a-f]{40}|[0-9a-f]{64}):)?([^*]+):([a-z0-9-]+):(\d+)$/.exec(subject) ?? []
  if (path === undefined || rule === undefined) {
    throw new UserError('bad-allow-file', `${where}: not a fingerprint`, {
      hint: 'an entry is rule:h1:hex as bw-scan prints it, or file:rule:line',
    })
  }
  return (finding) =>
    // A place says nothing about what stands there next; a Claude token is let pass only by its own fingerprint.
    finding.rule !== 'anthropic-token' &&
    finding.file === path &&
    finding.line === Number(line) &&
    (commit === undefined || finding.commit === commit) &&
    isSameRule(rule, finding.rule)
}
