import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type RealAgent, realAgent } from './support/agent-binaries.ts'
import { type Answer, type Asked, startModelApi } from './support/model-api.ts'
import { type PipeResult, runPipe, scriptPipe } from './support/pipeline.ts'
import { git } from './support/repository.ts'
import { makeSmallPlan } from './support/small-plan.ts'

const binaries = { claude: await realAgent('claude'), codex: await realAgent('codex') }
/** Put together here, so that no whole credential stands in a file. */
const secrets = {
  claude: ['sk', 'ant', 'oat01', 'q7Zk2'.repeat(9)].join('-'),
  codex: ['sk', 'proj', 'q7Zk2'.repeat(9)].join('-'),
}

/** A shell command as each agent's own tool call. */
const calls: Record<RealAgent, (command: string) => Answer> = {
  claude: (command) => ({ tool: { name: 'Bash', input: { command, description: 'x' } } }),
  codex: (command) => ({ tool: { name: 'exec_command', input: { cmd: command } } }),
}

/** Two items through all nine stages, with the agent's own binary in its containers against a scripted API. */
async function runItems(name: RealAgent, answer: (asked: Asked) => Answer) {
  const { repo, scripts, env, state } = makeSmallPlan({
    plan: ['- [ ] 1. Write `one.txt`', '- [ ] 2. Write `two.txt`'],
    files: { 'CLAUDE.md': 'Every file says good.\n' },
  })
  const api = await startModelApi({ answer })
  onTestFinished(() => api.close())
  const token = join(dirname(repo), 'token')
  writeFileSync(token, secrets[name], { mode: 0o600 })
  const runtime = join(dirname(repo), 'run')
  mkdirSync(runtime, { mode: 0o700 })
  const stages = scriptPipe(scripts, { planArgs: ['--test', 'sh check.sh'] }).map((stage) =>
    stage.tool === 'bw-spawn'
      ? {
          ...stage,
          args: ['--agent', name, '--agent-bin', binaries[name] ?? '', '--token-file', token, '--upstream', api.url],
        }
      : stage,
  )
  const again = () => runPipe(stages, { cwd: repo, env: { ...env, XDG_RUNTIME_DIR: runtime } })
  const result = await again()
  const run = join(state, 'runs', String(result.records[0]?.['run']))
  return { api, repo, result, run, again }
}

/** What each builder asks of the scripted model: its own file first, then nothing more. */
const writeOwnFile =
  (name: RealAgent) =>
  (asked: Asked): Answer => {
    if (asked.replies > 0) return { text: 'All done.' }
    const file = asked.text.includes('one.txt') ? 'one.txt' : 'two.txt'
    // Names only: the values would be a finding of bw-scan, and rightly so.
    const look = 'tr "\\0" "\\n" < /proc/self/environ | cut -d= -f1; cat /proc/net/dev; ls /bw'
    ;('cat /proc/self/environ /proc/net/dev /proc/1/cmdline 2>/dev/null | tr "\\0" "\\n"; ls /bw/gateway 2>&1')
    return calls[name](`echo good > ${file}; ${look}`)
  }

const greenAll = ({ status, stderr }: PipeResult) =>
  expect(Object.values(status), JSON.stringify(stderr)).toEqual(Object.keys(status).map(() => 0))

describe.each(['claude', 'codex'] as const)('the real %s', (name) => {
  test.skipIf(binaries[name] === null)(
    'builds a plan through the whole pipe, with the credential at the API only',
    async () => {
      const { api, repo, result, run } = await runItems(name, writeOwnFile(name))
      greenAll(result)
      const delivered = String(result.records.findLast(({ kind }) => kind === 'delivery')?.['ref'])
      expect(git(repo, 'ls-tree', '--name-only', delivered).split('\n')).toEqual(
        expect.arrayContaining(['one.txt', 'two.txt']),
      )
      expect(
        api.asked.every(({ headers }) => String(headers.authorization ?? headers['x-api-key']).includes(secrets[name])),
      ).toBe(true)
      for (const item of ['1', '2']) {
        const stream = readFileSync(join(run, 'items', item, '1', 'out', 'stream.jsonl'), 'utf8')
        expect(stream).not.toContain(secrets[name])
        expect(stream).toContain('lo:')
        expect(stream).not.toMatch(/eth0:/)
      }
      const builds = result.records.filter(({ kind }) => kind === 'build')
      expect(builds.map(({ outcome, turns }) => [outcome, Number(turns) > 0])).toEqual([
        ['done', true],
        ['done', true],
      ])
    },
  )
})

describe('the real claude', () => {
  test.skipIf(binaries.claude === null)(
    'whose token has expired ends as auth, and the same line goes on once it is mended',
    async () => {
      let expired = true
      const error = { type: 'authentication_error', message: 'OAuth token has expired' }
      const write = writeOwnFile('claude')
      const { result, again } = await runItems('claude', (asked) => (expired ? { status: 401, error } : write(asked)))
      const outcomes = ({ records }: PipeResult) =>
        records.filter(({ kind }) => kind === 'build').map(({ outcome }) => outcome)
      expect(outcomes(result).every((outcome) => outcome === 'auth')).toBe(true)
      expect(result.status['bw-deliver']).not.toBe(0)
      expired = false
      const mended = await again()
      expect(mended.status['bw-deliver'], JSON.stringify(mended.stderr)).toBe(0)
      expect(outcomes(mended).filter((outcome) => outcome === 'done')).toHaveLength(2)
    },
  )
})
