import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildOutcome, buildRecord } from '@buildwave/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agentNames, type BuildEnd, type Ended, findAgent } from '../src/index.ts'

const ended: Ended = {
  exit: 0,
  oomKilled: false,
  timedOut: false,
  stopped: false,
  killed: false,
  limit: null,
  streamTruncated: false,
}

const success = readFileSync(join(import.meta.dirname, 'cases', 'success.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
const eventTypes = [
  'assistant',
  'result',
  'system',
  'rate_limit_event',
  'item.completed',
  'turn.completed',
  'turn.failed',
]

function playClaude(lines: readonly string[], how: Partial<Ended> = {}): BuildEnd {
  const reader = findAgent('claude').openStream()
  for (const line of lines) reader.push(line)
  return reader.end({ ...ended, ...how })
}

/** An end must always fit into a `build` record. */
function expectRecordable(end: BuildEnd): void {
  expect(buildOutcome.safeParse(end.outcome).success).toBe(true)
  expect(buildRecord.shape.tokens.safeParse(end.tokens).success).toBe(true)
  expect(buildRecord.shape.turns.safeParse(end.turns).success).toBe(true)
  expect(buildRecord.shape.costUsd.safeParse(end.costUsd).success).toBe(true)
  expect(buildRecord.shape.resetsAt.safeParse(end.resetsAt).success).toBe(true)
  expect(end.message.length).toBeLessThanOrEqual(2000)
  expect(end.message.isWellFormed()).toBe(true)
}

describe.each(agentNames)('%s', (name) => {
  test('takes events with any value in any place', () => {
    const key = fc.constantFrom(
      'message',
      'content',
      'usage',
      'item',
      'result',
      'is_error',
      'rate_limit_info',
      'resetsAt',
    )
    const fields = fc.dictionary(fc.oneof(key, fc.string()), fc.jsonValue())
    const event = fc
      .tuple(fc.constantFrom(...eventTypes), fields)
      .map(([type, rest]) => JSON.stringify({ ...rest, type }))
    const line = fc.oneof(event, fc.json(), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.option(fc.integer({ min: 0, max: 255 })), (lines, exit) => {
        const reader = findAgent(name).openStream()
        for (const each of lines) reader.push(each)
        expectRecordable(reader.end({ ...ended, exit }))
      }),
    )
  })

  test('takes a line of 20 MB, of deep nesting, and of numbers no counter holds', () => {
    const reader = findAgent(name).openStream()
    reader.push(`{"type":"result","is_error":false,"result":"${'x'.repeat(20 * 1024 * 1024)}"}`)
    reader.push(`{"type":"assistant","message":${'['.repeat(200_000)}`)
    for (const type of eventTypes) {
      reader.push(
        `{"type":"${type}","usage":{"input_tokens":1e308,"output_tokens":9007199254740991},"rate_limit_info":{"status":"rejected","resetsAt":1e300},"total_cost_usd":-1}`,
      )
      reader.push(
        `{"type":"${type}","usage":{"output_tokens":9007199254740991,"cached_input_tokens":7},"tokens":{"input":-1}}`,
      )
    }
    expectRecordable(reader.end(ended))
  })
})

test('a line that is longer than any event is not even read', () => {
  const result = `{"type":"result","is_error":false,"result":"${'x'.repeat(20 * 1024 * 1024)}"}`
  expect(playClaude([result])).toMatchObject({ outcome: 'empty' })
})

test('parts of a token are no tokens', () => {
  const result = '{"type":"result","is_error":false,"result":"ok","usage":{"input_tokens":0.5,"output_tokens":3}}'
  expect(playClaude([result])).toMatchObject({ outcome: 'done', tokens: { input: 0, output: 3 } })
})

describe('a stream that ends too soon', () => {
  test('with its last event cut in half is a failure, even after exit 0', () => {
    const torn = [...success.slice(0, -1), success.at(-1)?.slice(0, 200) ?? '']
    expect(playClaude(torn)).toMatchObject({ outcome: 'failed', message: 'it ended without its final event' })
  })

  test('without a word is empty', () => {
    expect(playClaude([])).toMatchObject({ outcome: 'empty' })
  })

  test('because its file met its bound is judged by the exit status', () => {
    expect(playClaude(success.slice(0, -1), { streamTruncated: true })).toMatchObject({ outcome: 'done' })
    expect(playClaude(success.slice(0, -1), { streamTruncated: true, exit: 1 })).toMatchObject({ outcome: 'failed' })
  })

  test('keeps counting what was seen', () => {
    expect(playClaude(success.slice(0, -1), { exit: 137 })).toMatchObject({ turns: 3, tokens: { input: 300 } })
  })
})

test('one reply in several events is one turn, and made-up ids are kept within bounds', () => {
  const reader = findAgent('claude').openStream()
  const block = (text: string) =>
    JSON.stringify({ type: 'assistant', message: { id: 'msg_1', model: 'm', content: [{ type: 'text', text }] } })
  expect(reader.push(block('a')).map((event) => event.type)).toEqual(['turn', 'usage', 'message'])
  expect(reader.push(block('b')).map((event) => event.type)).toEqual(['message'])
  expect(reader.snapshot().turns).toBe(1)
})

test('a result whose is_error is not exactly false is an error', () => {
  expect(playClaude(['{"type":"result","subtype":"success","result":"ok"}'])).toMatchObject({ outcome: 'failed' })
})

test("the gateway's own refusal is told as a budget, whatever the agent makes of it", () => {
  const words = 'API Error: 400 [buildwave-budget] 200000 tokens are used up'
  const result = JSON.stringify({ type: 'result', is_error: true, api_error_status: 400, result: words })
  expect(playClaude([result], { exit: 1 })).toMatchObject({ outcome: 'budget', aboutWork: false })
  const codex = findAgent('codex').openStream()
  codex.push(JSON.stringify({ type: 'turn.failed', error: { message: words } }))
  expect(codex.end({ ...ended, exit: 1 })).toMatchObject({ outcome: 'budget', aboutWork: false })
})
