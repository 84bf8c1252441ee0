import { Agent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import type { Socket } from 'node:net'
import { UserError } from '@buildwave/core'
import { dial, type Env, proxyFor, secure } from './dial.ts'
import type { Api, Route } from './rules.ts'

const defaults: Readonly<Record<Api, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com',
}

export interface Upstream {
  send(
    route: Route,
    call: { headers: OutgoingHttpHeaders; body: Buffer; signal: AbortSignal },
  ): Promise<IncomingMessage>
  close(): void
}

/**
 * The model API. Throws UserError `bad-upstream` for an address that is not http(s), and for plain http to another
 * machine, which would show the credential to the network.
 */
export function openUpstream(api: Api, address: string | null, env: Env): Upstream {
  const base = URL.parse(address ?? defaults[api])
  if (base === null || !['http:', 'https:'].includes(base.protocol) || base.username !== '' || base.search !== '') {
    throw new UserError('bad-upstream', `'${address}' is not an http or https address`)
  }
  const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(base.hostname)
  if (base.protocol === 'http:' && !isLocal) {
    throw new UserError('bad-upstream', `'${base.origin}' would show the credential to the network`, {
      hint: 'use https; plain http is for this machine only',
    })
  }
  const agent = openAgent(base, isLocal ? null : proxyFor(base.hostname, env))
  return {
    send: (route, call) => send(base, agent, { route, ...call }),
    close: () => agent.destroy(),
  }
}

/** Connections are kept and used again; through a proxy each is a tunnel with TLS inside. */
function openAgent(base: URL, proxy: URL | null): Agent {
  // An idle connection is let go soon: routers forget it without a word, and a request on it would wait for nothing.
  const options = { keepAlive: true, maxFreeSockets: 8, timeout: 30_000 }
  if (base.protocol === 'http:') return new Agent(options)
  if (proxy === null) return new SecureAgent(options)
  const target = { host: base.hostname, port: base.port === '' ? 443 : Number(base.port) }
  const agent = new SecureAgent(options)
  agent.createConnection = (_options, done) => {
    dial(target, { address: target.host, proxy })
      .then((socket) => secure(socket, target.host))
      .then(
        (socket) => done?.(null, socket),
        (error: Error) => done?.(error, undefined as unknown as Socket),
      )
    return undefined
  }
  return agent
}

/** Long silence is normal while a model thinks; ten minutes of it is what the clients themselves wait. */
const silenceMs = 600_000

function send(
  base: URL,
  agent: Agent,
  { route, headers, body, signal }: { route: Route; headers: OutgoingHttpHeaders; body: Buffer; signal: AbortSignal },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const query = route.query === '' ? '' : `?${route.query}`
    const ask: ClientRequest = (base.protocol === 'http:' ? request : secureRequest)({
      protocol: base.protocol,
      hostname: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port,
      path: `${base.pathname.replace(/\/$/, '')}${route.path}${query}`,
      method: 'POST',
      headers: { ...headers, host: base.host, 'content-length': body.length },
      agent,
      signal,
      timeout: silenceMs,
    })
    ask.on('timeout', () => ask.destroy(new Error('no answer from the API in time')))
    ask.on('response', resolve)
    ask.on('error', (error: NodeJS.ErrnoException) => {
      // The API closed an idle connection at the moment we took it up again: it has seen nothing of this request.
      const isStale = ask.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted
      if (isStale) resolve(send(base, agent, { route, headers, body, signal }))
      else reject(error)
    })
    ask.end(body)
  })
}
