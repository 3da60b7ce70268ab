import { codeOf } from '../../base/index.ts';
import type { Resolver } from 'node:dns';

/** The addresses of a name, or why there are none. */
export interface Answer {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  /** Code of the failure, when no address was found. */
  readonly error?: string;
}

/** Which addresses are asked for. */
export interface Families {
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

/**
 * RFC 8305 §3: "If a positive A response is received first due to reordering, the client SHOULD wait a short time for
 * the AAAA response […] a recommended value of 50 milliseconds". There are name servers that never answer to AAAA.
 */
const RESOLUTION_DELAY_MS = 50;

/** Asks for A and AAAA records side by side. Never rejects. */
export function queryAddresses(resolver: Resolver, name: string, families: Families): Promise<Answer> {
  return new Promise((resolve) => {
    const found: { ipv4: readonly string[]; ipv6: readonly string[] } = { ipv4: [], ipv6: [] };
    const errors: string[] = [];
    let pending = Number(families.ipv4) + Number(families.ipv6);
    let delay: NodeJS.Timeout | undefined;
    const finish = (): void => {
      clearTimeout(delay);
      const none = found.ipv4.length + found.ipv6.length === 0;
      resolve({ ...found, ...(none ? { error: decisive(errors) } : {}) });
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

/** Of two failures: that there is no such name holds for both; that there is no such record holds for one alone. */
function decisive(errors: readonly string[]): string {
  if (errors.includes('ENOTFOUND')) return 'ENOTFOUND';
  return errors.find((error) => error !== 'ENODATA') ?? 'ENODATA';
}
