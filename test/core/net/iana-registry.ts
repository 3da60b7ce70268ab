/**
 * The IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, RFC 8190; as of October 2025) as data: block,
 * purpose, and the column "Globally Reachable". Entries without a value there (deprecated ones) count as not
 * reachable. Multicast, IPv4-compatible and site-local addresses are from the address space registries.
 */

/** `undefined` stands for "Globally Reachable: True". */
export type RegistryEntry = readonly [block: string, purpose: string | undefined];

export const IPV4_REGISTRY: readonly RegistryEntry[] = [
  ['0.0.0.0/32', 'unspecified'],
  ['0.0.0.0/8', 'this-network'], // RFC 791 §3.2
  ['10.0.0.0/8', 'private-use'], // RFC 1918
  ['100.64.0.0/10', 'shared'], // RFC 6598
  ['127.0.0.0/8', 'loopback'], // RFC 1122 §3.2.1.3
  ['169.254.0.0/16', 'link-local'], // RFC 3927
  ['172.16.0.0/12', 'private-use'], // RFC 1918
  ['192.0.0.0/24', 'ietf-protocol'], // RFC 6890 §2.1
  ['192.0.0.9/32', undefined], // Port Control Protocol anycast, RFC 7723
  ['192.0.0.10/32', undefined], // TURN anycast, RFC 8155
  ['192.0.2.0/24', 'documentation'], // RFC 5737
  ['192.31.196.0/24', undefined], // AS112, RFC 7535
  ['192.52.193.0/24', undefined], // AMT, RFC 7450
  ['192.88.99.0/24', 'relay-anycast'], // deprecated 6to4 relay, RFC 7526; 6a44 relay, RFC 6751
  ['192.168.0.0/16', 'private-use'], // RFC 1918
  ['192.175.48.0/24', undefined], // AS112, RFC 7534
  ['198.18.0.0/15', 'benchmarking'], // RFC 2544
  ['198.51.100.0/24', 'documentation'], // RFC 5737
  ['203.0.113.0/24', 'documentation'], // RFC 5737
  ['224.0.0.0/4', 'multicast'], // RFC 5771
  ['240.0.0.0/4', 'reserved'], // RFC 1112 §4
  ['255.255.255.255/32', 'broadcast'], // RFC 8190, RFC 919 §7
];

/** Without the blocks that carry an IPv4 address, which decides for them. */
export const IPV6_REGISTRY: readonly RegistryEntry[] = [
  ['::/128', 'unspecified'], // RFC 4291
  ['::1/128', 'loopback'], // RFC 4291
  ['100::/64', 'discard-only'], // RFC 6666
  ['100:0:0:1::/64', 'dummy'], // RFC 9780
  // "Global Unicast" is the space that IANA has allocated so far. The rest is reserved.
  ['::/0', 'reserved'],
  ['2000::/3', undefined], // RFC 4291
  ['2001::/23', 'ietf-protocol'], // RFC 2928
  ['2001:1::1/128', undefined], // Port Control Protocol anycast, RFC 7723
  ['2001:1::2/128', undefined], // TURN anycast, RFC 8155
  ['2001:1::3/128', undefined], // DNS-SD Service Registration Protocol anycast, RFC 9665
  ['2001:2::/48', 'benchmarking'], // RFC 5180
  ['2001:3::/32', undefined], // AMT, RFC 7450
  ['2001:4:112::/48', undefined], // AS112, RFC 7535
  ['2001:10::/28', 'orchid'], // deprecated, RFC 4843
  ['2001:20::/28', undefined], // ORCHIDv2, RFC 7343
  ['2001:30::/28', undefined], // drone remote ID, RFC 9374
  ['2001:db8::/32', 'documentation'], // RFC 3849
  ['2620:4f:8000::/48', undefined], // AS112, RFC 7534
  ['3fff::/20', 'documentation'], // RFC 9637
  ['5f00::/16', 'segment-routing'], // RFC 9602
  ['fc00::/7', 'unique-local'], // RFC 4193, RFC 8190
  ['fe80::/10', 'link-local'], // RFC 4291
  ['fec0::/10', 'site-local'], // deprecated, RFC 3879
  ['ff00::/8', 'multicast'], // RFC 4291
];
