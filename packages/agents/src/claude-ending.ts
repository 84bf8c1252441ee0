import { failed, type Judgement, judgeApiError, judgeSignal, stderrLine } from './ending.ts'
import type { Ended, Snapshot } from './events.ts'
import { asFields, asList, asText, type Fields } from './hostile-line.ts'

/** What the stream left behind for the verdict. */
export interface ClaudeEnding {
  /** The last `result` event: there can be several in one run. */
  result: Fields | null
  /** The kind of API failure that the last reply stood for, null after a real reply. */
  apiError: string | null
  /** Tool calls the model made. */
  tools: number
}

const accountErrors = [
  'authentication_failed',
  'oauth_org_not_allowed',
  'account_on_hold',
  'verification_required',
  'billing_error',
  'cloud_credential_error',
]
const loadErrors = ['rate_limit', 'overloaded', 'usage_limit_reached']

/**
 * What Claude Code's end means. `subtype` says `success` after every API failure, and exit 0 comes after an interrupt, so
 * the verdict rests on the process's end, then `is_error`, then what the API answered.
 */
export function judgeClaude(ending: ClaudeEnding, seen: Snapshot, how: Ended): Judgement {
  const { result } = ending
  if (result === null) return judgeWithoutResult(seen, how)
  if (result['is_error'] !== false) return judgeError(ending, result)
  if (how.exit !== 0) return judgeSignal(how.exit) ?? failed(stderrLine(how) || `it ended with status ${how.exit}`)
  return judgeSuccess(ending, result)
}

function judgeWithoutResult(seen: Snapshot, how: Ended): Judgement {
  if (how.exit !== 0) return judgeSignal(how.exit) ?? failed(stderrLine(how) || `it ended with status ${how.exit}`)
  if (how.streamTruncated) return { outcome: 'done', message: seen.message, aboutWork: true, sure: false }
  if (seen.turns > 0) return failed('it ended without its final event')
  return { outcome: 'empty', message: 'it ended without a word', aboutWork: true, sure: false }
}

function judgeError(ending: ClaudeEnding, result: Fields): Judgement {
  const message = asText(result['result']) || asText(asList(result['errors'])[0]) || 'it reported an error'
  const reason = asText(result['terminal_reason'], 100)
  const status = typeof result['api_error_status'] === 'number' ? result['api_error_status'] : null
  const words = [ending.apiError ?? '', asText(result['api_error'], 100)]
  const notWork = (outcome: Judgement['outcome']) => ({ outcome, message, aboutWork: false, sure: false })
  if (reason.startsWith('aborted')) return notWork('stopped')
  if (/^error_max_(turns|budget_usd)$/.test(asText(result['subtype'], 100))) return notWork('budget')
  if (result['stop_reason'] === 'refusal') return { ...notWork('refused'), aboutWork: true }
  if (words.some((word) => accountErrors.includes(word))) return notWork('auth')
  if (words.some((word) => loadErrors.includes(word))) return notWork('rate-limited')
  const outcome = judgeApiError(status, message)
  if (outcome !== null) return notWork(outcome)
  const apiIsDown = reason === 'api_error' && (status === null || status >= 500) && !words.includes('max_output_tokens')
  return { ...failed(message), aboutWork: !apiIsDown }
}

function judgeSuccess(ending: ClaudeEnding, result: Fields): Judgement {
  const message = asText(result['result'])
  const denials = asList(result['permission_denials']).map((denial) => asText(asFields(denial)['tool_name'], 100))
  if (denials.length > 0 && denials.length >= ending.tools) {
    return failed(`every tool call was denied: ${[...new Set(denials)].join(', ')}`)
  }
  if (message === '' && ending.tools === 0) {
    return { outcome: 'empty', message: 'it answered with nothing', aboutWork: true, sure: false }
  }
  return { outcome: 'done', message, aboutWork: true, sure: true }
}
