import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { describe, expect, it } from 'vitest';
import { publicOnlyLookup } from '../../../src/core/net/connectors.ts';

const PUBLIC = '93.184.215.14';
const PUBLIC_IPV6 = '2606:4700::1';

/** The outcome of one lookup. Asks `lookup` for it, and notes the options that it is asked with. */
function resolved(lookup: LookupFunction, hostname = 'a.example', options: LookupOptions = {}) {
  return new Promise<unknown>((resolve) => {
    let calls = 0;
    publicOnlyLookup(lookup)(hostname, options, (error, address, family) => {
      calls++;
      // A second call of the callback would come before this.
      setImmediate(() => resolve(error ?? { address, ...(family === undefined ? {} : { family }), calls }));
    });
  });
}

const giving =
  (result: unknown): LookupFunction =>
  (_hostname, _options, callback) =>
    callback(null, result as LookupAddress[]);

describe('a lookup of public addresses', () => {
  const mixed = giving([
    { address: '10.0.0.1', family: 4 },
    { address: PUBLIC, family: 4 },
    { address: '::1', family: 6 },
    { address: PUBLIC_IPV6, family: 6 },
  ]);

  it('gives the first one without `all`, though it asks for all', async () => {
    const asked: LookupOptions[] = [];
    const watched: LookupFunction = (hostname, options, callback) => {
      asked.push(options);
      mixed(hostname, options, callback);
    };
    expect(await resolved(watched, 'a.example', { family: 4, hints: 32 })).toEqual({
      address: PUBLIC,
      family: 4,
      calls: 1,
    });
    expect(asked).toEqual([{ family: 4, hints: 32, all: true }]);
  });

  it.each([
    ['one address as text', PUBLIC, 4],
    ['a list of texts', ['10.0.0.1', PUBLIC_IPV6], 6],
    ['an object', { address: PUBLIC }, 4],
    ['a wrong family', [{ address: PUBLIC_IPV6, family: 4 }], 6],
    ['other values beside it', [null, 5, { address: 7 }, 'a.example', { address: PUBLIC }], 4],
  ])('reads the result of a lookup that gives %s', async (_, result, family) => {
    expect(await resolved(giving(result))).toMatchObject({ family, calls: 1 });
  });

  it.each(['localhost', 'LOCALHOST.', 'a.localhost'])('refuses %s without a lookup', async (hostname) => {
    let asked = 0;
    const counting: LookupFunction = (_hostname, _options, callback) => {
      asked++;
      callback(null, PUBLIC, 4);
    };
    expect(await resolved(counting, hostname)).toMatchObject({
      code: 'ERR_ROBOTS_ADDRESS_REFUSED',
      host: hostname,
    });
    expect(asked).toBe(0);
  });

  it('calls back once, even if the lookup calls back and throws', async () => {
    const twice: LookupFunction = (_hostname, _options, callback) => {
      callback(null, PUBLIC, 4);
      callback(null, '10.0.0.1', 4);
      throw new Error('and then');
    };
    expect(await resolved(twice)).toEqual({ address: PUBLIC, family: 4, calls: 1 });
  });
});
