import { lookup } from 'node:dns';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/core/base/index.ts';
import { readOptions } from '../../../src/core/client/settings.ts';
import { profiles, RobotsClient, RobotsError } from '../../../src/index.ts';

/** What a caller without types, or with wrong ones, might give. */
function constructWith(options: unknown): () => RobotsClient {
  return () => Reflect.construct(RobotsClient, [options]);
}

const profile = (changes: object): object => ({ profile: { ...profiles.rfc9309, ...changes } });
const lifetime = (defaultMs: number, minMs: number, maxMs: number): object =>
  profile({ lifetime: { defaultMs, minMs, maxMs } });
const phases = (...ends: readonly (number | null)[]): object =>
  profile({
    whileUnreachable: ends.map((untilMs) => ({ untilMs, withCopy: 'last-good', withoutCopy: 'allow-all' })),
  });
const override = (changes: object, origin = 'https://a.example'): object => ({
  overrides: { [origin]: changes },
});
const store = (more: object): object => ({ store: { get() {}, set() {}, delete: () => {}, ...more } });

const wrong: readonly [options: unknown, message: RegExp][] = [
  [5, /^Expected the options to be .*got "5" \(number\)$/],
  [{ cache: { maxorigin: 5 } }, /got `cache\.maxorigin`; did you mean `cache\.maxOrigins`\?$/],
  [
    { maxBodyBytes: 600_000, cache: { maxBytes: 1_199_999 } },
    /`cache\.maxBytes` to be at least twice `maxBody/,
  ],
  [{ maxBodyBytes: 511_999 }, /`maxBodyBytes` to be .*at least 512000.*got "511999" \(number\)/],
  [{ agent: '(+https://example.com)' }, /`agent` to be a string that holds a product token.*got "\(\+https/],
  [{ agent: 'https://example.com/bot' }, /`agent` to be a string that holds a product token/],
  [{ agent: 'Bot/1.0\r\nX-Evil: 1' }, /`agent` to be a string without CR or LF/],
  [{ agent: 'Bot/1.0 (🤖)' }, /`agent` to be a string of characters that a header field can carry/],
  [{ agent: [] }, /`agent` to be at least one agent/],
  [{ agent: ['Bot', ''] }, /`agent\.1` to be a string that holds a product token.*got "" \(string\)/],
  [{ deadlineMs: 0 }, /`deadlineMs` to be a whole number of milliseconds, at least 1, got "0" \(number\)/],
  [{ concurrency: 1.5 }, /`concurrency` to be a whole number.*got "1.5"/],
  [
    { addressPolicy: 'private' },
    /`addressPolicy` to be 'no-public-to-private', 'public-only' or 'any', got "/,
  ],
  [{ dispatcher: {} }, /`dispatcher` to be an undici Dispatcher/],
  [{ transport: { get: 1 } }, /`transport/],
  [profile({ robotsRetry: undefined }), /`profile\.robotsRetry` to be an object, got undefined/],
  [profile({ maxRedirects: -1 }), /`profile\.maxRedirects` to be a whole number from 0 to 100, got "-1"/],
  [profile({ status: { '4x': 'rules' } }), /a status such as "429" or a class such as "4xx"/],
  [lifetime(5_000, 9_000, 5_000), /`profile\.lifetime` to be bounds with `minMs` at most `maxMs`/],
  [phases(5), /`profile\.whileUnreachable` to be phases in ascending order/],
  [phases(50, 5, null), /`profile\.whileUnreachable` to be phases in ascending order/],
  [store({ delete: undefined }), /`store` to be a store with `get`, `set` and `delete`/],
  [store({ pause: 5 }), /and optionally `lease`, `reserve` and `pause`/],
  [{ storeDeadlineMs: 0 }, /`storeDeadlineMs` to be a whole number of milliseconds from 1 to 60000, got "0"/],
  [{ onStoreEvent: 'log' }, /`onStoreEvent` to be a function that takes an event/],
  [{ overrides: new Map() }, /^Expected `overrides` to be a plain object, got an object$/],
  [override({ text: '' }, 'a.example'), /a key of `overrides` to be an origin such as .* got "a\.example"/],
  [override({ text: '' }, 'https://a.example/b/'), /an origin such as .*got "https:\/\/a\.example\/b\/"/],
  [{ overrides: { 'https://a.b': { text: '' }, 'https://A.b': { text: '' } } }, /one override per origin/],
  [override({}), /example` to be an object with `text`, with `verdict` and `because`, or with `profile`/],
  [
    override({ verdict: 'maybe', because: 'x' }),
    /example\.verdict` to be 'allow' or 'disallow', got "maybe"/,
  ],
  [override({ profile: 'nope' }), /example\.profile` to be one of rfc9309.*got "nope"/],
];

describe('options', () => {
  it.each(wrong)('%j are invalid, and the message says why', (options, message) => {
    expect(constructWith(options)).toThrow(expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }));
    expect(constructWith(options)).toThrow(message);
    expect(constructWith(options)).toThrow(RobotsError);
  });

  it('a dispatcher and a transport exclude each other', () => {
    const dispatcher = new Agent();
    expect(constructWith({ dispatcher, transport: { fetch } })).toThrow(
      /either `dispatcher` or `transport`, got both/,
    );
  });

  it('a lookup and what looks up names by itself exclude each other', async () => {
    const dispatcher = new Agent();
    expect(constructWith({ dispatcher, lookup })).toThrow(/either `lookup` or `dispatcher`.*got both/);
    expect(constructWith({ transport: { fetch }, lookup })).toThrow(
      /either `lookup` or `transport`.*got both/,
    );
    await new RobotsClient({ lookup, addressPolicy: 'public-only' }).close();
    await new RobotsClient({ dispatcher, addressPolicy: 'any' }).close();
  });

  it('the bounds of memory may be two of the largest files, and no less', async () => {
    const cache = { maxOrigins: 1, maxBytes: 1_200_000 };
    await new RobotsClient({ maxBodyBytes: 600_000, cache, deadlineMs: 1, concurrency: 1 }).close();
  });

  it.each([
    [
      [['authorization', 'Basic x']],
      /`headersForRobots\("https:\/\/example\.com"\)` to be a plain object, got a list/,
    ],
    [{ 'x y': 'z' }, /to be an object whose keys are names of header fields, got "x y"/],
    [
      { authorization: 'secret\n' },
      /authorization` to be a string that a header field can carry, got a string/,
    ],
    [{ authorization: 7 }, /authorization` to be a string that a header field can carry, got number/],
  ])('headersForRobots that gives %j is refused, and no value is told', async (headers, message) => {
    await using robots = Reflect.construct(RobotsClient, [
      { headersForRobots: () => headers },
    ]) as RobotsClient;
    const error = await robots.check('https://example.com/').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringMatching(message),
    });
    expect(String(error)).not.toContain('secret');
  });
});

describe('the defaults of a client', () => {
  it('are those that its options state', () => {
    const { clock, onStoreEvent, random, ...defaults } = readOptions({});
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
      maxOrigins: 100_000,
      maxBytes: 134_217_728,
      store: undefined,
      storeDeadlineMs: 150,
      headersForRobots: undefined,
      overrides: {},
    });
    expect(random()).not.toBe(random());
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000);
    expect(onStoreEvent({ type: 'resumed' })).toBeUndefined();
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
