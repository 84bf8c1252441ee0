import { Transform } from 'node:stream'
import { findWordsThrough } from './automaton.ts'
import { exactSearch, openPiece } from './exact.ts'
import { latin1 } from './latin1.ts'
import { applyMasks, findMasked, type MaskOptions } from './mask.ts'
import { withoutAnsi } from './projection.ts'
import { strongRules } from './strong.ts'

/** A secret may go on in the next chunk for at most this many bytes; private keys and web tokens are the longest. */
const reach = 16_384

/** Bytes a token or its escapes are made of; anything else ends it. */
const goesOn = /^[\w+/=.~:@%\\\r\n\x1b[;\]-]*$/

const through: ReadonlySet<number> = new Set([0x0a, 0x0d])

/**
 * Masks like {@link maskText}, whatever the chunk borders: what may be the beginning of a secret waits for the next chunk.
 * Ordinary lines do not wait.
 */
export function createMaskStream(options: MaskOptions = {}): Transform {
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer | string, _encoding, done) {
      const bytes = Buffer.concat([held, Buffer.from(chunk)])
      const masks = findMasked(bytes, options)
      let cut = firstOpen(bytes, options.exact ?? [])
      for (const mask of masks) if (mask.start < cut && mask.end > cut) cut = mask.start
      held = bytes.subarray(cut)
      done(
        null,
        applyMasks(
          bytes.subarray(0, cut),
          masks.filter((mask) => mask.end <= cut),
        ),
      )
    },
    flush(done) {
      done(null, applyMasks(held, findMasked(held, options)))
    },
  })
}

/** Offset from which on a secret may be unfinished: `bytes.length` when nothing is open. */
function firstOpen(bytes: Buffer, exact: readonly string[]): number {
  const from = Math.max(0, bytes.length - reach)
  const tail = bytes.subarray(from)
  const view = withoutAnsi(tail)
  const { hits, depth } = findWordsThrough(strongRules().automaton, view.bytes, through)
  const text = latin1(view.bytes)
  const candidates = [openEscape(tail)]
  const open = openPiece(exactSearch(exact), view.bytes)
  // After a line break one letter of a beginning is no reason to keep the line from the reader.
  const partial = Math.max(text.endsWith('\n') && depth < 2 ? 0 : depth, open)
  if (partial > 0) candidates.push(view.at(startOfLast(text, partial)))
  for (const [index, word] of hits.words.entries()) {
    const end = hits.ends[index] ?? 0
    const rest = text.slice(end)
    const isKey = (strongRules().automaton.words[word] ?? '').startsWith('-----begin')
    if (isKey ? !/-----END/.test(rest) : goesOn.test(rest)) {
      candidates.push(view.at(startOfLast(text.slice(0, end), strongRules().automaton.words[word]?.length ?? 0)))
      break
    }
  }
  return from + Math.min(tail.length, ...candidates)
}

/** Where the last `count` characters of `text` begin, line breaks not counted. */
function startOfLast(text: string, count: number): number {
  let start = text.length
  for (let left = count; left > 0 && start > 0; ) {
    start--
    if (text[start] !== '\n' && text[start] !== '\r') left--
  }
  return start
}

/** A terminal command that has begun and not ended. */
function openEscape(bytes: Buffer): number {
  const at = bytes.lastIndexOf(0x1b)
  if (at < 0 || bytes.length - at > 64) return bytes.length
  return /^\x1b(?:$|\[[0-?]*[ -/]*$|[\]PX^_][^\x07\x1b]*$)/.test(latin1(bytes.subarray(at))) ? at : bytes.length
}
