/**
 * How often the scan raises a false alarm: every file of the installed packages, and what a machine has of headers, Python,
 * manuals, translations and fonts. None of these holds a credential that opens anything; the target is 1 flagged file in 10,000.
 */
import { createReadStream, existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { reportFindings, type ScanResult, scanStream } from '@buildwave/secrets'
import { filesBelow } from './bench-scan-samples.ts'

const root = join(import.meta.dirname, '..')
const places = [
  join(root, 'node_modules', '.pnpm'),
  '/usr/include',
  '/usr/lib/python3',
  '/usr/lib/python3.11',
  '/usr/lib/python3.13',
  '/usr/share',
]

/** Files, bytes and flagged files of each place; then each flagged file with the rule, masked. */
export async function benchClean(): Promise<string[]> {
  const rows: string[] = []
  const flagged: string[] = []
  let files = 0
  for (const place of places.filter((path) => existsSync(path))) {
    const results = await scanBelow(place)
    const alarms = results.filter(({ findings }) => findings.length > 0)
    files += results.length
    flagged.push(...alarms.flatMap(describe))
    const megabytes = results.reduce((total, { bytes }) => total + bytes, 0) / 1e6
    const unopened = results.filter(({ incomplete }) => incomplete.length > 0).length
    rows.push(
      `| ${relative(root, place)} | ${results.length} | ${megabytes.toFixed(0)} | ${alarms.length} | ${unopened} |`,
    )
  }
  return [
    '| clean files of | files | MB | flagged | not wholly opened |',
    '|---|---:|---:|---:|---:|',
    ...rows,
    '',
    `${files} files. Some hold a private key or a token of the right form, published as an example: those are read by a person.`,
    '',
    ...flagged,
  ]
}

async function scanBelow(place: string): Promise<Named[]> {
  const results: Named[] = []
  for (const path of filesBelow(place)) {
    const { findings, ...rest } = await scanStream(createReadStream(path), { surface: 'file', file: path })
    results.push({ path, findings, ...rest })
  }
  return results
}

interface Named extends ScanResult {
  readonly path: string
}

function describe(result: Named): string[] {
  return reportFindings(result, { key: Buffer.alloc(32), allow: [] }).map(
    ({ file, line, rule, masked, via }) => `${file}:${line ?? ''} ${rule} ${masked} ${via.join(' ')}`,
  )
}
