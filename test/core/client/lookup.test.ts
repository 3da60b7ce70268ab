import { describe, expect, it } from 'vitest';
import type { LookupFunction } from 'node:net';
import type { AddressPolicy } from '../../../src/index.ts';
import { opened } from '../../support/opened.ts';
import { testClient } from '../../support/client.ts';

type Callback = (...values: unknown[]) => void;

/** A `lookup` that calls back with any values. */
function answering(...values: unknown[]): LookupFunction {
  return (_hostname, _options, callback) => process.nextTick(callback as Callback, ...values);
}

const POLICIES = ['any', 'no-public-to-private', 'public-only'] as const satisfies readonly AddressPolicy[];

describe.each(POLICIES)('a `lookup` under %s', (addressPolicy) => {
  const ask = async (lookup: LookupFunction) => {
    const { client } = testClient({ lookup, addressPolicy });
    return opened(client).check('http://site.example/x');
  };

  it.each([
    [null, []],
    [null, null],
    [null, ''],
    [0, []],
  ])('that finds nothing (%j, %j) is ENOTFOUND', async (...values) => {
    expect((await ask(answering(...values))).robots.error).toBe('ENOTFOUND');
  });

  it.each([[[]], [[null, 5]], [[null, 'nonsense']], [[undefined, {}]]])(
    'that gives no answer %j is refused',
    async (values) => {
      await expect(ask(answering(...values))).rejects.toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
    },
  );

  it('that fails with anything leaves the site unreachable', async () => {
    expect(await ask(answering('broken'))).toMatchObject({ allowed: false, reason: 'unreachable' });
    expect(
      await ask(() => {
        throw new Error('thrown');
      }),
    ).toMatchObject({ allowed: false, reason: 'unreachable' });
  });
});
