import { createHash } from 'node:crypto'
import type { HostPort } from './allow-host.ts'
import type { Api } from './rules.ts'

export interface FixedSettings {
  api: Api
  tokenFile: string
  upstream: string | null
  allowHosts: readonly HostPort[]
}

/** A digest of what two users of one gateway must agree on. */
export function settingsDigest({ api, tokenFile, upstream, allowHosts }: FixedSettings): string {
  const hosts = allowHosts.map(({ host, port }) => `${host}:${port}`).sort()
  return createHash('sha256')
    .update(JSON.stringify([api, tokenFile, upstream, hosts]))
    .digest('hex')
}
