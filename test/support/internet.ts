import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { BuildConnector } from '../../src/core/net/connectors.ts';

/** Public addresses that do not respond: a real connection to one fails the test. */
export const PUBLIC = '93.184.215.14';

export interface Internet {
  /** To be given in the place of undici's. */
  readonly buildConnector: BuildConnector;
  /** Every address a socket was opened to, in order. */
  readonly dialled: string[];
}

/**
 * An Internet on loopback: a socket to whatever address is opened to the same port of 127.0.0.1, and says that it
 * leads where it was meant to lead. Names are looked up as undici's connector does, by the `lookup` it is given; the
 * first address is taken.
 */
export function internet(): Internet {
  const dialled: string[] = [];
  return {
    dialled,
    buildConnector(options) {
      const connect = buildConnector({});
      return (target, callback) => {
        const dial = (address: string): void => {
          dialled.push(address);
          connect({ ...target, hostname: '127.0.0.1' }, (...[error, socket]) => {
            if (error !== null) callback(error, null);
            else callback(null, Object.defineProperty(socket, 'remoteAddress', { value: address }));
          });
        };
        if (isIP(target.hostname) !== 0) {
          dial(target.hostname);
          return;
        }
        const lookup = 'lookup' in options ? options.lookup : undefined;
        lookup?.(target.hostname, { all: true }, (error, addresses) => {
          const [first] = Array.isArray(addresses) ? addresses : [];
          if (error === null && first !== undefined) dial(first.address);
          else callback(error ?? new Error('Expected an address'), null);
        });
      };
    },
  };
}

/** Addresses, or what gives them by how often the name was looked up before. */
export type Row = readonly string[] | ((before: number) => readonly string[]);

/** A `lookup` by table, which knows no other names. */
export function lookupIn(
  table: Readonly<Record<string, Row>>,
): LookupFunction & { readonly asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupFunction = (hostname, options, callback) => {
    const row = table[hostname] ?? [];
    const before = asked.filter((name) => name === hostname).length;
    const addresses = typeof row === 'function' ? row(before) : row;
    asked.push(hostname);
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    queueMicrotask(() => {
      const [first] = found;
      if (first === undefined) callback(Object.assign(new Error(hostname), { code: 'ENOTFOUND' }), '', 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
  return Object.assign(lookup, { asked });
}
