/**
 * The checksum with which GitHub ends its tokens (github.blog, "Behind GitHub's new authentication token formats", 2021) and
 * npm after it: six base-62 digits of the CRC-32 of the part before.
 */
import { crc32 } from 'node:zlib'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Six characters for `body`, the random part of a token. */
export function tokenChecksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < 6; i++) {
    text = digits.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** True when `body` ends with the checksum of what stands before its last six characters. */
export function hasChecksum(body: string): boolean {
  return tokenChecksum(body.slice(0, -6)) === body.slice(-6)
}
