/** The socket that builders reach through their relays: who asks is known by token, then a request or a tunnel. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { refusal } from './answers.ts'
import { type Desk, forward } from './forward.ts'
import type { Liveness } from './liveness.ts'
import { loggable } from './log.ts'
import { type Holder, readToken } from './token.ts'
import { type Tunnels, tunnel } from './tunnel.ts'

/** What a relay asks for and keeps open: as long as it does, its builder may need us. */
export const presencePath = '/.presence'

export interface ServerParts {
  key: Buffer
  desk: Desk
  tunnels: Tunnels
  liveness: Liveness
}

/** Not yet listening. */
export function builderServer({ key, desk, tunnels, liveness }: ServerParts): Server {
  const server = createServer((ask, reply) => {
    reply.on('error', () => undefined)
    if (ask.url === presencePath && ask.method === 'GET') {
      reply.on('close', liveness.enter('relay'))
      reply.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders()
      return
    }
    const who = holderOf(ask)
    if (who === null) {
      refuseStranger(ask)
      return refusal(desk.api, reply, { status: 401, message: 'this is no token of a running attempt' })
    }
    forward(desk, who, ask, reply).catch((error: Error) => {
      // Whatever a builder sends, the others' way out stays open.
      if (!ask.errored) desk.log.write({ event: 'broken', ...who, error: loggable(String(error.stack)) })
      refusal(desk.api, reply, { status: 500, message: 'the gateway failed' })
    })
  })
  server.on('connect', (ask: IncomingMessage, inside: Duplex, head: Buffer) => {
    inside.on('error', () => inside.destroy())
    const who = holderOf(ask)
    if (who !== null) return void tunnel(tunnels, who, ask, inside, head)
    refuseStranger(ask)
    inside.end('HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\n\r\n')
  })
  server.on('clientError', (_error, socket) => {
    desk.log.write({ event: 'refused', code: 'malformed' })
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
    else socket.destroy()
  })
  return server

  function holderOf(ask: IncomingMessage): Holder | null {
    for (const token of tokensOf(ask)) {
      const who = readToken(key, token)
      if (who !== null) return who
    }
    return null
  }

  function refuseStranger(ask: IncomingMessage): void {
    const [method, path] = [loggable(ask.method ?? ''), loggable(ask.url ?? '')]
    desk.log.write({ event: 'refused', code: 'token', method, path })
  }
}

/** Where clients put a token: a bearer, an API key, or the password of a proxy's address. */
function tokensOf({ headers }: IncomingMessage): string[] {
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
  const key = headers['x-api-key']
  const login = /^Basic (\S+)$/i.exec(headers['proxy-authorization'] ?? '')?.[1]
  const password =
    login === undefined
      ? undefined
      : Buffer.from(login, 'base64')
          .toString('utf8')
          .replace(/^[^:]*:/, '')
  return [bearer, key, password].filter((token) => typeof token === 'string')
}
