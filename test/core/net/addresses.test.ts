import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import {
  isLocalhost,
  isPublicAddress,
  isPublicHost,
  specialPurposeOf,
} from '../../../src/core/net/addresses.ts';
import { IPV4_REGISTRY, IPV6_REGISTRY } from '../../../src/core/net/iana-registry.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';

/** What IANA says is "Globally Reachable", in the words of ipaddr.js. */
const REACHABLE: ReadonlySet<string> = new Set([
  'unicast',
  'as112',
  'as112v6',
  'amt',
  'orchid2',
  'droneRemoteIdProtocolEntityTags',
]);

/** The judgement of ipaddr.js, with the IPv4 addresses that it finds carried taken out. */
function oracle(address: string): boolean {
  const parsed = ipaddr.parse(address);
  const range: string = parsed.range();
  const bytes = parsed.toByteArray();
  const carried = (at: number, mask = 0): string =>
    bytes
      .slice(at, at + 4)
      .map((byte) => byte ^ mask)
      .join('.');
  if (range === 'ipv4Mapped' || range === 'rfc6052') return oracle(carried(12));
  if (range === '6to4') return oracle(carried(2));
  if (range === 'teredo') return oracle(carried(4)) && oracle(carried(12, 0xff));
  return REACHABLE.has(range);
}

const UNALLOCATED = 'unicast to ipaddr.js; IANA has allocated only 2000::/3';
const COMPATIBLE =
  'unicast to ipaddr.js, which takes IPv4-compatible addresses apart only where they are dotted';

