import ipaddr from 'ipaddr.js';
import { causesOf, RobotsAddressRefusedError } from '../base/index.ts';
import type { AddressPolicy } from './address-policy.ts';

type IPv4 = ReturnType<typeof ipaddr.IPv4.parse>;
type IPv6 = ReturnType<typeof ipaddr.IPv6.parse>;

/**
 * Whether an IPv4 or IPv6 address is globally reachable. Takes any spelling that `net.isIP` accepts, zone included.
 * An address that carries an IPv4 address is judged by that one. An unreadable text is not public.
 */
export function isPublicAddress(address: string): boolean {
  return specialPurposeOf(address) === undefined;
}

/** The purpose of an address in words, such as `link local`; `undefined` when it is public. */
export function specialPurposeOf(address: string): string | undefined {
  // Some parsers read a number with a leading zero as octal, others as decimal: such an address is unreadable.
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return purposeOfIPv4(ipaddr.IPv4.parse(address));
  return ipaddr.IPv6.isValid(address) ? purposeOfIPv6(ipaddr.IPv6.parse(address)) : 'unreadable';
}

/**
 * Whether the host of a URL is a public address; `undefined` for a name, which needs DNS. URL parsers have already
 * turned spellings such as `0x7f.1` into dotted decimals.
 */
export function isPublicHost(hostname: string): boolean | undefined {
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1));
  if (hostname.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(hostname))
    return isPublicAddress(hostname);
  return isLocalhost(hostname) ? false : undefined;
}

/**
 * RFC 6761 §6.3: "The domain "localhost." and any names falling within ".localhost." are special". They are loopback,
 * whatever DNS says.
 */
export function isLocalhost(hostname: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(hostname);
}

const wordsOf = (range: string): string => range.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function purposeOfIPv4(address: IPv4): string | undefined {
  const range = address.range();
  return range === 'unicast' || range === 'as112' || range === 'amt' ? undefined : wordsOf(range);
}

function purposeOfIPv6(address: IPv6): string | undefined {
  const { parts } = address;
  const bytes = address.toByteArray();
  const carried = (at: number, mask = 0): string | undefined =>
    purposeOfIPv4(new ipaddr.IPv4(bytes.slice(at, at + 4).map((byte) => byte ^ mask)));
  // RFC 4291 §2.5.5.1: IPv4-compatible, deprecated. "::" and "::1" are none.
  if (parts.slice(0, 6).every((part) => part === 0) && (parts[6] !== 0 || parts[7]! > 1)) return carried(12);
  const range = address.range();
  switch (range) {
    case 'ipv4Mapped':
      return carried(12);
    case 'rfc6052':
      // RFC 8215 §5: 64:ff9b:1::/48 is for translators of a local network, with prefixes of any length in it.
      return parts[2] === 1 ? 'local nat64' : carried(12);
    case 'teredo':
      // RFC 4380 §4: the server's address, then the client's with all bits inverted.
      return carried(4) ?? carried(12, 0xff);
    case '6to4':
      return carried(2);
    case 'unicast':
      // IANA has allocated 2000::/3 alone. "100:0:0:1::/64" (RFC 9780) lies outside, too.
      return parts[0]! >> 13 === 1 ? undefined : 'reserved';
    case 'as112v6':
    case 'amt':
    case 'orchid2':
    case 'droneRemoteIdProtocolEntityTags':
      return undefined;
    default:
      return wordsOf(range);
  }
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
