import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type BuildEnd, type Ended, findAgent } from '../src/index.ts'

const cases = join(import.meta.dirname, 'cases')

/** Streams of real agents against a scripted API, with how each process ended. */
function play(name: string, how: Partial<Ended> = {}): BuildEnd {
  const { exit, stderr } = JSON.parse(readFileSync(join(cases, `${name}.end.json`), 'utf8'))
  const reader = findAgent(/^codex_/.test(name) ? 'codex' : 'claude').openStream()
  for (const line of readFileSync(join(cases, `${name}.jsonl`), 'utf8').split('\n')) reader.push(line)
  return reader.end({ ...ended, exit, stderrTail: stderr, ...how })
}

const ended: Ended = {
  exit: 0,
  oomKilled: false,
  timedOut: false,
  stopped: false,
  killed: false,
  limit: null,
  streamTruncated: false,
}

const outcomes: Record<string, string[]> = {
  done: [
    'api_429_then_success',
    'background_bash',
    'bad_mcp',
    'bg_disabled',
    'codex_success',
    'codex_tools',
    'cut_mid_stream',
    'docker_hardened',
    'fallback_model_529',
    'hook_events',
    'long_tool_output_1mb',
    'rate_limit_warning_headers',
    'resume_2_resume',
    'resume_9b_after_kill',
    'subagent_task',
    'success',
    'tools_bash_write_edit',
  ],
  'rate-limited': [
    'api_429_long_retry_after',
    'api_529_repeatedly',
    'codex_429',
    'codex_usage_limit',
    'usage_limit_429_unified',
    'usage_limit_mid_run',
    'usage_limit_weekly',
  ],
  auth: ['api_401', 'api_403', 'no_auth'],
  budget: ['budget', 'max_turns'],
  refused: ['refusal'],
  empty: ['empty_text_reply'],
  failed: [
    'api_400_prompt_too_long',
    'api_500_repeatedly',
    'bad_flag',
    'conn_refused',
    'malformed_json_in_sse',
    'perm_default_deny',
    'resume_5_unknown_id',
    'root_skip',
    'stop_max_tokens',
  ],
  stopped: ['codex_sigterm', 'kill_sigint_in_tool', 'kill_sigterm_in_tool'],
  killed: ['kill_sigkill_in_tool'],
}

describe.each(Object.entries(outcomes))('an attempt ends as %s', (outcome, names) => {
  test.each(names)('%s', (name) => {
    // A signal reaches us as 128 + its number: the entry point waits for the agent as a shell does.
    const { signal } = JSON.parse(readFileSync(join(cases, `${name}.end.json`), 'utf8'))
    const exit = signal === 'SIGTERM' ? { exit: 143 } : {}
    expect(play(name, exit)).toMatchObject({ outcome, limit: null })
  })
})

describe('what is counted', () => {
  test('subagents are part of turns, tokens and cost', () => {
    expect(play('subagent_task')).toMatchObject({ turns: 4, tokens: { input: 400, output: 100 }, costUsd: 0.0018 })
  })

  test('a run with two results counts each part once and ends with the last words', () => {
    const end = play('background_bash')
    expect(end).toMatchObject({ turns: 3, tokens: { input: 300, output: 75 }, message: 'bg noticed' })
    expect(end.costUsd).toBeCloseTo(0.00135, 10)
  })

  test('a resumed session is charged for its own part only', () => {
    expect(play('resume_2_resume')).toMatchObject({ tokens: { input: 100, output: 25 }, costUsd: 0.00045 })
  })

  test('codex tells cached input apart and names no price', () => {
    const tokens = { input: 270, output: 60, cacheRead: 30, cacheWrite: 0 }
    expect(play('codex_tools')).toMatchObject({ turns: 2, tokens, costUsd: null, message: 'All done.' })
  })

  test('a usage limit gives the time of its reset, a passing 429 none', () => {
    expect(play('usage_limit_mid_run').resetsAt).toBe('2026-11-29T17:33:24.000Z')
    expect(play('api_429_long_retry_after').resetsAt).toBeNull()
  })
})

describe('what an end says about the work', () => {
  test('nothing, when the API, the login or a person ended it', () => {
    const names = [
      'api_500_repeatedly',
      'conn_refused',
      'no_auth',
      'max_turns',
      'usage_limit_weekly',
      'kill_sigterm_in_tool',
    ]
    for (const name of names) expect(play(name), name).toMatchObject({ aboutWork: false })
  })

  test('something, when the agent itself failed', () => {
    for (const name of ['api_400_prompt_too_long', 'perm_default_deny', 'refusal', 'success']) {
      expect(play(name), name).toMatchObject({ aboutWork: true })
    }
  })

  test('the reason on stderr is the message when there are no events', () => {
    expect(play('root_skip').message).toContain('cannot be used with root')
    expect(play('bad_flag').message).toBe("error: unknown option '--no-such-flag'")
  })

  test('the denied tools are named', () => {
    expect(play('perm_default_deny').message).toBe('every tool call was denied: Bash, Write')
  })
})

describe('what the tools and the engine saw', () => {
  test('comes before what the agent said', () => {
    expect(play('success', { stopped: true }).outcome).toBe('stopped')
    expect(play('success', { timedOut: true, exit: 137 }).outcome).toBe('timed-out')
    expect(play('kill_sigkill_in_tool', { stalled: true }).outcome).toBe('stalled')
    expect(play('kill_sigkill_in_tool', { limit: 'pids' })).toMatchObject({ outcome: 'limit', limit: 'pids' })
    expect(play('kill_sigkill_in_tool', { oomKilled: true })).toMatchObject({ outcome: 'limit', limit: 'memory' })
    expect(play('kill_sigterm_in_tool', { killed: true }).outcome).toBe('killed')
  })

  test('a child that was killed for memory does not undo a success that the agent reported afterwards', () => {
    expect(play('success', { oomKilled: true })).toMatchObject({ outcome: 'done', limit: null })
  })

  test('exit 1 after a good result is a failure', () => {
    expect(play('success', { exit: 1 }).outcome).toBe('failed')
  })
})
