/** Secrets out of text that is about to be shown: rules that are proof by themselves, and known credentials by value. */

import { findWordsThrough } from './automaton.ts'
import { exactSearch, findExact } from './exact.ts'
import { latin1 } from './latin1.ts'
import { matchRules } from './match.ts'
import { printable } from './printable.ts'
import { identity, type Projection, withoutAnsi, withoutWraps } from './projection.ts'
import { strongRules } from './strong.ts'

export interface MaskOptions {
  /** Credentials known by value, such as the run's own; sought in every encoding and in pieces of 16 characters. */
  readonly exact?: readonly string[]
}

/** A range of bytes that must not be shown and what stands for it. */
export interface Masked {
  readonly start: number
  readonly end: number
  readonly text: string
}

const lineBreaks: ReadonlySet<number> = new Set([0x0a, 0x0d])

/**
 * `text` with every secret replaced by its public beginning and its length, as in `ghp_…(40)`. The rest is as it was: print
 * what a builder could have written with {@link safeText}.
 */
export function maskText(text: string, options: MaskOptions = {}): string {
  const bytes = Buffer.from(text)
  const masked = findMasked(bytes, options)
  return masked.length === 0 ? text : applyMasks(bytes, masked).toString()
}

/** One printable line without secrets, for text that a builder could have written. */
export function safeText(text: string, options: MaskOptions = {}): string {
  return printable(maskText(text, options))
}

/** How a secret is named in records and messages: its public beginning and its length. */
export function maskedForm(secret: { shown: string; secret: string }): string {
  return `${secret.shown}…(${secret.secret.length})`
}

/** What must be masked in `bytes`, in order and without overlaps. */
export function findMasked(bytes: Uint8Array, { exact = [] }: MaskOptions): Masked[] {
  const views = [identity(bytes)]
  if (bytes.includes(0x1b) || bytes.includes(0xe2)) views.push(withoutAnsi(bytes))
  const plain = views.at(-1)?.bytes ?? bytes
  if (plain.includes(0x0a) && mayBeWrapped(plain, exact)) views.push(withoutWraps(views.at(-1) ?? identity(bytes)))
  return mergeMasks(views.flatMap((view) => masksOf(view, exact)))
}

export function applyMasks(bytes: Uint8Array, masks: readonly Masked[]): Buffer {
  const parts: Uint8Array[] = []
  let from = 0
  for (const { start, end, text } of masks) {
    parts.push(bytes.subarray(from, start), Buffer.from(text))
    from = end
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}

/** Joining lines costs a copy; without a beginning that reads on over a line break there is nothing to join. */
function mayBeWrapped(bytes: Uint8Array, exact: readonly string[]): boolean {
  return exact.length > 0 || findWordsThrough(strongRules().automaton, bytes, lineBreaks).hits.ends.length > 0
}

function masksOf({ bytes, at }: Projection, exact: readonly string[]): Masked[] {
  const text = latin1(bytes)
  const found = matchRules(strongRules(), { bytes, text }, { bytes: 0, views: 0, tries: 0 })
  const known = findExact(exactSearch(exact), bytes)
  return [
    ...found.map((match) => ({ start: at(match.start), end: at(match.end - 1) + 1, text: maskedForm(match) })),
    ...known.map(({ start, end }) => ({ start: at(start), end: at(end - 1) + 1, text: `…(${end - start})` })),
  ]
}

function mergeMasks(masks: Masked[]): Masked[] {
  const merged: Masked[] = []
  for (const mask of masks.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1)
    if (last === undefined || mask.start >= last.end) merged.push(mask)
    else if (mask.end > last.end) merged[merged.length - 1] = { ...last, end: mask.end }
  }
  return merged
}