/** Address, what it is for (`public` if for nothing special), and why ipaddr.js judges otherwise where it does. */
const table: readonly (readonly [address: string, purpose: string, disagreement?: string])[] = [
  // IPv4, the edges of each block on both sides.
  ['0.0.0.0', 'unspecified'],
  ['0.0.0.1', 'this-network'],
  ['0.255.255.255', 'this-network'],
  ['1.0.0.0', 'public'],
  ['1.1.1.1', 'public'],
  ['8.8.8.8', 'public'],
  ['9.255.255.255', 'public'],
  ['10.0.0.0', 'private-use'],
  ['10.0.0.1', 'private-use'],
  ['10.255.255.255', 'private-use'],
  ['11.0.0.0', 'public'],
  ['93.184.215.14', 'public'],
  ['100.63.255.255', 'public'],
  ['100.64.0.0', 'shared'],
  ['100.100.100.200', 'shared'],
  ['100.127.255.255', 'shared'],
  ['100.128.0.0', 'public'],
  ['126.255.255.255', 'public'],
  ['127.0.0.0', 'loopback'],
  ['127.0.0.1', 'loopback'],
  ['127.0.0.2', 'loopback'],
  ['127.255.255.255', 'loopback'],
  ['128.0.0.0', 'public'],
  ['169.253.255.255', 'public'],
  ['169.254.0.0', 'link-local'],
  ['169.254.169.254', 'link-local'],
  ['169.254.255.255', 'link-local'],
  ['169.255.0.0', 'public'],
  ['172.15.255.255', 'public'],
  ['172.16.0.0', 'private-use'],
  ['172.17.0.1', 'private-use'],
  ['172.31.255.255', 'private-use'],
  ['172.32.0.0', 'public'],
  ['191.255.255.255', 'public'],
  ['192.0.0.0', 'ietf-protocol'],
  ['192.0.0.1', 'ietf-protocol'],
  ['192.0.0.8', 'ietf-protocol'],
  ['192.0.0.9', 'public', 'reserved to ipaddr.js; IANA: Port Control Protocol anycast, globally reachable'],
  ['192.0.0.10', 'public', 'reserved to ipaddr.js; IANA: TURN anycast, globally reachable'],
  ['192.0.0.11', 'ietf-protocol'],
  ['192.0.0.170', 'ietf-protocol'],
  ['192.0.0.171', 'ietf-protocol'],
  ['192.0.0.255', 'ietf-protocol'],
  ['192.0.1.0', 'public'],
  ['192.0.1.255', 'public'],
  ['192.0.2.0', 'documentation'],
  ['192.0.2.255', 'documentation'],
  ['192.0.3.0', 'public'],
  ['192.31.196.1', 'public'],
  ['192.52.193.1', 'public'],
  ['192.88.98.255', 'public'],
  ['192.88.99.0', 'relay-anycast'],
  ['192.88.99.2', 'relay-anycast'],
  ['192.88.99.255', 'relay-anycast'],
  ['192.88.100.0', 'public'],
  ['192.167.255.255', 'public'],
  ['192.168.0.0', 'private-use'],
  ['192.168.1.1', 'private-use'],
  ['192.168.255.255', 'private-use'],
  ['192.169.0.0', 'public'],
  ['192.175.48.1', 'public'],
  ['198.17.255.255', 'public'],
  ['198.18.0.0', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.20.0.0', 'public'],
  ['198.51.99.255', 'public'],
  ['198.51.100.0', 'documentation'],
  ['198.51.100.255', 'documentation'],
  ['198.51.101.0', 'public'],
  ['203.0.112.255', 'public'],
  ['203.0.113.0', 'documentation'],
  ['203.0.113.255', 'documentation'],
  ['203.0.114.0', 'public'],
  ['223.255.255.255', 'public'],
  ['224.0.0.0', 'multicast'],
  ['224.0.0.251', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.0', 'reserved'],
  ['255.255.255.254', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  // IPv6.
  ['::', 'unspecified'],
  ['0:0:0:0:0:0:0:0', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['0000:0000:0000:0000:0000:0000:0000:0001', 'loopback'],
  ['::2', 'this-network', COMPATIBLE],
  ['::127.0.0.1', 'loopback'],
  ['::7f00:1', 'loopback', COMPATIBLE],
  ['::10.0.0.1', 'private-use'],
  ['::169.254.169.254', 'link-local'],
  ['::8.8.8.8', 'public'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::FFFF:7F00:1', 'loopback'],
  ['0:0:0:0:0:ffff:7f00:1', 'loopback'],
  ['::ffff:0.0.0.0', 'unspecified'],
  ['::ffff:10.0.0.1', 'private-use'],
  ['::ffff:192.168.0.1', 'private-use'],
  ['::ffff:169.254.169.254', 'link-local'],
  ['::ffff:a9fe:a9fe', 'link-local'],
  ['::ffff:100.64.0.1', 'shared'],
  ['::ffff:224.0.0.1', 'multicast'],
  ['::ffff:8.8.8.8', 'public'],
  ['::ffff:808:808', 'public'],
  ['::fffe:8.8.8.8', 'reserved', UNALLOCATED],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['::1:0:0', 'reserved', UNALLOCATED],
  ['64:ff9a:ffff:ffff::', 'reserved', UNALLOCATED],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::7f00:1', 'loopback'],
  ['64:ff9b::10.0.0.1', 'private-use'],
  ['64:ff9b::169.254.169.254', 'link-local'],
  ['64:ff9b::8.8.8.8', 'public'],
  ['64:ff9b::1:8.8.8.8', 'reserved', UNALLOCATED],
  ['64:ff9b:1::8.8.8.8', 'public'],
  ['64:ff9b:1::127.0.0.1', 'loopback'],
  ['64:ff9b:1::10.0.0.1', 'private-use'],
  ['64:ff9b:1::169.254.169.254', 'link-local'],
  ['64:ff9b:1:abcd::192.168.0.1', 'private-use'],
  ['64:ff9b:1::', 'local-nat64'],
  ['64:ff9b:1:0:8:808:800:0', 'public'],
  ['64:ff9b:1:7f00:0:100::', 'loopback'],
  [
    '64:ff9b:1:a:0:1:800:0',
    'private-use',
    'ipaddr.js reads the last 32 bits alone: RFC 6052 §2.2 knows other places',
  ],
  ['64:ff9b:1:0:a:0:108:808', 'private-use', 'the same, after a prefix of 64 bits'],
  ['64:ff9b:2::8.8.8.8', 'reserved', UNALLOCATED],
  ['100::', 'discard-only'],
  ['100::ffff:ffff:ffff:ffff', 'discard-only'],
  ['100:0:0:1::', 'dummy', 'unicast to ipaddr.js; IANA: dummy prefix, RFC 9780'],
  ['100:0:0:2::', 'reserved', UNALLOCATED],
  ['1fff:ffff::1', 'reserved', UNALLOCATED],
  ['2000::', 'public'],
  ['2001::', 'unspecified'],
  ['2001:0:808:808::f7f7:f7f7', 'public'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'documentation'],
  ['2001:0:808:808::80ff:fffe', 'loopback'],
  ['2001:0:808:808::5601:5601', 'link-local'],
  ['2001:0:a00:1::f7f7:f7f7', 'private-use'],
  ['2001:0:7f00:1::f7f7:f7f7', 'loopback'],
  ['2001:1::', 'ietf-protocol'],
  ['2001:1::1', 'public', 'reserved to ipaddr.js; IANA: Port Control Protocol anycast, globally reachable'],
  ['2001:1::2', 'public', 'reserved to ipaddr.js; IANA: TURN anycast, globally reachable'],
  ['2001:1::3', 'public', 'reserved to ipaddr.js; IANA: DNS-SD registration anycast, globally reachable'],
  ['2001:1::4', 'ietf-protocol'],
  ['2001:2::', 'benchmarking'],
  ['2001:2:0:ffff:ffff:ffff:ffff:ffff', 'benchmarking'],
  ['2001:2:1::', 'ietf-protocol'],
  ['2001:3::1', 'public'],
  ['2001:4:111::', 'ietf-protocol'],
  ['2001:4:112::1', 'public'],
  ['2001:4:113::', 'ietf-protocol'],
  ['2001:10::', 'orchid'],
  ['2001:1f:ffff:ffff:ffff:ffff:ffff:ffff', 'orchid'],
  ['2001:20::', 'public'],
  ['2001:2f:ffff:ffff:ffff:ffff:ffff:ffff', 'public'],
  ['2001:30::1', 'public'],
  ['2001:40::', 'ietf-protocol'],
  ['2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'ietf-protocol'],
  ['2001:200::', 'public'],
  ['2001:db7:ffff::', 'public'],
  ['2001:db8::', 'documentation'],
  ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['2001:db9::', 'public'],
  ['2001:4860:4860::8888', 'public'],
  ['2002::', 'unspecified'],
  ['2002:7f00:1::', 'loopback'],
  ['2002:a00:1::1', 'private-use'],
  ['2002:c0a8:101::1', 'private-use'],
  ['2002:a9fe:a9fe::', 'link-local'],
  ['2002:808:808::1', 'public'],
  ['2003::1', 'public'],
  ['2606:4700:4700::1111', 'public'],
  ['2620:4f:8000::1', 'public'],
  ['2a00:1450:4001::', 'public'],
  ['3ffe::', 'public'],
  ['3fff::', 'documentation'],
  ['3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation'],
  ['3fff:1000::', 'public'],
  ['4000::', 'reserved', UNALLOCATED],
  ['5eff::1', 'reserved', UNALLOCATED],
  ['5f00::', 'segment-routing'],
  ['5f00:ffff::1', 'segment-routing'],
  ['5f01::', 'reserved', UNALLOCATED],
  ['fbff::1', 'reserved', UNALLOCATED],
  ['fc00::', 'unique-local'],
  ['fd00::1', 'unique-local'],
  ['fd00:ec2::254', 'unique-local'],
  ['fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'unique-local'],
  ['fe00::1', 'reserved', UNALLOCATED],
  ['fe80::', 'link-local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['fe80::1%1', 'link-local'],
  ['febf::1', 'link-local'],
  ['fec0::', 'site-local'],
  ['feff::1', 'site-local'],
  ['ff00::', 'multicast'],
  ['ff02::1', 'multicast'],
  ['ff0e::1', 'multicast'],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'multicast'],
];

const rows = table.map(([address, purpose, disagreement]) => ({ address, purpose, disagreement }));

describe('the purpose of an address', () => {
  it.each(rows)('$address: $purpose', ({ address, purpose }) => {
    expect(isIP(address)).not.toBe(0);
    expect(specialPurposeOf(address) ?? 'public').toBe(purpose);
    expect(isPublicAddress(address)).toBe(purpose === 'public');
  });

  it.each(rows)('$address: $purpose, as in ipaddr.js, or with the reason for the difference', (row) => {
    const { address, purpose, disagreement } = row;
    expect(oracle(address) === (purpose === 'public')).toBe(disagreement === undefined);
  });

  it.each([...IPV4_REGISTRY, ...IPV6_REGISTRY])(
    'knows the first and the last address of %s',
    (block, purpose) => {
      const [first, last] = ends(block);
      for (const address of [first, last]) {
        // A smaller block, or a carried address, may say more.
        const smaller = table.find(([known]) => known === address)?.[1];
        expect(specialPurposeOf(address) ?? 'public').toBe(smaller ?? purpose ?? 'public');
      }
    },
  );

  it.each([
    '',
    ' ',
    'example.com',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.256',
    '127.0.0.1.',
    '0x7f.0.0.1',
    ':',
    ':::',
    '1::2::3',
  ])('%j cannot be read, so it is not public', (text) => {
    expect(specialPurposeOf(text)).toBe('unreadable');
    expect(isPublicAddress(text)).toBe(false);
  });

  it('reads exactly the addresses that Node reads', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ':',
        '::',
        '.',
        '0',
        '1',
        'ffff',
        'f',
        '127.0.0.1',
        '255',
        '256',
        '00',
        '10',
        'g',
        '12345',
      ),
      fc.nat({ max: 300 }).map(String),
      fc.nat({ max: 0x1ffff }).map((group) => group.toString(16)),
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 18 }).map((pieces) => pieces.join('')),
      fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(':')),
      fc.array(fc.nat({ max: 270 }), { minLength: 3, maxLength: 5 }).map((bytes) => bytes.join('.')),
      fc.ipV4(),
      fc.ipV6(),
    );
    fc.assert(
      fc.property(text, (address) => {
        expect(specialPurposeOf(address) !== 'unreadable').toBe(isIP(address) !== 0);
      }),
      { numRuns: runs(800) },
    );
  });

  it('agrees with ipaddr.js on IPv4 addresses, in every form that embeds them', () => {
    const odd: ReadonlySet<string> = new Set(['192.0.0.9', '192.0.0.10']);
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), nearBlocks(IPV4_REGISTRY)), (ipv4) => {
        if (odd.has(ipv4)) return;
        const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
        const hex = (high: number, low: number, mask = 0): string =>
          (((high << 8) | low) ^ mask).toString(16);
        const expected = oracle(ipv4);
        expect(isPublicAddress(ipv4)).toBe(expected);
        expect(isPublicAddress(`::ffff:${ipv4}`)).toBe(expected);
        expect(isPublicAddress(`64:ff9b::${ipv4}`)).toBe(expected);
        expect(isPublicAddress(`2002:${hex(a, b)}:${hex(c, d)}::1`)).toBe(expected);
        expect(isPublicAddress(`2001:0:808:808::${hex(a, b, 0xffff)}:${hex(c, d, 0xffff)}`)).toBe(expected);
        if (ipv4 !== '0.0.0.0' && ipv4 !== '0.0.0.1') expect(isPublicAddress(`::${ipv4}`)).toBe(expected);
        if (a !== 0) expect(isPublicAddress(`64:ff9b:1::${ipv4}`)).toBe(expected);
      }),
      { numRuns: runs(400) },
    );
  });

  it('agrees with ipaddr.js on IPv6 addresses of the blocks that it knows', () => {
    const disagreements = new Set(table.flatMap(([address, , why]) => (why === undefined ? [] : [address])));
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), nearBlocks(IPV6_REGISTRY)), (ipv6) => {
        const short = ipaddr.parse(ipv6).toString();
        const known = oracle(ipv6) === isPublicAddress(ipv6) || disagreements.has(short);
        const unallocated = ipaddr.parse(ipv6).range() === 'unicast' && !/^[23]\w{3}:/.test(short);
        const dummy = short.startsWith('100:0:0:1:');
        const nat64 = short.startsWith('64:ff9b:1:');
        expect(known || unallocated || dummy || nat64).toBe(true);
      }),
      { numRuns: runs(400) },
    );
  });
});

