/**
 * Usage, read from the API's answers as they pass. A reader looks at a copy of the bytes and keeps one line at most, so a
 * long answer costs no memory and a malformed one costs nothing but its count.
 */
import { StringDecoder } from 'node:string_decoder'
import type { Api } from './rules.ts'

export interface Tokens {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  /** The part of `cacheWrite` that is kept for an hour and costs more. */
  cacheWriteHour: number
}

export interface UsageReader {
  push(chunk: Buffer): void
  end(): Usage
}

export interface Usage {
  /** As far as it was told. */
  tokens: Tokens
  /** The model that answered, null when it was not named. */
  model: string | null
  /** True when the final figures were among them. */
  isFinal: boolean
  /** Bytes of the answer. */
  bytes: number
}

export const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

/** A line or a whole answer over this is not read: usage lines are a few hundred bytes, whole answers some hundred kB. */
const longest = 8 * 1024 * 1024

type Fields = Readonly<Record<string, unknown>>

/** A reader for one answer, a stream of events or one JSON text by its content type. */
export function openUsage(api: Api, contentType: string | undefined): UsageReader {
  const found: Usage = { tokens: noTokens, model: null, isFinal: false, bytes: 0 }
  const take = (value: unknown) => takeUsage(api, asFields(value), found)
  const isStream = /^text\/event-stream\b/i.test(contentType ?? '')
  const isTelling = (line: string) => line.startsWith('data:') && line.includes('"usage"')
  const lines = isStream ? eachLine((line) => isTelling(line) && take(parse(line.slice(5)))) : wholeText(take)
  return {
    push(chunk) {
      found.bytes += chunk.length
      lines.push(chunk)
    },
    end() {
      lines.end()
      return found
    },
  }
}

/** Work is linear in the bytes, also when one line comes in thousands of pieces. */
function eachLine(read: (line: string) => void) {
  const decoder = new StringDecoder('utf8')
  let pieces: string[] = []
  let size = 0

  function keep(piece: string): void {
    size += piece.length
    if (size <= longest) pieces.push(piece)
    else pieces = []
  }

  function finish(): void {
    if (size <= longest) read(pieces.join(''))
    pieces = []
    size = 0
  }

  return {
    push(chunk: Buffer) {
      const [first = '', ...others] = decoder.write(chunk).split('\n')
      keep(first)
      for (const piece of others) {
        finish()
        keep(piece)
      }
    },
    end: finish,
  }
}

function wholeText(take: (value: unknown) => void) {
  const chunks: Buffer[] = []
  let size = 0
  return {
    push(chunk: Buffer) {
      size += chunk.length
      if (size <= longest) chunks.push(chunk)
    },
    end: () => size <= longest && take(parse(Buffer.concat(chunks).toString('utf8'))),
  }
}

/** Later figures of one answer are totals, so the greatest of each kind holds. */
function takeUsage(api: Api, event: Fields, found: Usage): void {
  const message = asFields(event['message'] ?? event['response'])
  const model = message['model'] ?? event['model']
  if (typeof model === 'string' && found.model === null) found.model = model.slice(0, 200)
  // The first event of Anthropic's stream tells the input, its last but one the rest.
  const last = api === 'anthropic' ? event['usage'] : (message['usage'] ?? event['usage'])
  if (typeof last === 'object' && last !== null) found.isFinal = true
  for (const usage of [message['usage'], event['usage']]) {
    const read = api === 'anthropic' ? readAnthropic(asFields(usage)) : readOpenAi(asFields(usage))
    found.tokens = greatest(found.tokens, read)
  }
}

/**
 * The usage of an answer that was cut before its final figures, from above: a builder that hangs up early must not get its
 * replies for nothing. A token is seldom shorter than four bytes, and the bytes count the framing too.
 */
export function estimate({ tokens, bytes }: Usage, asked: number): Tokens {
  const isInputTold = tokens.input + tokens.cacheRead + tokens.cacheWrite > 0
  const input = isInputTold ? tokens.input : Math.ceil(asked / 4)
  return { ...tokens, input, output: Math.max(tokens.output, Math.ceil(bytes / 4)) }
}

function readAnthropic(usage: Fields): Tokens {
  return {
    input: count(usage['input_tokens']),
    output: count(usage['output_tokens']),
    cacheRead: count(usage['cache_read_input_tokens']),
    cacheWrite: count(usage['cache_creation_input_tokens']),
    cacheWriteHour: count(asFields(usage['cache_creation'])['ephemeral_1h_input_tokens']),
  }
}

/** Here the input figure includes what came from the cache. */
function readOpenAi(usage: Fields): Tokens {
  const cacheRead = count(asFields(usage['input_tokens_details'])['cached_tokens'])
  return {
    ...noTokens,
    input: Math.max(0, count(usage['input_tokens']) - cacheRead),
    output: count(usage['output_tokens']),
    cacheRead,
  }
}

function greatest(a: Tokens, b: Tokens): Tokens {
  return {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cacheRead: Math.max(a.cacheRead, b.cacheRead),
    cacheWrite: Math.max(a.cacheWrite, b.cacheWrite),
    cacheWriteHour: Math.max(a.cacheWriteHour, b.cacheWriteHour),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
