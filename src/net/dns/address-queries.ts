import { codeOf } from '../../base/index.ts';
import type { Resolver } from 'node:dns';

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
 * the AAAA response […] a recommended value of 50 milliseconds". Some name servers never answer AAAA queries.
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
