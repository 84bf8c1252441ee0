import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UserError } from '@buildwave/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type AgentSettings, findAgent, type LocateOptions } from '../src/index.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bw-agents-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const settings: AgentSettings = { model: null, agentBin: null, scriptDir: null, command: [], maxTurns: null }
const elf = '\x7fELF rest of a program'

function place(path: string, content: string, mode = 0o755): string {
  const full = join(folder, path)
  mkdirSync(join(full, '..'), { recursive: true })
  writeFileSync(full, content)
  chmodSync(full, mode)
  return full
}

function options(change: Partial<AgentSettings> = {}, env: LocateOptions['env'] = {}): LocateOptions {
  return { settings: { ...settings, ...change }, env, guard: () => {} }
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const caught = await promise.catch((error: unknown) => error)
  return caught instanceof UserError ? caught.code : `no UserError: ${caught}`
}

describe('the binary of claude', () => {
  test('is the one that was named', async () => {
    const path = place('my claude', elf)
    const found = await findAgent('claude').locate(options({ agentBin: path }))
    expect(found).toEqual({ binary: path, mount: { from: path, to: '/bw/agent/claude' }, inside: '/bw/agent/claude' })
  })

  test("is the native installer's, through its link, before one on PATH", async () => {
    const version = place('home/.local/share/claude/versions/2.1.332', elf)
    mkdirSync(join(folder, 'home/.local/bin'), { recursive: true })
    symlinkSync(version, join(folder, 'home/.local/bin/claude'))
    place('path/claude', elf)
    const env = { HOME: join(folder, 'home'), PATH: join(folder, 'path') }
    expect((await findAgent('claude').locate(options({}, env))).binary).toBe(version)
  })

  test('is the npm platform package when PATH has only a Node script', async () => {
    place('bin/claude', '#!/usr/bin/env node\n')
    const packageFolder = `lib/node_modules/@anthropic-ai/claude-code-linux-${process.arch}`
    place(`${packageFolder}/package.json`, '{}', 0o644)
    const binary = place(`${packageFolder}/claude`, elf)
    expect((await findAgent('claude').locate(options({}, { PATH: join(folder, 'bin') }))).binary).toBe(binary)
  })

  test('is refused with the reason when it is a Node script', async () => {
    const found = findAgent('claude').locate(options({ agentBin: place('claude', '#!/usr/bin/env node\n') }))
    expect(await codeOf(found)).toBe('agent-unusable')
    await expect(found).rejects.toThrow('it is a Node script, and a builder has no Node to run it')
  })

  test('is refused when it cannot be executed or is no Linux program', async () => {
    const plain = findAgent('claude').locate(options({ agentBin: place('a', elf, 0o644) }))
    await expect(plain).rejects.toThrow('it is not executable')
    const other = findAgent('claude').locate(options({ agentBin: place('b', 'MZ') }))
    await expect(other).rejects.toThrow('it is not a Linux program')
  })

  test('that is nowhere is an error that says how to get it', async () => {
    const found = findAgent('claude').locate(options({}, { PATH: folder, HOME: folder }))
    expect(await codeOf(found)).toBe('agent-not-found')
  })

  test('is not touched where the guard says no, nor reached through a link to there', async () => {
    const secret = place('secret/claude', elf)
    symlinkSync(secret, join(folder, 'link'))
    const guard = (path: string) => {
      if (path.startsWith(join(folder, 'secret'))) throw new UserError('protected-path', `'${path}' is protected`)
    }
    for (const agentBin of [secret, join(folder, 'link')]) {
      const found = findAgent('claude').locate({ ...options({ agentBin }), guard })
      expect(await codeOf(found)).toBe('protected-path')
    }
  })
})

test('codex is mounted with the folder of programs it came with', async () => {
  const binary = place('vendor/x/bin/codex', elf)
  const found = await findAgent('codex').locate(options({ agentBin: binary }))
  expect(found.mount).toEqual({ from: join(folder, 'vendor/x'), to: '/bw/agent' })
  expect(found.inside).toBe('/bw/agent/bin/codex')
})

