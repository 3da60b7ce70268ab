import { IPV4_REGISTRY, IPV6_REGISTRY, type RegistryEntry, type SpecialPurpose } from './iana-registry.ts';
import { causesOf, RobotsAddressRefusedError } from '../base/index.ts';
import type { AddressPolicy } from './address-policy.ts';

/**
 * Whether an IPv4 or IPv6 address is globally reachable. Takes any spelling that `net.isIP` accepts, zone included.
 * An address that carries an IPv4 address is judged by that one. An unreadable text is not public.
 */
export function isPublicAddress(address: string): boolean {
  return specialPurposeOf(address) === undefined;
}

/** The purpose of an address; `undefined` when it is public. */
export function specialPurposeOf(address: string): SpecialPurpose | 'unreadable' | undefined {
  if (address.includes(':')) return readIPv6(address) ? purposeOfIPv6() : 'unreadable';
  const ipv4 = readIPv4(address, 0);
  return ipv4 < 0 ? 'unreadable' : purposeOfIPv4(ipv4);
}

/**
 * Whether the host of a URL is a public address; `undefined` for a name, which needs DNS. URL parsers have already
 * turned spellings such as `0x7f.1` into dotted decimals.
 */
export function isPublicHost(hostname: string): boolean | undefined {
  const bracketed = hostname.charCodeAt(0) === 0x5b;
  if (bracketed || hostname.includes(':')) {
    return isPublicAddress(bracketed ? hostname.slice(1, -1) : hostname);
  }
  const ipv4 = readIPv4(hostname, 0);
  if (ipv4 >= 0) return purposeOfIPv4(ipv4) === undefined;
  return isLocalhost(hostname) ? false : undefined;
}

/**
 * RFC 6761 §6.3: "The domain "localhost." and any names falling within ".localhost." are special". They are loopback,
 * whatever DNS says.
 */
export function isLocalhost(hostname: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(hostname);
}

/** Reads dotted decimals from `start` to the end, as a number; -1 when the text is not an IPv4 address. */
function readIPv4(text: string, start: number): number {
  let address = 0;
  let byte = -1;
  let bytes = 0;
  for (let at = start; at <= text.length; at++) {
    // NaN past the end.
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      // Some parsers read a number with a leading zero as octal, others as decimal.
      if (byte === 0) return -1;
      byte = (byte < 0 ? 0 : byte) * 10 + code - 0x30;
      if (byte > 255) return -1;
    } else if (byte >= 0 && (code === 0x2e ? bytes < 3 : at === text.length && bytes === 3)) {
      address = address * 256 + byte;
      byte = -1;
      bytes++;
    } else return -1;
  }
  return address;
}

/** The eight groups of the IPv6 address that was read last. */
const groups = new Uint16Array(8);

function readIPv6(text: string): boolean {
  const zone = text.indexOf('%');
  const end = zone < 0 ? text.length : zone;
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < end) {
    if (count === 8) return false;
    const start = at;
    let group = 0;
    let digit = hexDigit(text.charCodeAt(at));
    for (; at < end && digit >= 0; digit = hexDigit(text.charCodeAt(++at))) group = group * 16 + digit;
    if (at < end && text.charCodeAt(at) === 0x2e) {
      const ipv4 = readIPv4(zone < 0 ? text : text.slice(0, end), start);
      if (ipv4 < 0 || count > 6) return false;
      groups[count++] = ipv4 >>> 16;
      groups[count++] = ipv4 & 0xffff;
      at = end;
      break;
    }
    if (at === start || at - start > 4) return false;
    groups[count++] = group;
    if (at === end) break;
    if (text.charCodeAt(at) !== 0x3a) return false;
    at++;
    if (at < end && text.charCodeAt(at) === 0x3a) {
      if (gap >= 0) return false;
      gap = count;
      at++;
    } else if (at === end) return false;
  }
  if (gap < 0) return count === 8;
  if (count === 8) return false;
  groups.copyWithin(gap + 8 - count, gap, count);
  groups.fill(0, gap, gap + 8 - count);
  return true;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = (code | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}

/** A compiled registry entry: the groups that it fixes, and their masks. */
interface Block {
  readonly base: Uint16Array;
  readonly mask: Uint16Array;
  readonly purpose: SpecialPurpose | undefined;
}

const IPV4_BLOCKS = compile(IPV4_REGISTRY, (address) => {
  const ipv4 = readIPv4(address, 0);
  return Uint16Array.of(ipv4 >>> 16, ipv4 & 0xffff);
});
const IPV6_BLOCKS = compile(IPV6_REGISTRY, (address) => {
  readIPv6(address);
  return groups.slice();
});

/** Compiles a registry, longest prefix first, so that the first match is the most specific. */
function compile(registry: readonly RegistryEntry[], read: (address: string) => Uint16Array): Block[] {
  const lengthOf = (block: string): number => Number(block.slice(block.indexOf('/') + 1));
  return [...registry]
    .sort(([one], [other]) => lengthOf(other) - lengthOf(one))
    .map(([block, purpose]) => {
      const base = read(block.slice(0, block.indexOf('/')));
      const mask = base.map((_, index) => {
        const bits = Math.min(16, Math.max(0, lengthOf(block) - 16 * index));
        return 0xffff << (16 - bits);
      });
      return { base, mask, purpose };
    });
}

