/** The socket for tools of the same user: a lease for as long as a connection stays open, and the state of things. */
import { createServer, type Server } from 'node:http'
import { UserError } from '@buildwave/core'
import type { GatewayState } from './client.ts'
import type { Credential } from './credential.ts'
import type { Desk } from './forward.ts'
import type { Liveness } from './liveness.ts'
import type { Bounds } from './rules.ts'

export interface ControlParts {
  desk: Desk
  liveness: Liveness
  /** A digest of what a lease cannot change while the gateway runs. */
  settings: string
  /** Reads the credential again: a new lease may come because its file was mended. */
  readCredential(): Credential
}

/**
 * Not yet listening. `POST /lease` has `{settings, bounds}` as its body and is answered 200 and left open, or 409 with
 * the error that its caller is to throw.
 */
export function controlServer({ desk, liveness, settings, readCredential }: ControlParts): Server {
  return createServer(async (ask, reply) => {
    reply.on('error', () => undefined)
    if (ask.url === '/state') return void reply.end(JSON.stringify(describe(desk)))
    if (ask.url !== '/lease' || ask.method !== 'POST') return void reply.writeHead(404).end()
    const leave = liveness.enter('lease')
    reply.on('close', leave)
    const wanted = JSON.parse(Buffer.concat(await ask.toArray()).toString('utf8')) as {
      settings: string
      bounds: { item: Bounds; run: Bounds }
    }
    try {
      if (wanted.settings !== settings) throw differs()
      desk.credential = readCredential()
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      const { code, message, hint } = error
      return void reply.writeHead(409).end(JSON.stringify({ code, message, hint }))
    }
    desk.ledger.setBounds(wanted.bounds)
    reply.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders()
  })
}

function differs(): UserError {
  const message = "the run's gateway was started with another API, upstream, token file or list of hosts"
  return new UserError('gateway-differs', message, {
    hint: 'wait until its builders have ended',
  })
}

function describe(desk: Desk): GatewayState {
  const isParked = desk.pressure.until > Date.now()
  const items = [...desk.ledger.items()].map(([item, { turns, tokens, usd, unpriced }]) => {
    const { cacheWriteHour: _, ...counted } = tokens
    return [item, { turns, tokens: counted, costUsd: unpriced ? null : usd }] as const
  })
  return {
    parkedUntil: isParked ? new Date(desk.pressure.until).toISOString() : null,
    parkedFor: isParked ? desk.pressure.reason : null,
    isRefused: desk.isRefused,
    items: Object.fromEntries(items),
  }
}
