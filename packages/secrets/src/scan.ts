/**
 * The scan of one surface: rules on its bytes, then every decoding pass, then the same on what came out, breadth first, until
 * nothing new comes. The same bytes are looked at once, and a secret is reported for the shallowest view that shows it.
 */
import { hash } from 'node:crypto'
import { type ExactSearch, exactSearch, findExact } from './exact.ts'
import { latin1 } from './latin1.ts'
import { defaultLimits, type Limits } from './limits.ts'
import { type Match, matchHits, matchRules, type Work } from './match.ts'
import { allPasses } from './passes.ts'
import { isPlausible } from './plausible.ts'
import type { Confidence } from './rules/rule.ts'
import { strongRules } from './strong.ts'
import { allRules, surveyOf } from './survey.ts'
import type { Decoded, Pass, Sink, View } from './view.ts'

export interface ScanOptions {
  /** What is scanned: `blob`, `path`, `message`, `log`, `patch`, … */
  readonly surface: string
  /** Its name, a path or a label. May itself hold a secret: mask it before it is shown. */
  readonly file: string
  /** Credentials known by value. */
  readonly exact?: readonly string[]
  readonly limits?: Partial<Limits>
  /** The decoding passes to use; all unless a test takes one away. */
  readonly passes?: readonly Pass[]
}

/** A secret that was found. It holds the secret itself: what leaves the process is made of it by `reportFinding`. */
export interface Finding {
  readonly rule: string
  readonly confidence: Confidence
  readonly surface: string
  /** The surface's name, then `!` and the name inside for each container. */
  readonly file: string
  /** Line of the surface, from 1; null in binary content. */
  readonly line: number | null
  readonly via: readonly string[]
  readonly secret: string
  /** The public beginning that a masked form may keep. */
  readonly shown: string
}

export interface Incomplete {
  readonly file: string
  /** `opaque:xz`, `zip:encrypted`, `limit:depth`, … */
  readonly reason: string
}

export interface ScanResult {
  readonly findings: readonly Finding[]
  /** What could not be opened: a verdict of its own, never the same as clean. */
  readonly incomplete: readonly Incomplete[]
  /** Size of the surface. */
  readonly bytes: number
  readonly work: Work
}

/** All secrets in `bytes`, and all that could not be looked into. */
export function scanBytes(bytes: Uint8Array, options: ScanOptions): ScanResult {
  const scan = newScan(bytes, options)
  for (let view = scan.queue.shift(); view !== undefined; view = scan.queue.shift()) {
    addFindings(scan, view)
    if (view.rules === 'strong') continue
    for (const pass of options.passes ?? allPasses) pass.run(view, sinkFor(scan, view, pass))
  }
  return {
    findings: [...scan.findings.values()],
    incomplete: [...scan.incomplete.values()],
    bytes: bytes.length,
    work: scan.work,
  }
}

interface Scan {
  readonly surface: string
  readonly bytes: Uint8Array
  readonly limits: Limits
  readonly exact: ExactSearch
  /** By secret, without its layout. */
  readonly findings: Map<string, Finding>
  readonly incomplete: Map<string, Incomplete>
  /** Digests of the bytes of all views. */
  readonly seen: Set<string>
  readonly queue: View[]
  readonly work: Work
  decodedBytes: number
}

function newScan(bytes: Uint8Array, { surface, file, limits, exact }: ScanOptions): Scan {
  const view: View = { bytes, text: latin1(bytes), file, via: [], rules: 'all', certain: true, at: (offset) => offset }
  return {
    surface,
    bytes,
    limits: { ...defaultLimits, ...limits },
    exact: exactSearch(exact ?? []),
    findings: new Map(),
    incomplete: new Map(),
    seen: new Set(),
    queue: [view],
    work: { bytes: 0, views: 0, tries: 0 },
    decodedBytes: 0,
  }
}

/** What differs between a secret and the same one in an escaped or joined view. */
const layout = /\\[nrt]|[\s"'\\+]/g

function addFindings(scan: Scan, view: View): void {
  scan.work.views++
  const matches = [
    ...knownMatches(view, scan.exact),
    ...(view.rules === 'all'
      ? matchHits(allRules(), { hits: surveyOf(view).hits, text: view.text }, scan.work)
      : matchRules(strongRules(), view, scan.work)),
  ]
  for (const match of matches) {
    const key = match.secret.replace(layout, '')
    if (!scan.findings.has(key)) scan.findings.set(key, toFinding(match, view, scan))
  }
}

function sinkFor(scan: Scan, view: View, pass: Pass): Sink {
  return {
    limits: scan.limits,
    emit: (decoded) => enqueue(scan, { view, pass, decoded }),
    incomplete: (reason, entry) => {
      if (view.certain || !/:(?:corrupt|truncated)$/.test(reason)) addIncomplete(scan, reason, nameOf(view, entry))
    },
  }
}

interface Step {
  readonly view: View
  readonly pass: Pass
  readonly decoded: Decoded
}

function enqueue(scan: Scan, { view, pass, decoded }: Step): void {
  const { bytes, guessed, entry, at } = decoded
  if (bytes.length === 0 || (guessed && !isPlausible(bytes))) return
  const rules = decoded.rules ?? view.rules
  const key = rules + hash('sha1', bytes, 'base64')
  if (scan.seen.has(key)) return
  const problem = limitMet(scan, view, bytes.length)
  if (problem !== null) {
    addIncomplete(scan, problem, nameOf(view, entry))
    return
  }
  scan.seen.add(key)
  scan.decodedBytes += bytes.length
  scan.queue.push({
    bytes,
    text: latin1(bytes),
    file: nameOf(view, entry),
    via: [...view.via, pass.name],
    rules,
    certain: view.certain && pass.container === true && !guessed,
    at: (offset) => view.at(at(offset)),
  })
}

function limitMet(scan: Scan, view: View, bytes: number): string | null {
  if (view.via.length >= scan.limits.depth) return 'limit:depth'
  if (scan.decodedBytes + bytes > scan.limits.decodedBytes) return 'limit:decoded-bytes'
  return scan.seen.size >= scan.limits.views ? 'limit:views' : null
}

function addIncomplete(scan: Scan, reason: string, file: string): void {
  scan.incomplete.set(`${reason}\0${file}`, { file, reason })
}

/** Names inside containers are whatever bytes stand there. */
const longestName = 255

function nameOf(view: View, entry: string | undefined): string {
  return entry === undefined ? view.file : `${view.file}!${entry.slice(0, longestName)}`
}

function knownMatches(view: View, exact: ExactSearch): Match[] {
  return findExact(exact, view.bytes).map(({ start, end }) => ({
    rule: 'known-credential',
    confidence: 'exact',
    strong: true,
    secret: view.text.slice(start, end),
    shown: '',
    start,
    end,
  }))
}

function toFinding(match: Match, view: View, surface: Pick<Scan, 'bytes' | 'surface'>): Finding {
  return {
    rule: match.rule,
    confidence: match.confidence,
    surface: surface.surface,
    file: view.file,
    line: lineOf(surface.bytes, view.at(match.start)),
    via: view.via,
    secret: match.secret,
    shown: match.shown,
  }
}

/** Line of an offset, or null when the surface is not text. */
function lineOf(bytes: Uint8Array, offset: number): number | null {
  if (bytes.subarray(0, 8000).includes(0)) return null
  let line = 1
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < offset; at = bytes.indexOf(0x0a, at + 1)) line++
  return line
}