function purposeOfIPv4(address: number): SpecialPurpose | undefined {
  const high = address >>> 16;
  const low = address & 0xffff;
  for (const { base, mask, purpose } of IPV4_BLOCKS) {
    if ((high & mask[0]!) === base[0] && (low & mask[1]!) === base[1]) return purpose;
  }
  return undefined;
}

/** The purpose of the address in {@link groups}. */
function purposeOfIPv6(): SpecialPurpose | undefined {
  const [first, second, third] = groups;
  if (zeroTo(5)) {
    // RFC 4291 §2.5.5.2: IPv4-mapped. A socket connected to one speaks IPv4.
    if (groups[5] === 0xffff) return purposeOfIPv4(embedded(6));
    // RFC 4291 §2.5.5.1: IPv4-compatible, deprecated. "::" and "::1" are none.
    if (groups[5] === 0 && (groups[6] !== 0 || groups[7]! > 1)) return purposeOfIPv4(embedded(6));
  }
  if (first === 0x64 && second === 0xff9b) {
    // RFC 6052 §2.1: the well-known prefix of translators, 64:ff9b::/96.
    if (third === 0 && groups[3] === 0 && groups[4] === 0 && groups[5] === 0)
      return purposeOfIPv4(embedded(6));
    if (third === 1) return purposeOfLocalNat64();
  }
  // RFC 4380 §4: Teredo. The server's address, then the client's with all bits inverted.
  if (first === 0x2001 && second === 0) {
    return purposeOfIPv4(embedded(2)) ?? purposeOfIPv4(~embedded(6) >>> 0);
  }
  // RFC 3056 §2: 6to4.
  if (first === 0x2002) return purposeOfIPv4(embedded(1));
  blocks: for (const { base, mask, purpose } of IPV6_BLOCKS) {
    for (let index = 0; index < 8 && mask[index] !== 0; index++) {
      if ((groups[index]! & mask[index]!) !== base[index]) continue blocks;
    }
    return purpose;
  }
  return 'reserved';
}

function zeroTo(end: number): boolean {
  for (let index = 0; index < end; index++) if (groups[index] !== 0) return false;
  return true;
}

function embedded(group: number): number {
  return ((groups[group]! << 16) | groups[group + 1]!) >>> 0;
}

/** The bytes of an IPv4 address after prefixes of 48, 56, 64 and 96 bits, by RFC 6052 §2.2. */
const NAT64_READINGS: readonly (readonly [number, number, number, number])[] = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
];

/**
 * RFC 8215 §5: 64:ff9b:1::/48 is for translators of a local network, which may use prefixes of any length in it. So
 * the address must be public in every reading. Readings in 0.0.0.0/8 do not count: another reading is meant.
 */
function purposeOfLocalNat64(): SpecialPurpose | undefined {
  let isPublic = false;
  for (const [a, b, c, d] of NAT64_READINGS) {
    const ipv4 = ((byteAt(a) << 24) | (byteAt(b) << 16) | (byteAt(c) << 8) | byteAt(d)) >>> 0;
    if (ipv4 >>> 24 === 0) continue;
    const purpose = purposeOfIPv4(ipv4);
    if (purpose !== undefined) return purpose;
    isPublic = true;
  }
  return isPublic ? undefined : 'local-nat64';
}

function byteAt(index: number): number {
  const group = groups[index >> 1]!;
  return (index & 1) === 0 ? group >> 8 : group & 0xff;
}

/** The error for a host that is not public by its URL: a literal address, or `localhost`. */
export function refusedHost(hostname: string): RobotsAddressRefusedError {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const what = isLocalhost(hostname) ? 'loopback' : (specialPurposeOf(address) ?? 'public');
  return new RobotsAddressRefusedError(hostname, what);
}

/** Finds the refusal among the causes of the error of a fetch. */
export function addressRefusalIn(error: unknown): RobotsAddressRefusedError | undefined {
  for (const each of causesOf(error)) if (each instanceof RobotsAddressRefusedError) return each;
  return undefined;
}

/** Applies a policy to a request and its redirects. Under the default, all after a public one must be public. */
export class RedirectAddresses {
  readonly #policy: AddressPolicy;
  #cameFromPublic = false;

  constructor(policy: AddressPolicy) {
    this.#policy = policy;
  }

  /** Whether the next request may connect to public addresses only. */
  get publicOnly(): boolean {
    return (
      this.#policy === 'public-only' || (this.#policy === 'no-public-to-private' && this.#cameFromPublic)
    );
  }

  /** Whether the URL of the next request shows a refused address: a literal, or `localhost`. */
  refuses({ hostname }: URL): boolean {
    return this.publicOnly && isPublicHost(hostname) === false;
  }

  /**
   * Records that a request got a response; `isPublic`: from a public address. If that is unknown, a name counts as public,
   * which refuses more.
   */
  connected({ hostname }: URL, isPublic: boolean | undefined): void {
    this.#cameFromPublic ||= isPublic ?? isPublicHost(hostname) ?? true;
  }
}
