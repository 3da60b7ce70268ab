import { codeOf } from '../../base/index.ts';
import dns, { type LookupAddress, type LookupOptions, type Resolver } from 'node:dns';
import { isIP } from 'node:net';

/** The addresses of a name, or the error. */
export interface DnsAnswer {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  /** Error code, when no address was found. */
  readonly error?: string;
}

/** The address families to query. */
export interface Families {
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

/**
 * RFC 8305 §3: "If a positive A response is received first due to reordering, the client SHOULD wait a short time for
 * the AAAA response […] a recommended value of 50 milliseconds". Some name servers never respond to AAAA queries.
 */
const RESOLUTION_DELAY_MS = 50;

/** Queries A and AAAA records in parallel. Never rejects. */
export function queryAddresses(resolver: Resolver, name: string, families: Families): Promise<DnsAnswer> {
  return new Promise((resolve) => {
    const found: { ipv4: readonly string[]; ipv6: readonly string[] } = { ipv4: [], ipv6: [] };
    const errors: string[] = [];
    let pending = Number(families.ipv4) + Number(families.ipv6);
    let delay: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(delay);
      const none = found.ipv4.length + found.ipv6.length === 0;
      resolve({ ...found, ...(none ? { error: decisiveError(errors) } : {}) });
    };
    const settle = (family: keyof Families, error: unknown, addresses: readonly string[] = []): void => {
      pending--;
      if (error === null) found[family] = addresses;
      else errors.push(codeOf(error));
      if (pending === 0) finish();
      else if (found[family].length > 0) delay = setTimeout(finish, RESOLUTION_DELAY_MS);
    };
    const ask = (family: keyof Families, query: 'resolve4' | 'resolve6'): void => {
      try {
        resolver[query](name, (error, addresses) => settle(family, error, addresses));
      } catch (error) {
        settle(family, error);
      }
    };
    if (families.ipv4) ask('ipv4', 'resolve4');
    if (families.ipv6) ask('ipv6', 'resolve6');
  });
}

/** Chooses one of two errors. "No such name" is true for both families, "no such record" for one only. */
function decisiveError(errors: readonly string[]): string {
  if (errors.includes('ENOTFOUND')) return 'ENOTFOUND';
  return errors.find((error) => error !== 'ENODATA') ?? 'ENODATA';
}

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
  // A and AAAA are separate responses, so `verbatim` has no order to keep.
  return inForce === 'verbatim' ? prefersIPv6 : inForce === 'ipv6first';
}

function familyOf({ family }: LookupOptions): 0 | 4 | 6 {
  if (family === 4 || family === 'IPv4') return 4;
  return family === 6 || family === 'IPv6' ? 6 : 0;
}
