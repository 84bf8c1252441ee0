import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { UserError } from '@buildwave/core'
import { isPublicAddress } from './address.ts'

export interface HostPort {
  host: string
  port: number
}

const name = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/

/** Reads `--allow-host NAME:PORT`. Throws UserError `bad-allow-host` for an address, a pattern or a missing port. */
export function parseAllowHost(text: string): HostPort {
  const target = parseTarget(text.toLowerCase())
  if (target !== null) return target
  throw new UserError('bad-allow-host', `'${text}' is not NAME:PORT`, {
    hint: 'one exact name and port, such as registry.npmjs.org:443; no addresses and no patterns',
  })
}

/** The target of a CONNECT, or null when it is anything but a name of several labels and a port. */
export function parseTarget(text: string): HostPort | null {
  const [, host, digits] = /^([^:]*):(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  // A last label of digits is how 1.2.3.4, 0x7f.1 and 017700000001 get resolved as addresses.
  if (host === undefined || !name.test(host) || isIP(host) !== 0 || /\.(\d+|0x[0-9a-f]*)$/.test(host)) return null
  return port >= 1 && port <= 65_535 ? { host, port } : null
}

export function isAllowed(target: HostPort, allowed: readonly HostPort[]): boolean {
  return allowed.some(({ host, port }) => host === target.host && port === target.port)
}

/** Resolves a name; a stand-in for tests may be handed in. */
export type Resolve = (host: string) => Promise<string[]>

export const resolveName: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/** An address to connect to, resolved here so that no second look-up can differ; null when any is not public. */
export async function publicAddress(host: string, resolve: Resolve): Promise<string | null> {
  const addresses = await resolve(host)
  return addresses.length > 0 && addresses.every(isPublicAddress) ? (addresses[0] ?? null) : null
}
