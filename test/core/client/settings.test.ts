import { describe, expect, it } from 'vitest';
import { readOptions } from '../../../src/core/client/settings.ts';
import { profiles, RobotsClient } from '../../../src/index.ts';
import { VERSION } from '../../../src/core/base/index.ts';

describe('the defaults of a client', () => {
  it('are those that its options state', () => {
    const { clock, onStoreEvent, ...defaults } = readOptions({});
    expect(defaults).toEqual({
      tokens: ['canfetch'],
      agent: `canfetch/${VERSION}`,
      userAgent: `canfetch/${VERSION}`,
      profile: profiles.rfc9309,
      deadlineMs: 10_000,
      maxBodyBytes: 512_000,
      concurrency: 32,
      addressPolicy: 'no-public-to-private',
      lookup: undefined,
      dispatcher: undefined,
      transport: undefined,
      ftp: undefined,
      random: Math.random,
      maxOrigins: 100_000,
      maxBytes: 134_217_728,
      store: undefined,
      storeDeadlineMs: 150,
      headersForRobots: undefined,
      overrides: {},
    });
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000);
    expect(onStoreEvent({ type: 'resumed' })).toBeUndefined();
  });

  it('hold for each bound of the memory by itself', () => {
    expect(readOptions({ cache: { maxOrigins: 5 } })).toMatchObject({ maxOrigins: 5, maxBytes: 134_217_728 });
    expect(readOptions({ cache: { maxBytes: 2 ** 21 } })).toMatchObject({
      maxOrigins: 100_000,
      maxBytes: 2_097_152,
    });
  });

  it('keep what is given', () => {
    const given = { deadlineMs: 1, maxBodyBytes: 600_000, concurrency: 1, storeDeadlineMs: 1 } as const;
    expect(readOptions({ ...given, addressPolicy: 'any', profile: 'google' })).toMatchObject({
      ...given,
      addressPolicy: 'any',
      profile: profiles.google,
    });
  });

  it('accept memory for two of the largest files, and no less', () => {
    expect(readOptions({ maxBodyBytes: 600_000, cache: { maxBytes: 1_200_000 } }).maxBytes).toBe(1_200_000);
    expect(() => readOptions({ maxBodyBytes: 600_000, cache: { maxBytes: 1_199_999 } })).toThrow(
      'Expected `cache.maxBytes` to be at least twice `maxBodyBytes` (600000), got "1199999" (number)',
    );
  });
});

describe('an option whose getter throws', () => {
  const cause = new Error('no');
  const throwing = (name: string): object =>
    Object.defineProperty({}, name, {
      enumerable: true,
      get: () => {
        throw cause;
      },
    });

  it.each([
    ['deadlineMs', () => throwing('deadlineMs')],
    ['cache.maxBytes', () => ({ cache: throwing('maxBytes') })],
    ['overrides.https://example.com', () => ({ overrides: throwing('https://example.com') })],
    [
      'overrides.https://example.com.text',
      () => ({ overrides: { 'https://example.com': throwing('text') } }),
    ],
  ])('%s is an invalid option, and the cause is kept', (name, options) => {
    expect(() => Reflect.construct(RobotsClient, [options()])).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: `Expected \`${name}\` to be readable, got an error`,
        cause,
      }),
    );
  });
});
