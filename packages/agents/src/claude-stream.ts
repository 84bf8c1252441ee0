import { type ClaudeEnding, judgeClaude } from './claude-ending.ts'
import { endBuild } from './ending.ts'
import type { AgentEvent, Ended, Snapshot, StreamReader, Tokens } from './events.ts'
import { asAmount, asCount, asFields, asInstant, asList, asText, type Fields, readObject } from './hostile-line.ts'
import { addTokens, newSnapshot, noTokens, toolLine } from './tally.ts'

/** More replies than this are not kept apart: a builder could otherwise fill our memory with made-up ids. */
const mostIds = 20_000

interface State extends ClaudeEnding {
  seen: Snapshot
  /** Replies whose first block was counted. */
  ids: Set<string>
  /** From results, which cover all before them. */
  settled: Tokens
  /** From replies since the last result; only the input side of these is right. */
  open: Tokens
}

/** Claude Code's `--output-format stream-json`, as seen with 2.1.197 and 2.1.332. */
export function openClaudeStream(): StreamReader {
  const state: State = {
    seen: newSnapshot(),
    ids: new Set(),
    settled: noTokens,
    open: noTokens,
    result: null,
    apiError: null,
    tools: 0,
  }
  return {
    push: (line) => readEvent(state, readObject(line)),
    snapshot: () => state.seen,
    end: (how: Ended) => endBuild(state.seen, how, judgeClaude(state, state.seen, how)),
  }
}

function readEvent(state: State, event: Fields | null): AgentEvent[] {
  switch (event?.['type']) {
    case 'assistant':
      return readReply(state, event)
    case 'result':
      return readResult(state, event)
    case 'rate_limit_event':
      return readRateLimit(state, asFields(event['rate_limit_info']))
    case 'system':
      return event['subtype'] === 'api_retry' ? [readRetry(event)] : []
    default:
      return []
  }
}

function readReply(state: State, event: Fields): AgentEvent[] {
  const message = asFields(event['message'])
  if (event['is_api_error_message'] === true || message['model'] === '<synthetic>') {
    state.apiError = asText(event['error'], 100)
    return []
  }
  state.apiError = null
  const events: AgentEvent[] = []
  const id = asText(message['id'], 200)
  if (!state.ids.has(id)) {
    if (state.ids.size < mostIds) state.ids.add(id)
    state.seen.turns += 1
    state.open = addTokens(state.open, readUsage(asFields(message['usage'])))
    state.seen.tokens = addTokens(state.settled, state.open)
    events.push({ type: 'turn' }, { type: 'usage', tokens: state.seen.tokens, costUsd: state.seen.costUsd })
  }
  for (const block of asList(message['content'])) events.push(...readBlock(state, asFields(block)))
  return events
}

function readBlock(state: State, block: Fields): AgentEvent[] {
  if (block['type'] === 'tool_use') {
    const name = asText(block['name'], 100)
    const detail = describeInput(asFields(block['input']))
    state.tools += 1
    state.seen.lastTool = toolLine(name, detail)
    return [{ type: 'tool', name, detail }]
  }
  const text = asText(block['text'])
  if (block['type'] !== 'text' || text === '') return []
  state.seen.message = text
  return [{ type: 'message', text }]
}

/** The one field of a call that tells a person most. */
function describeInput(input: Fields): string {
  const named = ['command', 'file_path', 'path', 'pattern', 'url', 'query', 'description'].map((key) => input[key])
  return asText(
    named.find((value) => typeof value === 'string' && value !== ''),
    200,
  ).replace(/\s+/g, ' ')
}

function readResult(state: State, event: Fields): AgentEvent[] {
  state.result = event
  const since = Object.values(asFields(event['model_usage_since_last_result'])).map(asFields)
  const used = since.length > 0 ? since.map(readModelUsage).reduce(addTokens) : readUsage(asFields(event['usage']))
  state.settled = addTokens(state.settled, used)
  state.open = noTokens
  state.seen.tokens = state.settled
  // A resumed session's total includes earlier runs, so the parts of this run are summed where they are given.
  const parts = since.map((model) => asAmount(model['costUSD']) ?? 0)
  const total = asAmount(event['total_cost_usd'])
  state.seen.costUsd =
    parts.length > 0 ? parts.reduce((a, b) => a + b, state.seen.costUsd ?? 0) : (state.seen.costUsd ?? total)
  const text = asText(event['result'])
  if (text !== '') state.seen.message = text
  return [{ type: 'usage', tokens: state.seen.tokens, costUsd: state.seen.costUsd }]
}

function readUsage(usage: Fields): Tokens {
  return {
    input: asCount(usage['input_tokens']),
    output: asCount(usage['output_tokens']),
    cacheRead: asCount(usage['cache_read_input_tokens']),
    cacheWrite: asCount(usage['cache_creation_input_tokens']),
  }
}

function readModelUsage(usage: Fields): Tokens {
  return {
    input: asCount(usage['inputTokens']),
    output: asCount(usage['outputTokens']),
    cacheRead: asCount(usage['cacheReadInputTokens']),
    cacheWrite: asCount(usage['cacheCreationInputTokens']),
  }
}

function readRateLimit(state: State, info: Fields): AgentEvent[] {
  if (info['status'] !== 'rejected') return []
  state.seen.resetsAt = asInstant(info['resetsAt'])
  return [{ type: 'usage-limit', resetsAt: state.seen.resetsAt }]
}

function readRetry(event: Fields): AgentEvent {
  const status = asCount(event['error_status'])
  const reason = [asText(event['error'], 100) || 'unknown', ...(status === 0 ? [] : [status])].join(' ')
  return { type: 'retry', reason, delayMs: asCount(event['retry_delay_ms']) }
}
