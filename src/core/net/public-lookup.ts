import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { RobotsAddressRefusedError } from '../base/index.ts';
import { isLocalhost, isPublicAddress, specialPurposeOf } from './addresses.ts';
import { refusedHost } from './hop-addresses.ts';

/**
 * Wraps `lookup` and drops all addresses that are not public. Sockets connect to the returned addresses, so that DNS
 * rebinding between check and connection has no effect.
 */
export function publicOnlyLookup(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    let isSettled = false;
    const settle = (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[] = []): void => {
      if (isSettled) return;
      isSettled = true;
      const [first] = addresses;
      if (error !== null) callback(error, '', undefined);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address ?? '', first?.family);
    };
    if (isLocalhost(hostname)) {
      process.nextTick(settle, refusedHost(hostname));
      return;
    }
    try {
      // Ask for all addresses: the first may be refused where the second is not.
      lookup(hostname, { ...options, all: true }, (error, result) => {
        if (error !== null && error !== undefined) {
          settle(error);
          return;
        }
        const found = readAddresses(result);
        const isPublic = found.filter(({ address }) => isPublicAddress(address));
        if (isPublic.length > 0) settle(null, isPublic);
        else settle(refusal(hostname, found));
      });
    } catch (error) {
      process.nextTick(settle, error instanceof Error ? error : new Error(String(error)));
    }
  };
}

/** Reads the result of a caller's `lookup`, which may not support `all`. */
function readAddresses(result: unknown): LookupAddress[] {
  const list: readonly unknown[] = Array.isArray(result) ? result : [result];
  return list.flatMap((each) => {
    const address: unknown = typeof each === 'string' ? each : Reflect.get(Object(each), 'address');
    const family = typeof address === 'string' ? isIP(address) : 0;
    return typeof address === 'string' && family !== 0 ? [{ address, family }] : [];
  });
}

function refusal(hostname: string, [first]: readonly LookupAddress[]): Error {
  if (first === undefined) {
    const code = 'ENOTFOUND';
    return Object.assign(new Error(`lookup ${code} ${hostname}`), { code, syscall: 'lookup', hostname });
  }
  return new RobotsAddressRefusedError(hostname, specialPurposeOf(first.address) ?? 'public', first.address);
}
