/**
 * `GIT binary patch`: zlib in git's base85, either the whole file (`literal`) or the steps from the old one (`delta`, of which
 * only the inserted bytes are new). Format: git's `diff.c` (emit_binary_diff_body) and `patch-delta.c`.
 */
import { surveyOf } from '../survey.ts'
import type { Pass, Sink } from '../view.ts'
import { inflate } from './inflate.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'

const digitOf = new Int16Array(256).fill(-1)
for (let i = 0; i < digits.length; i++) digitOf[digits.charCodeAt(i)] = i

const hunk = /^(literal|delta) (\d{1,12})\r?\n((?:[A-Za-z][^\r\n]{5,66}\r?\n)+)/gm

export const gitBinary: Pass = {
  name: 'git-binary',
  container: true,
  run: (view, sink) => {
    const { text } = view
    if (surveyOf(view).signs('git binary patch').length === 0) return
    const headers = [...text.matchAll(/^diff --git a\/.* b\/(.*?)\r?$/gm)]
    for (const match of text.matchAll(hunk)) {
      const file = headers.findLast((header) => header.index < match.index)?.[1] ?? '?'
      openHunk(sink, { isDelta: match[1] === 'delta', lines: (match[3] ?? '').split(/\r?\n/), at: match.index, file })
    }
  },
}

interface Hunk {
  readonly isDelta: boolean
  readonly lines: readonly string[]
  readonly at: number
  readonly file: string
}

function openHunk(sink: Sink, { isDelta, lines, at, file }: Hunk): void {
  const { bytes, problem } = inflate('zlib', decodeBase85(lines), sink.limits)
  const shown = isDelta ? insertedBytes(bytes) : bytes
  if (shown.length > 0) sink.emit({ bytes: shown, at: () => at, entry: file, guessed: false })
  if (problem !== null) sink.incomplete(problem.startsWith('limit:') ? problem : `git-binary:${problem}`, file)
}

/** Each line: a letter for its number of bytes (A-Z 1 to 26, a-z 27 to 52), then five digits for every four bytes. */
function decodeBase85(lines: readonly string[]): Buffer {
  const parts: Buffer[] = []
  for (const line of lines) {
    const letter = line.charCodeAt(0)
    const count = letter >= 97 ? letter - 97 + 27 : letter - 65 + 1
    const part = Buffer.alloc(Math.ceil((line.length - 1) / 5) * 4)
    for (let i = 1, out = 0; i + 4 < line.length; i += 5, out += 4) {
      let value = 0
      for (let k = 0; k < 5; k++) value = value * 85 + Math.max(0, digitOf[line.charCodeAt(i + k)] ?? 0)
      part.writeUInt32BE(value >>> 0, out)
    }
    if (line.length > 1) parts.push(part.subarray(0, count))
  }
  return Buffer.concat(parts)
}

/** What a delta inserts, one piece a line; what it copies stands in the old file. */
function insertedBytes(delta: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = skipSize(delta, skipSize(delta, 0))
  while (at < delta.length) {
    const step = delta[at++] as number
    if ((step & 0x80) !== 0) {
      for (let bit = 0; bit < 7; bit++) if ((step & (1 << bit)) !== 0) at++
    } else if (step > 0) {
      parts.push(delta.subarray(at, at + step), Buffer.from('\n'))
      at += step
    } else {
      break
    }
  }
  return Buffer.concat(parts)
}

function skipSize(delta: Buffer, from: number): number {
  let at = from
  while (at < delta.length && ((delta[at] as number) & 0x80) !== 0) at++
  return at + 1
}
