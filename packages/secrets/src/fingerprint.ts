import { createHmac } from 'node:crypto'

/**
 * The name of a secret that says nothing about it: `<rule>:h1:<16 hex>`, an HMAC-SHA256 of rule and secret under a key of
 * this user, cut to 64 bits. Keyed, since a plain hash of a weak password could be guessed; without line and commit, so
 * that the same secret has one name in every place, commit and encoding.
 */
export function fingerprint(rule: string, secret: string, key: Uint8Array): string {
  const digest = createHmac('sha256', key).update(rule).update('\0').update(secret, 'latin1').digest('hex')
  return `${rule}:h1:${digest.slice(0, 16)}`
}
