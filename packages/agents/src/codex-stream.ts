import { endBuild, failed, type Judgement, judgeApiError, judgeSignal, stderrLine } from './ending.ts'
import type { AgentEvent, Ended, Snapshot, StreamReader } from './events.ts'
import { asCount, asFields, asText, type Fields, readObject } from './hostile-line.ts'
import { addTokens, newSnapshot, toolLine } from './tally.ts'

interface State {
  seen: Snapshot
  /** The message of the last `turn.failed`, null after a completed turn. */
  failure: string | null
  completed: boolean
}

/** `codex exec --json`, as seen with 0.171.0. It gives no turn count, cost or error code: failures are told by their text. */
export function openCodexStream(): StreamReader {
  const state: State = { seen: newSnapshot(), failure: null, completed: false }
  return {
    push: (line) => readEvent(state, readObject(line)),
    snapshot: () => state.seen,
    end: (how) => endBuild(state.seen, how, judgeCodex(state, how)),
  }
}

function readEvent(state: State, event: Fields | null): AgentEvent[] {
  switch (event?.['type']) {
    case 'item.started':
      return readCall(state, asFields(event['item']))
    case 'item.completed':
      return readItem(state, asFields(event['item']))
    case 'turn.completed':
      return readTurn(state, asFields(event['usage']))
    case 'turn.failed':
      state.failure = asText(asFields(event['error'])['message']) || 'its turn failed'
      return []
    // A retry ("Reconnecting…") or the words of the failure that follows; never final by itself.
    case 'error':
      return [{ type: 'retry', reason: asText(event['message'], 300) }]
    default:
      return []
  }
}

function readCall(state: State, item: Fields): AgentEvent[] {
  const kind = asText(item['type'], 100)
  if (['', 'agent_message', 'reasoning', 'error', 'todo_list'].includes(kind)) return []
  const detail = asText(item['command'] ?? item['query'] ?? item['tool'], 200).replace(/\s+/g, ' ')
  state.seen.lastTool = toolLine(kind, detail)
  return [{ type: 'tool', name: kind, detail }]
}

/** Each finished call or message stands for one reply of the model; the gateway counts the real ones. */
function readItem(state: State, item: Fields): AgentEvent[] {
  const kind = asText(item['type'], 100)
  if (['', 'reasoning', 'error', 'todo_list'].includes(kind)) return []
  state.seen.turns += 1
  const text = kind === 'agent_message' ? asText(item['text']) : ''
  if (text === '') return [{ type: 'turn' }]
  state.seen.message = text
  return [{ type: 'turn' }, { type: 'message', text }]
}

function readTurn(state: State, usage: Fields): AgentEvent[] {
  const cacheRead = asCount(usage['cached_input_tokens'])
  state.failure = null
  state.completed = true
  // Its input figure includes what came from the cache.
  state.seen.tokens = addTokens(state.seen.tokens, {
    input: Math.max(0, asCount(usage['input_tokens']) - cacheRead),
    output: asCount(usage['output_tokens']),
    cacheRead,
    cacheWrite: asCount(usage['cache_write_input_tokens']),
  })
  return [{ type: 'usage', tokens: state.seen.tokens, costUsd: null }]
}

function judgeCodex(state: State, how: Ended): Judgement {
  if (state.failure !== null) return judgeFailure(state.failure)
  if (how.exit !== 0) return judgeSignal(how.exit) ?? failed(stderrLine(how) || `it ended with status ${how.exit}`)
  if (state.completed) return { outcome: 'done', message: state.seen.message, aboutWork: true, sure: true }
  if (how.streamTruncated) return { outcome: 'done', message: state.seen.message, aboutWork: true, sure: false }
  if (state.seen.turns > 0) return failed('it ended without its final event')
  return { outcome: 'empty', message: 'it ended without a word', aboutWork: true, sure: false }
}

function judgeFailure(message: string): Judgement {
  const status = Number(/\b(4\d\d|5\d\d)\b/.exec(message)?.[1] ?? Number.NaN)
  const byWords = /usage limit|rate limit|at capacity|overloaded/i.test(message) ? ('rate-limited' as const) : null
  const outcome = judgeApiError(Number.isNaN(status) ? null : status, message) ?? byWords ?? authByWords(message)
  if (outcome !== null) return { outcome, message, aboutWork: false, sure: false }
  const apiIsDown = status >= 500 || /stream disconnected|error sending request|connection/i.test(message)
  return { ...failed(message), aboutWork: !apiIsDown }
}

function authByWords(message: string): 'auth' | null {
  return /missing environment variable|not logged in|unauthori[sz]ed|invalid api key/i.test(message) ? 'auth' : null
}
