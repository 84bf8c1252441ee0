/** CONNECT for what `--allow-host` opened: an exact name and port, resolved here, never somebody's own network. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type HostPort, isAllowed, parseTarget, publicAddress, type Resolve } from './allow-host.ts'
import { dial, type Env, proxyFor } from './dial.ts'
import { type Log, loggable } from './log.ts'
import type { Holder } from './token.ts'

export interface Tunnels {
  allowed: readonly HostPort[]
  resolve: Resolve
  env: Env
  log: Log
}

export async function tunnel(tunnels: Tunnels, who: Holder, ask: IncomingMessage, inside: Duplex, head: Buffer) {
  const target = parseTarget((ask.url ?? '').toLowerCase())
  if (target === null) return refuse('connect-target', 'only names can be connected to')
  if (!isAllowed(target, tunnels.allowed)) return refuse('connect-host', 'this name is not allowed')
  let outside: Socket
  try {
    const proxy = proxyFor(target.host, tunnels.env)
    // Behind a proxy only the proxy may be able to resolve; it is the user's own, and so is the name.
    const address = proxy === null ? await publicAddress(target.host, tunnels.resolve) : target.host
    if (address === null) return refuse('connect-address', 'the name leads to a private address')
    outside = await dial(target, { address, proxy })
  } catch {
    return refuse('connect-failed', 'the name cannot be reached', 502)
  }
  tunnels.log.write({ event: 'connect', ...who, target: `${target.host}:${target.port}` })
  inside.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  outside.write(head)
  const ways = [pipeline(inside, outside), pipeline(outside, inside)]
  await Promise.allSettled(ways)

  function refuse(code: string, reason: string, status = 403): void {
    tunnels.log.write({ event: 'refused', ...who, code, method: 'CONNECT', path: loggable(ask.url ?? '') })
    const phrase = status === 403 ? 'Forbidden' : 'Bad Gateway'
    inside.end(`HTTP/1.1 ${status} ${phrase}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${reason}\n`)
  }
}
