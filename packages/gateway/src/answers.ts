import type { ServerResponse } from 'node:http'
import type { Api } from './rules.ts'

/** Agents repeat an error's text, and the adapters tell a met bound by this mark (`budgetMark` of the agents). */
const budgetMark = 'buildwave-budget'

export function budgetRefusal(met: string): string {
  return `[${budgetMark}] ${met}`
}

/** Answers in the error shape of the API, since the one who reads it is its client. */
export function refusal(
  api: Api,
  reply: ServerResponse,
  { status, message, retry }: { status: number; message: string; retry?: number },
): void {
  if (reply.headersSent) {
    reply.destroy()
    return
  }
  const body = errorText(api, status, message)
  const wait = retry === undefined ? {} : { 'retry-after': String(retry) }
  // The rest of a request that is not read would be taken for the next one.
  reply.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...wait }).end(body)
}

export function errorText(api: Api, status: number, message: string): Buffer {
  const type = status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'api_error'
  const error = { type, message }
  return Buffer.from(
    JSON.stringify(api === 'anthropic' ? { type: 'error', error } : { error: { ...error, code: null } }),
  )
}
