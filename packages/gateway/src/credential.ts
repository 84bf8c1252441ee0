import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { UserError } from '@buildwave/core'
import type { Api } from './rules.ts'

export interface Credential {
  kind: 'oauth' | 'api-key'
  value: string
}

/** What Claude Code sends along with an OAuth token, and the API wants to see with one. */
const oauthBeta = 'oauth-2025-04-20'

/**
 * The credential in a file of mode 600 that is ours. Throws UserError `bad-credential`, which never quotes the content.
 * Kinds are told apart by shape: `sk-ant-oat…` is what `claude setup-token` prints, `sk-ant-api…` a key of the console.
 */
export function readCredential(path: string, api: Api): Credential {
  const value = readPrivateFile(path).trim()
  if (!/^[\x21-\x7e]{16,4096}$/.test(value)) throw refuse(path, 'it does not hold exactly one token')
  if (api === 'openai') {
    if (value.startsWith('sk-ant-')) throw refuse(path, 'it holds a token for another API')
    return { kind: 'api-key', value }
  }
  if (value.startsWith('sk-ant-oat')) return { kind: 'oauth', value }
  if (value.startsWith('sk-ant-api')) return { kind: 'api-key', value }
  throw refuse(path, 'it holds neither an OAuth token nor an API key')
}

function readPrivateFile(path: string): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (cause) {
    throw new UserError('bad-credential', `cannot read the token file '${path}'`, {
      hint: 'make one with `claude setup-token`, or name it with --token-file',
      cause,
    })
  }
  try {
    const { mode, uid } = fstatSync(file)
    if (uid !== process.getuid?.()) throw refuse(path, 'it belongs to someone else')
    if ((mode & 0o077) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(3, '0')
      throw refuse(path, `others can open it (mode ${shown})`, `chmod 600 '${path}'`)
    }
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function refuse(path: string, reason: string, hint?: string): UserError {
  return new UserError(
    'bad-credential',
    `cannot use the token file '${path}': ${reason}`,
    hint === undefined ? {} : { hint },
  )
}

/** Headers that speak of the connection, of the caller's own login, or of where it thought it was going. */
const dropped = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-api-key',
])

/** The builder's headers without any login of its own, and with the real one. */
export function upstreamHeaders(given: IncomingHttpHeaders, api: Api, credential: Credential): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(given)) {
    if (!dropped.has(name) && !name.startsWith('x-forwarded') && value !== undefined) headers[name] = value
  }
  // Plain bytes: usage is counted from them, and the credential is masked in them.
  headers['accept-encoding'] = 'identity'
  if (api === 'openai') return { ...headers, authorization: `Bearer ${credential.value}` }
  const betas = String(headers['anthropic-beta'] ?? '')
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '' && beta !== oauthBeta)
  if (credential.kind === 'oauth') betas.push(oauthBeta)
  delete headers['anthropic-beta']
  if (betas.length > 0) headers['anthropic-beta'] = betas.join(',')
  return credential.kind === 'oauth'
    ? { ...headers, authorization: `Bearer ${credential.value}` }
    : { ...headers, 'x-api-key': credential.value }
}
