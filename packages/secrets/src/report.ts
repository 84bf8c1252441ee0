/** From what was found to what may be written down: nothing here holds a secret. */
import type { AllowEntry } from './allow-list.ts'
import { fingerprint } from './fingerprint.ts'
import { maskedForm, maskText } from './mask.ts'
import { printable } from './printable.ts'
import type { Confidence } from './rules/rule.ts'
import type { Finding, Incomplete, ScanResult } from './scan.ts'

/** The fields of a `finding` record that a scan decides. */
export interface ReportedFinding {
  readonly rule: string
  readonly confidence: Confidence
  readonly surface: string
  readonly file: string
  readonly line: number | null
  readonly via: string[]
  readonly masked: string
  readonly fingerprint: string
  readonly allowed: boolean
}

export interface ReportOptions {
  readonly key: Uint8Array
  readonly allow: readonly AllowEntry[]
  /** Oid of the commit that brought the surface in. */
  readonly commit?: string
  readonly exact?: readonly string[]
}

/** The findings of a scan as records may show them. Names that hold a secret are masked as well. */
export function reportFindings(result: ScanResult, options: ReportOptions): ReportedFinding[] {
  return result.findings.map((finding) => {
    const print = fingerprint(finding.rule, finding.secret, options.key)
    const subject = {
      rule: finding.rule,
      file: finding.file,
      line: finding.line,
      commit: options.commit ?? null,
      fingerprint: print,
    }
    return {
      rule: finding.rule,
      confidence: finding.confidence,
      surface: finding.surface,
      file: maskName(finding.file, result.findings, options.exact),
      line: finding.line,
      via: [...finding.via],
      masked: maskedForm(finding),
      fingerprint: print,
      allowed: options.allow.some((entry) => entry.allows(subject)),
    }
  })
}

/** What could not be opened, names masked. */
export function reportIncomplete(result: ScanResult, exact?: readonly string[]): Incomplete[] {
  return result.incomplete.map(({ file, reason }) => ({ file: maskName(file, result.findings, exact), reason }))
}

/** A rule without a beginning of its own can match in a name too, so what was found there goes by value. */
function maskName(name: string, findings: readonly Finding[], exact: readonly string[] = []): string {
  let masked = name
  for (const finding of findings) masked = masked.replaceAll(finding.secret, maskedForm(finding))
  return printable(maskText(masked, { exact }))
}
