import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import type { Families } from './address-queries.ts';

/** The address families that the options ask for. */
export function wantedFamilies(options: LookupOptions): Families {
  const family = familyOf(options);
  return { ipv4: family !== 6 || hasHint(options, dns.V4MAPPED), ipv6: family !== 4 };
}

export function hasHint({ hints = 0 }: LookupOptions, hint: number): boolean {
  return (hints & hint) !== 0;
}

/** The requested ones of `addresses`, in the requested order. */
export function selectAddresses(
  addresses: readonly string[],
  options: LookupOptions,
  prefersIPv6: boolean,
): readonly LookupAddress[] {
  const family = familyOf(options);
  const ofFamily = (wanted: 4 | 6): LookupAddress[] =>
    addresses.filter((address) => isIP(address) === wanted).map((address) => ({ address, family: wanted }));
  const ipv6 = family === 4 ? [] : ofFamily(6);
  if (family === 6) {
    // getaddrinfo(3): AI_V4MAPPED adds mapped addresses only when there is no IPv6 address; with AI_ALL it always
    // adds them.
    const mapped =
      hasHint(options, dns.V4MAPPED) && (ipv6.length === 0 || hasHint(options, dns.ALL)) ? ofFamily(4) : [];
    return [...ipv6, ...mapped.map(({ address }) => ({ address: `::ffff:${address}`, family: 6 }))];
  }
  return startsWithIPv6(options, prefersIPv6) ? [...ipv6, ...ofFamily(4)] : [...ofFamily(4), ...ipv6];
}

function startsWithIPv6({ order, verbatim }: LookupOptions, prefersIPv6: boolean): boolean {
  const inForce = order ?? (verbatim === false ? 'ipv4first' : dns.getDefaultResultOrder());
  // A and AAAA are separate answers, so `verbatim` has no order to keep.
  return inForce === 'verbatim' ? prefersIPv6 : inForce === 'ipv6first';
}

function familyOf({ family }: LookupOptions): 0 | 4 | 6 {
  if (family === 4 || family === 'IPv4') return 4;
  return family === 6 || family === 'IPv6' ? 6 : 0;
}
