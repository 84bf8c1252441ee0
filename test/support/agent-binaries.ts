/**
 * The real agents, as the binaries of their npm platform packages: pinned, fetched once with the npm client into a cache
 * folder, and checked by digest. Where they cannot be had the tests that need them are skipped with the reason printed,
 * and fail instead when `BW_REQUIRE` names `agents`.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const pinned = {
  claude: {
    spec: '@anthropic-ai/claude-code-linux-x64@2.1.332',
    path: 'claude',
    sha256: 'a2df1f41bb00250992926420d0063f89b127cb81abdd284dbefb80c50ff1d026',
  },
  codex: {
    spec: '@openai/codex@0.171.0-linux-x64',
    path: 'vendor/x86_64-unknown-linux-musl/bin/codex',
    sha256: 'b76a027d6b210f9a8da7aaf321dd235c700f0ef7a794d4a5314b9af6c134f0f0',
  },
} as const

export type RealAgent = keyof typeof pinned

/** The binary's path, or null after the reason for skipping was printed. Throws it under `BW_REQUIRE=agents`. */
export async function realAgent(name: RealAgent): Promise<string | null> {
  try {
    return await fetchAgent(name)
  } catch (error) {
    const reason = `the ${name} binary cannot be had: ${(error as Error).message.split('\n')[0]}`
    if ((process.env['BW_REQUIRE'] ?? '').split(',').includes('agents')) throw new Error(reason, { cause: error })
    process.stderr.write(`skipped: ${reason}\n`)
    return null
  }
}

async function fetchAgent(name: RealAgent): Promise<string> {
  const { spec, path, sha256 } = pinned[name]
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error(`it is pinned for linux-x64 only`)
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'buildwave', 'test-agents')
  const folder = join(cache, spec.replaceAll('/', '-'))
  if (existsSync(folder)) return join(folder, path)
  mkdirSync(cache, { recursive: true })
  const fresh = mkdtempSync(join(cache, 'fetch-'))
  try {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', fresh, spec], {
      cwd: fresh,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [archive = ''] = readdirSync(fresh)
    execFileSync('tar', ['-xzf', archive], { cwd: fresh })
    const found = await digestOf(join(fresh, 'package', path))
    if (found !== sha256) throw new Error(`${spec} has digest ${found}`)
    if (!existsSync(folder)) renameSync(join(fresh, 'package'), folder)
    return join(folder, path)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
