/** Findings and gaps of many surfaces, as the records will hold them. */
import {
  type Incomplete,
  type ReportedFinding,
  reportFindings,
  reportIncomplete,
  type ScanResult,
  scanBytes,
  scanStream,
} from '@buildwave/secrets'
import { type Ground, isIncompleteAllowed } from './ground.ts'

export interface Surface {
  readonly surface: string
  readonly file: string
  readonly content: Uint8Array | AsyncIterable<Uint8Array>
  readonly commit?: string
  /** Why there is no content to look at. */
  readonly problem?: string
}

/** Asks whether a secret, named by its longest line, stood there before the work began. */
export type WasThere = (line: Buffer) => Promise<boolean>

export interface TalliedFinding extends ReportedFinding {
  /** It stands in the start commit already, so it is nobody's leak of now. */
  readonly preExisting: boolean
}

export interface Tally {
  readonly findings: readonly TalliedFinding[]
  readonly incomplete: readonly Incomplete[]
  readonly bytes: number
  readonly verdict: 'clean' | 'blocked' | 'incomplete'
}

/** More would be a flood that tells nothing new; the rest is named as a gap, which blocks as well. */
const mostFindings = 500

export interface TallyOptions {
  readonly wasThere?: WasThere
  /** Ends the tally between two surfaces. */
  readonly signal?: AbortSignal
}

export async function tallySurfaces(
  surfaces: AsyncIterable<Surface>,
  ground: Ground,
  { wasThere = async () => false, signal }: TallyOptions = {},
): Promise<Tally> {
  const findings: TalliedFinding[] = []
  const incomplete: Incomplete[] = []
  let bytes = 0
  for await (const surface of surfaces) {
    signal?.throwIfAborted()
    const result = await scanSurface(surface, ground)
    bytes += result.bytes
    incomplete.push(...reportIncomplete(result, ground.exact))
    if (surface.problem !== undefined) incomplete.push({ file: surface.file, reason: surface.problem })
    if (findings.length >= mostFindings && result.findings.length > 0) {
      if (!incomplete.some(({ reason }) => reason === 'limit:findings'))
        incomplete.push({ file: '', reason: 'limit:findings' })
      continue
    }
    findings.push(...(await report(result, { surface, ground, wasThere })))
  }
  return { findings, incomplete, bytes, verdict: verdictOf(findings, incomplete, ground) }
}

function scanSurface({ surface, file, content }: Surface, { exact }: Ground): Promise<ScanResult> | ScanResult {
  const options = { surface, file, exact }
  if (!(content instanceof Uint8Array)) return scanStream(content, options)
  return content.length <= wholeBytes ? scanBytes(content, options) : scanStream(oneChunk(content), options)
}

/** Up to this a surface is scanned in one piece. */
const wholeBytes = 32 * 1024 * 1024

async function* oneChunk(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

interface Context {
  readonly surface: Surface
  readonly ground: Ground
  readonly wasThere: WasThere
}

async function report(result: ScanResult, { surface, ground, wasThere }: Context): Promise<TalliedFinding[]> {
  const { key, allow, exact } = ground
  const reported = reportFindings(result, {
    key,
    allow,
    exact,
    ...(surface.commit === undefined ? {} : { commit: surface.commit }),
  })
  const out: TalliedFinding[] = []
  for (const [index, finding] of reported.entries()) {
    const secret = result.findings[index]?.secret ?? ''
    // The run's own credential is never part of a project, whatever stands in it.
    const preExisting = !finding.allowed && finding.confidence !== 'exact' && (await wasThere(longestLine(secret)))
    out.push({ ...finding, allowed: finding.allowed || preExisting, preExisting })
  }
  return out
}

function longestLine(secret: string): Buffer {
  const line = secret.split(/[\r\n]+/).reduce((longest, next) => (next.length > longest.length ? next : longest), '')
  return Buffer.from(line, 'latin1')
}

function verdictOf(
  findings: readonly TalliedFinding[],
  incomplete: readonly Incomplete[],
  { allowIncomplete }: Ground,
): Tally['verdict'] {
  if (findings.some(({ allowed }) => !allowed)) return 'blocked'
  return incomplete.every(({ reason }) => isIncompleteAllowed(reason, allowIncomplete)) ? 'clean' : 'incomplete'
}