describe('the command line of claude', () => {
  const gateway = { url: 'http://127.0.0.1:40000', token: 'attempt-token' }
  const { argv, env } = findAgent('claude').command({
    settings: { ...settings, maxTurns: 30 },
    binary: '/bw/agent/claude',
    promptPath: '/bw/in/prompt.md',
    guidancePath: '/bw/in/guidance.md',
    gateway,
  })

  test("leaves out the repository's settings, hooks and servers", () => {
    expect(argv.join(' ')).toContain('--setting-sources user --strict-mcp-config')
  })

  test('has the default model, the bound on turns and the guidance as a file', () => {
    const line = argv.join(' ')
    expect(line).toContain('--model sonnet --max-turns 30 --append-system-prompt-file /bw/in/guidance.md')
  })

  test('holds no token; the environment has that of the attempt', () => {
    expect(argv.join(' ')).not.toContain(gateway.token)
    expect(env).toMatchObject({ ANTHROPIC_BASE_URL: gateway.url, CLAUDE_CODE_OAUTH_TOKEN: gateway.token })
    expect(env).toMatchObject({ CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' })
    expect(env).not.toHaveProperty('ANTHROPIC_API_KEY')
  })
})

describe('scripts', () => {
  const forItem = (attempt: number) => ({ settings: { ...settings, scriptDir: folder }, item: 'add-sum', attempt })

  test("are the attempt's own, else the item's, else the default", async () => {
    const script = findAgent('script')
    const fallback = place('default.sh', 'true')
    expect(await script.inputs(forItem(1))).toEqual([{ name: 'script.sh', from: fallback }])
    const own = place('add-sum.sh', 'true')
    expect(await script.inputs(forItem(1))).toEqual([{ name: 'script.sh', from: own }])
    const second = place('add-sum.2.sh', 'true')
    expect(await script.inputs(forItem(1))).toEqual([{ name: 'script.sh', from: own }])
    expect(await script.inputs(forItem(2))).toEqual([{ name: 'script.sh', from: second }])
  })

  test('decide the result: a changed script is other work, a changed script of another item is not', async () => {
    const script = findAgent('script')
    place('add-sum.sh', 'echo 1')
    const before = await script.resultKey(forItem(1))
    place('add-sum-2.sh', 'echo 1')
    expect(await script.resultKey(forItem(2))).toBe(before)
    place('add-sum.sh', 'echo 2')
    expect(await script.resultKey(forItem(1))).not.toBe(before)
  })

  test('that are missing are named', async () => {
    expect(await codeOf(findAgent('script').inputs(forItem(1)))).toBe('script-missing')
    expect(await codeOf(findAgent('script').locate(options({ scriptDir: join(folder, 'no') })))).toBe('script-folder')
    expect(await codeOf(findAgent('script').locate(options()))).toBe('script-folder')
  })

  test('speak in events; any other line is something said', () => {
    const reader = findAgent('script').openStream()
    const lines = [
      '{"turn":true}',
      '{"tool":"Edit","detail":"a.py"}',
      '{"tokens":{"input":5}}',
      '{"say":"done"}',
      'bye',
      '',
    ]
    const types = lines.flatMap((line) => reader.push(line)).map((event) => event.type)
    expect(types).toEqual(['turn', 'tool', 'usage', 'message', 'message'])
    expect(reader.snapshot()).toMatchObject({ turns: 1, lastTool: 'Edit a.py', tokens: { input: 5 }, message: 'bye' })
  })
})

describe('a command', () => {
  test('gets the prompt file as its last argument', () => {
    const { argv } = findAgent('command').command({
      settings: { ...settings, command: ['aider', '--yes'] },
      binary: null,
      promptPath: '/bw/in/prompt.md',
      guidancePath: null,
      gateway: null,
    })
    expect(argv).toEqual(['aider', '--yes', '/bw/in/prompt.md'])
  })

  test('that is missing is named', async () => {
    expect(await codeOf(findAgent('command').locate(options()))).toBe('command-missing')
  })
})

test('a wrong name gets the nearest one', () => {
  const hintOf = (name: string) => {
    try {
      return findAgent(name).name
    } catch (error) {
      return error instanceof UserError ? error.hint : error
    }
  }
  expect(hintOf('cladue')).toBe("did you mean 'claude'?")
  expect(hintOf('zzzzzzzz')).toBe('the agents are claude, codex, command, script')
})
