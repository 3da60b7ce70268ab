import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import {
  isLocalhost,
  isPublicAddress,
  isPublicHost,
  specialPurposeOf,
} from '../../../src/core/net/addresses.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';
import { IPV4_REGISTRY, IPV6_REGISTRY } from './iana-registry.ts';

/** Blocks that IANA calls reachable and ipaddr.js does not: refusing them costs no crawler a page. */
const REFUSED_BEYOND_IANA: ReadonlySet<string> = new Set(
  '192.0.0.9/32 192.0.0.10/32 2001:1::1/128 2001:1::2/128 2001:1::3/128'.split(' '),
);

describe('the purpose of an address', () => {
  it.each([...IPV4_REGISTRY, ...IPV6_REGISTRY])('%s: as IANA says (%s)', (block, purpose) => {
    const expected = REFUSED_BEYOND_IANA.has(block) ? false : purpose === undefined;
    for (const address of ends(block))
      expect([address, isPublicAddress(address)]).toEqual([address, expected]);
  });

  it.each([
    ['10.0.0.1', 'private'],
    ['127.0.0.1', 'loopback'],
    ['169.254.169.254', 'link local'],
    ['100.64.0.1', 'carrier grade nat'],
    ['fc00::1', 'unique local'],
    ['fe80::1%eth0', 'link local'],
    ['::ffff:10.0.0.1', 'private'],
    ['::127.0.0.1', 'loopback'],
    ['64:ff9b::127.0.0.1', 'loopback'],
    ['64:ff9b:1::808:808', 'local nat64'],
    ['2002:7f00:1::', 'loopback'],
    ['2001:0:808:808::80ff:fffe', 'loopback'],
    ['2001:0:7f00:1::f7f7:f7f7', 'loopback'],
    ['100:0:0:1::1', 'reserved'],
    ['4000::1', 'reserved'],
  ])('%s is %s', (address, purpose) => {
    expect(specialPurposeOf(address)).toBe(purpose);
  });

  it.each([
    ...'8.8.8.8 1.1.1.1 192.31.196.1 2606:4700:4700::1111 ::ffff:8.8.8.8 64:ff9b::808:808'.split(' '),
    ...'2002:808:808:: 2001:20::1'.split(' '),
  ])('%s is public', (address) => {
    expect(specialPurposeOf(address)).toBeUndefined();
  });

  it.each([...' |example.com|1.2.3|01.2.3.4|1.2.3.256|127.0.0.1.|0x7f.0.0.1|:::|1::2::3'.split('|'), ''])(
    '%j cannot be read, so it is not public',
    (text) => {
      expect(specialPurposeOf(text)).toBe('unreadable');
    },
  );

  it('is known of every address that Node connects to', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        expect(isIP(address)).not.toBe(0);
        expect(specialPurposeOf(address)).not.toBe('unreadable');
      }),
      { numRuns: runs(400) },
    );
  });

  it('of an IPv4 address holds in every form that embeds it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ipv4) => {
        const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
        const hex = (high: number, low: number, mask = 0): string =>
          (((high << 8) | low) ^ mask).toString(16);
        const expected = isPublicAddress(ipv4);
        expect(isPublicAddress(`::ffff:${ipv4}`)).toBe(expected);
        expect(isPublicAddress(`64:ff9b::${ipv4}`)).toBe(expected);
        expect(isPublicAddress(`2002:${hex(a, b)}:${hex(c, d)}::1`)).toBe(expected);
        expect(isPublicAddress(`2001:0:808:808::${hex(a, b, 0xffff)}:${hex(c, d, 0xffff)}`)).toBe(expected);
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

const PRIVATE = `
  http://127.0.0.1/ http://127.0.0.1./ http://127.1/ http://127.0.1/ http://127.1./ http://2130706433/
  http://017700000001/ http://0x7f000001/ http://0x7F.1/ http://0x7f.0x0.0x0.0x1/ http://0177.0.0.1/
  http://0177.0.0.01/ http://00000177.0.0.1/ http://0/ http://0x/ http://0.0.0.0:8080/ http://10.1/
  http://0xa.0x1/ http://192.168.257/ http://169.254.43518/ http://2852039166/ http://%31%32%37.0.0.1/
  http://127%2e0%2e0%2e1/ http://１２７.０.０.１/ http://①②⑦.⓪.⓪.①/ http://127。0。0。1/ https://127.0.0.1/
  ftp://127.0.0.1/ ftp://127.1/ ftp://0x7f.1/ ftp://2130706433/ ftp://0177.1/ ftp://[::1]/
  ftp://localhost/ http://user:secret@127.0.0.1/ http://8.8.8.8@127.0.0.1/ http://[::1]/ http://[::]/
  http://[0:0::1]:8080/ http://[::ffff:127.0.0.1]/ http://[::FFFF:7F00:0001]/ http://[64:ff9b::10.0.0.1]/
  http://[fe80::1]/ http://[fd00::1]/ http://[2002:7f00:1::]/ http://localhost/ http://LOCALHOST/
  http://localhost./ http://a.localhost/ http://a.b.LocalHost.:80/ http://ｌocalhost/ http://loc%61lhost/
`;

const PUBLIC = `
  http://127.0.0.1@8.8.8.8/ http://[2606:4700:4700::1111]/ http://[::ffff:8.8.8.8]/ http://8.8.8.8/
  http://134744072/ http://0x8.010.8.8/ ftp://0x08080808/
`;

const NAMES = `
  http://localhost.example/ http://notlocalhost/ http://localhost.localdomain/ http://example.com/
  http://127.0.0.1.example.com/ http://127-0-0-1.example/ http://intranet/ http://1e100.net/
  http://xn--bcher-kva.example/
`;

/** Whether a host is public, by what its URL shows; `undefined` for names that only DNS can tell of. */
const HOSTS: readonly (readonly [isPublic: boolean | undefined, urls: string])[] = [
  [false, PRIVATE],
  [true, PUBLIC],
  [undefined, NAMES],
];

describe('the address in a URL', () => {
  it.each(HOSTS)('is public: %s', (isPublic, urls) => {
    for (const url of urls.trim().split(/\s+/))
      expect(isPublicHost(new URL(url).hostname), url).toBe(isPublic);
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