/** First and last address of a block. */
function ends(block: string): [first: string, last: string] {
  const [parsed, bits] = ipaddr.parseCIDR(block);
  const bytes = parsed.toByteArray();
  const last = bytes.map((byte, index) => byte | (0xff >> Math.min(8, Math.max(0, bits - 8 * index))));
  return [ipaddr.fromByteArray(bytes).toString(), ipaddr.fromByteArray(last).toString()];
}

/** Addresses in the blocks of a registry, and just outside. */
function nearBlocks(registry: readonly (readonly [block: string, purpose: unknown])[]): fc.Arbitrary<string> {
  const edges = registry.flatMap(([block]) => ends(block).map((edge) => ipaddr.parse(edge).toByteArray()));
  return fc
    .tuple(fc.constantFrom(...edges), fc.nat({ max: 15 }), fc.integer({ min: -2, max: 2 }))
    .map(([edge, index, by]) => {
      const bytes = edge.map((byte, at) => (at === index % edge.length ? (byte + by + 256) % 256 : byte));
      return ipaddr.fromByteArray(bytes).toString();
    });
}

/** Whether a host is public, by what its URL shows; `undefined` for a name that only DNS can tell of. */
const urls: readonly (readonly [url: string, isPublic: boolean | undefined])[] = [
  ['http://127.0.0.1/', false],
  ['http://127.0.0.1./', false],
  ['http://127.1/', false],
  ['http://127.0.1/', false],
  ['http://127.1./', false],
  ['http://2130706433/', false],
  ['http://017700000001/', false],
  ['http://0x7f000001/', false],
  ['http://0x7F.1/', false],
  ['http://0x7f.0x0.0x0.0x1/', false],
  ['http://0177.0.0.1/', false],
  ['http://0177.0.0.01/', false],
  ['http://00000177.0.0.1/', false],
  ['http://0/', false],
  ['http://0x/', false],
  ['http://0.0.0.0:8080/', false],
  ['http://10.1/', false],
  ['http://0xa.0x1/', false],
  ['http://192.168.257/', false],
  ['http://169.254.43518/', false],
  ['http://2852039166/', false],
  ['http://%31%32%37.0.0.1/', false],
  ['http://127%2e0%2e0%2e1/', false],
  ['http://１２７.０.０.１/', false],
  ['http://①②⑦.⓪.⓪.①/', false],
  ['http://127。0。0。1/', false],
  ['https://127.0.0.1/', false],
  ['ftp://127.0.0.1/', false],
  ['ftp://127.1/', false],
  ['ftp://0x7f.1/', false],
  ['ftp://2130706433/', false],
  ['ftp://0177.1/', false],
  ['ftp://[::1]/', false],
  ['ftp://localhost/', false],
  ['http://user:secret@127.0.0.1/', false],
  ['http://8.8.8.8@127.0.0.1/', false],
  ['http://127.0.0.1@8.8.8.8/', true],
  ['http://[::1]/', false],
  ['http://[::]/', false],
  ['http://[0:0::1]:8080/', false],
  ['http://[::ffff:127.0.0.1]/', false],
  ['http://[::FFFF:7F00:0001]/', false],
  ['http://[64:ff9b::10.0.0.1]/', false],
  ['http://[fe80::1]/', false],
  ['http://[fd00::1]/', false],
  ['http://[2002:7f00:1::]/', false],
  ['http://[2606:4700:4700::1111]/', true],
  ['http://[::ffff:8.8.8.8]/', true],
  ['http://8.8.8.8/', true],
  ['http://134744072/', true],
  ['http://0x8.010.8.8/', true],
  ['ftp://0x08080808/', true],
  ['http://localhost/', false],
  ['http://LOCALHOST/', false],
  ['http://localhost./', false],
  ['http://a.localhost/', false],
  ['http://a.b.LocalHost.:80/', false],
  ['http://ｌocalhost/', false],
  ['http://loc%61lhost/', false],
  ['http://localhost.example/', undefined],
  ['http://notlocalhost/', undefined],
  ['http://localhost.localdomain/', undefined],
  ['http://example.com/', undefined],
  ['http://127.0.0.1.example.com/', undefined],
  ['http://127-0-0-1.example/', undefined],
  ['http://intranet/', undefined],
  ['http://1e100.net/', undefined],
  ['http://xn--bcher-kva.example/', undefined],
];

describe('the address in a URL', () => {
  it.each(urls)('%s: %s', (url, isPublic) => {
    expect(isPublicHost(new URL(url).hostname)).toBe(isPublic);
  });

  it.each([
    'http://256.1.1.1/',
    'http://1.2.3.4.5/',
    'http://127.0.0.0x100/',
    'http://[fe80::1%25eth0]/',
    'http://0x7g.1/',
  ])('%s is no URL', (url) => {
    expect(URL.canParse(url)).toBe(false);
  });

  it('the tables have more than 250 rows', () => {
    expect(table.length + urls.length).toBeGreaterThan(250);
  });

  it.each(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '.localhost'])(
    '%s is loopback by name',
    (name) => {
      expect(isLocalhost(name)).toBe(true);
    },
  );

  it.each(['', 'localhost..', 'localhosts', 'alocalhost', 'localhost.com'])('%j is not', (name) => {
    expect(isLocalhost(name)).toBe(false);
  });
});
