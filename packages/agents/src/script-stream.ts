import { endBuild, judgeExit } from './ending.ts'
import type { AgentEvent, StreamReader, Tokens } from './events.ts'
import { asCount, asFields, asText, type Fields, readObject } from './hostile-line.ts'
import { addTokens, newSnapshot, toolLine } from './tally.ts'

/**
 * The events of `script` and `command`: a line that is an object with `turn`, `tool`, `tokens` or `say` is an event, any
 * other line is something said. How it ended is the exit status alone.
 */
export function openScriptStream(): StreamReader {
  const seen = newSnapshot()

  function push(line: string): AgentEvent[] {
    const fields = readObject(line)
    if (fields === null) return say(asText(line.trim()))
    if (fields['turn'] === true) return countTurn()
    if (typeof fields['tool'] === 'string') return callTool(fields)
    if (fields['tokens'] !== undefined) return useTokens(readTokens(asFields(fields['tokens'])))
    return say(asText(fields['say'] ?? line.trim()))
  }

  function say(text: string): AgentEvent[] {
    if (text === '') return []
    seen.message = text
    return [{ type: 'message', text }]
  }

  function countTurn(): AgentEvent[] {
    seen.turns += 1
    return [{ type: 'turn' }]
  }

  function callTool(fields: Fields): AgentEvent[] {
    const name = asText(fields['tool'], 100)
    const detail = asText(fields['detail'], 200)
    seen.lastTool = toolLine(name, detail)
    return [{ type: 'tool', name, detail }]
  }

  function useTokens(used: Tokens): AgentEvent[] {
    seen.tokens = addTokens(seen.tokens, used)
    return [{ type: 'usage', tokens: seen.tokens, costUsd: null }]
  }

  return { push, snapshot: () => seen, end: (how) => endBuild(seen, how, judgeExit(seen, how)) }
}

function readTokens(tokens: Fields): Tokens {
  return {
    input: asCount(tokens['input']),
    output: asCount(tokens['output']),
    cacheRead: asCount(tokens['cacheRead']),
    cacheWrite: asCount(tokens['cacheWrite']),
  }
}
