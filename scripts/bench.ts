/**
 * Ratios, each measured within one run: the machine may be busy, so figures of two runs are never compared. Every figure is
 * the smallest of its rounds, and the things compared take turns. Markdown on stdout, progress on stderr.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchClean } from './bench-clean.ts'
import { benchScan } from './bench-scan.ts'

const root = join(import.meta.dirname, '..')
const sections: Record<string, () => string[] | Promise<string[]>> = {
  help: benchHelp,
  plan: benchPlan,
  scan: benchScan,
  clean: benchClean,
}
const asked = process.argv.slice(2)
const unknown = asked.find((name) => !Object.hasOwn(sections, name))
if (unknown !== undefined) {
  process.stderr.write(`bench: no section '${unknown}'\nhint: known: ${Object.keys(sections).join(', ')}\n`)
  process.exit(1)
}
for (const [name, run] of Object.entries(sections)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  process.stderr.write(`bench: ${name}\n`)
  process.stdout.write(`${(await run()).join('\n')}\n\n`)
}

/** `--help` of each tool against `node -e 0`; the target is 1.5. */
function benchHelp(): string[] {
  const tools = readdirSync(join(root, 'bin')).filter((name) => name.startsWith('bw-'))
  const bare = { name: 'node -e 0', run: () => time(process.execPath, ['-e', '0']) }
  const times = smallest(
    [bare, ...tools.map((name) => ({ name, run: () => time(join(root, 'bin', name), ['--help']) }))],
    7,
  )
  const base = times.get(bare.name) ?? 1
  return [
    '| `--help` of | ms | against `node -e 0` |',
    '|---|---:|---:|',
    ...[...times].map(([name, ms]) => `| ${name} | ${ms.toFixed(0)} | ${(ms / base).toFixed(2)} |`),
  ]
}

/** bw-plan with 3 globs an item; the target is at most 2.5 times the time for twice the items, up to 10,000. */
function benchPlan(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'bw-bench-'))
  const git = (...args: string[]) => spawnSync('git', args, { cwd: folder })
  git('init', '-q')
  git('-c', 'user.name=B', '-c', 'user.email=b@example.com', 'commit', '-q', '--allow-empty', '-m', 'Start')
  const sizes = [1250, 2500, 5000, 10_000]
  for (const size of sizes) writeFileSync(join(folder, `${size}.md`), planOf(size))
  const plan = (size: number) => time(join(root, 'bin', 'bw-plan'), [`${size}.md`, '--test', 'true'], folder)
  const times = smallest(
    sizes.map((size) => ({ name: String(size), run: () => plan(size) })),
    3,
  )
  rmSync(folder, { recursive: true })
  const figures = [...times]
  return [
    '| items, 3 globs each | ms | against half as many |',
    '|---|---:|---:|',
    ...figures.map(
      ([name, ms], index) =>
        `| ${name} | ${ms.toFixed(0)} | ${index === 0 ? '' : (ms / (figures[index - 1]?.[1] ?? 1)).toFixed(2)} |`,
    ),
  ]
}

function planOf(items: number): string {
  const lines = Array.from({ length: items }, (_, i) => {
    const area = i % 97
    return `- [ ] ${i + 1}. Change part ${i}\n  Files: \`src/area${area}/part${i}.ts\`, \`src/area${area}/${i}/**\`, \`test/part${i}*.test.ts\``
  })
  return `# Plan\n\n${lines.join('\n')}\n`
}

function smallest(things: { name: string; run(): number }[], rounds: number): Map<string, number> {
  const best = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    for (const { name, run } of things) best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, run()))
  }
  return best
}

/** Wall time in milliseconds. */
function time(program: string, args: string[], cwd = root): number {
  const start = performance.now()
  const { status, stderr } = spawnSync(program, args, { cwd, maxBuffer: 2 ** 30 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${status} ${stderr}`)
  return performance.now() - start
}
