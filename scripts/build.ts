/**
 * Bundles every tool into `dist/`, one entry a tool with shared chunks, so that `--help` starts nearly as fast as Node
 * itself. `dist/` is replaced only when the whole build worked.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const tools = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'src', 'main.ts')),
)
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const fresh = join(root, 'dist.new')

rmSync(fresh, { recursive: true, force: true })
await build({
  entryPoints: Object.fromEntries(tools.map((name) => [name, join(root, 'packages', name, 'src', 'main.ts')])),
  outdir: fresh,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.18',
  legalComments: 'none',
  logLevel: 'warning',
  // Native parts of ssh2 (engines reached over ssh) that it does without where they are missing.
  external: ['cpu-features', '*.node'],
  define: { 'process.env.BW_VERSION': JSON.stringify(version) },
  // Some dependencies are CommonJS: they ask for these at run time.
  banner: {
    js: [
      "import { createRequire as bwRequire } from 'node:module';",
      'const require = bwRequire(import.meta.url), __dirname = import.meta.dirname, __filename = import.meta.filename;',
    ].join(' '),
  },
})
rmSync(join(root, 'dist'), { recursive: true, force: true })
renameSync(fresh, join(root, 'dist'))
process.stderr.write(`build: ${tools.length} tools in dist/\n`)
