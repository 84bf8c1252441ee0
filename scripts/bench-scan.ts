/**
 * bw-scan's engine beside secretlint's recommended preset, on the same bytes in the same process, taking turns. Both begin with
 * the bytes of a file; secretlint is told that each is text, since it passes over what it is told is binary.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { scanBytes } from '@buildwave/secrets'
import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'
import { type Group, groups, mebibyte, type Sample, testLog } from './bench-scan-samples.ts'

const root = join(import.meta.dirname, '..')
const rounds = 5

/** Throughput by kind of content, then the peak memory of `bw-scan` by size. */
export async function benchScan(): Promise<string[]> {
  const lines = ['| content | MB | bw-scan MB/s | secretlint MB/s | ratio | target |', '|---|---:|---:|---:|---:|---:|']
  for (const group of groups) lines.push(await compare(group))
  return [...lines, '', ...benchMemory()]
}

async function compare({ name, target, draw }: Group): Promise<string> {
  const samples = draw()
  const best = { ours: Number.POSITIVE_INFINITY, theirs: Number.POSITIVE_INFINITY }
  for (let round = 0; round < rounds; round++) {
    best.ours = Math.min(best.ours, await time(() => scanAll(samples)))
    best.theirs = Math.min(best.theirs, await time(() => lintAll(samples)))
  }
  const megabytes = samples.reduce((total, { bytes }) => total + bytes.length, 0) / 1e6
  const rate = (ms: number) => ((megabytes / ms) * 1000).toFixed(1)
  const ratio = (best.theirs / best.ours).toFixed(2)
  return `| ${name} | ${megabytes.toFixed(1)} | ${rate(best.ours)} | ${rate(best.theirs)} | ${ratio} | ${target} |`
}

async function scanAll(samples: readonly Sample[]): Promise<void> {
  for (const { name, bytes } of samples) scanBytes(bytes, { surface: 'file', file: name })
}

const preset = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator }] }

async function lintAll(samples: readonly Sample[]): Promise<void> {
  for (const { name, bytes } of samples) {
    await lintSource({
      source: { filePath: name, content: bytes.toString('utf8'), ext: extname(name), contentType: 'text' },
      options: { config: preset, noPhysicFilePath: true, maskSecrets: true },
    })
  }
}

/** Processor time in milliseconds: on a machine that others use, wall time measures them. */
async function time(run: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** Peak memory of the program, which must not follow the size of what it reads. */
function benchMemory(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'bw-bench-'))
  const part = testLog(8 * mebibyte)
  const rows = [8, 32, 128].map((size) => {
    const path = join(folder, `${size}.log`)
    for (let written = 0; written < size; written += 8) appendFileSync(path, part)
    return `| ${size} | ${peakMemory(path)} |`
  })
  rmSync(folder, { recursive: true })
  return ['| `bw-scan` on a log of MiB | peak MiB |', '|---:|---:|', ...rows]
}

/** In MiB, as the kernel counted it for the process when it ended. */
function peakMemory(path: string): string {
  const report = `process.on('exit', () => process.stderr.write(String(process.resourceUsage().maxRSS)))`
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(report)}`,
      join(root, 'packages/bw-scan/src/main.ts'),
      path,
    ],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`bw-scan ${path}: ${status} ${stderr}`)
  return (Number(/\d+$/.exec(stderr)?.[0]) / 1024).toFixed(0)
}
