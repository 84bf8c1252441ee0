import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are somebody's own network, this host, or no host at all (RFC 6890 and the IPv6 forms that carry an IPv4
 * address: a name may resolve to any of them, and a builder must not reach them through us). The nets for documentation
 * are nobody's and stay open: closed worlds use them for their mirrors of public names.
 */
const closed = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  closed.addSubnet(net, bits, 'ipv4')
}

/** Global unicast is 2000::/3; the rest of IPv6 is never a public server. Of that, what wraps IPv4. */
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')
for (const [net, bits] of [
  ['2001::', 23],
  ['2002::', 16],
] as const) {
  closed.addSubnet(net, bits, 'ipv6')
}

/** True for an address of the public Internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !closed.check(address, 'ipv4')
  return version === 6 && globalV6.check(address, 'ipv6') && !closed.check(address, 'ipv6')
}
