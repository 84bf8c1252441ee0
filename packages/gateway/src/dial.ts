/** Connections to the outside: straight, or through the proxy that the user's `HTTPS_PROXY` names. */
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { UserError } from '@buildwave/core'
import type { HostPort } from './allow-host.ts'

export type Env = Readonly<Record<string, string | undefined>>

const patienceMs = 30_000

/** The proxy for a host, as curl reads the environment: `NO_PROXY` lists names, their subdomains, or `*`. Null for none. */
export function proxyFor(host: string, env: Env): URL | null {
  const text = env['HTTPS_PROXY'] || env['https_proxy']
  if (!text) return null
  const exempt = (env['NO_PROXY'] || env['no_proxy'] || '')
    .split(',')
    .map((entry) => entry.trim().replace(/^\*?\./, ''))
  const isExempt = exempt.some(
    (entry) => entry !== '' && (entry === '*' || host === entry || host.endsWith(`.${entry}`)),
  )
  if (isExempt) return null
  const proxy = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (proxy === null || !['http:', 'https:'].includes(proxy.protocol)) {
    throw new UserError('bad-proxy', 'cannot use HTTPS_PROXY: it is not an http or https address')
  }
  return proxy
}

/** A TCP connection to `address`, or a tunnel to `target` through the proxy, which then does the resolving. */
export function dial(target: HostPort, { address, proxy }: { address: string; proxy: URL | null }): Promise<Socket> {
  return proxy === null ? dialStraight(target.port, address) : dialThrough(proxy, target)
}

async function dialStraight(port: number, host: string): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true })
  socket.setTimeout(patienceMs, () => socket.destroy(new Error('no connection in time')))
  await once(socket, 'connect')
  return socket.setTimeout(0)
}

async function dialThrough(proxy: URL, { host, port }: HostPort): Promise<Socket> {
  const login = proxy.username === '' ? null : decodeURIComponent(`${proxy.username}:${proxy.password}`)
  const ask = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port === '' ? (proxy.protocol === 'https:' ? 443 : 80) : Number(proxy.port),
    method: 'CONNECT',
    path: `${host}:${port}`,
    headers: {
      host: `${host}:${port}`,
      ...(login === null ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    agent: false,
    timeout: patienceMs,
  })
  ask.on('timeout', () => ask.destroy(new Error('no answer from the proxy in time')))
  return new Promise((resolve, reject) => {
    ask.on('error', reject)
    ask.on('response', (answer) => {
      answer.destroy()
      reject(new Error(`the proxy answered ${answer.statusCode}`))
    })
    ask.on('connect', (answer, socket, head) => {
      if (answer.statusCode !== 200) {
        socket.destroy()
        return reject(new Error(`the proxy answered ${answer.statusCode}`))
      }
      if (head.length > 0) socket.unshift(head)
      resolve(socket as Socket)
    })
    ask.end()
  })
}

/** TLS over a connection, checked against the host's name. */
export async function secure(socket: Socket, host: string): Promise<Socket> {
  const tls = connectTls({ socket, servername: host, ALPNProtocols: ['http/1.1'] })
  await once(tls, 'secureConnect')
  return tls
}
