import { lookup } from 'node:dns';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { profiles, RobotsClient, type RobotsClientOptions, RobotsError } from '../../../src/index.ts';

/** What a caller without types, or with wrong ones, might give. */
function constructWith(options: unknown): () => RobotsClient {
  return () => Reflect.construct(RobotsClient, [options]);
}

const wrong: readonly [name: string, options: unknown, message: RegExp][] = [
  ['an unknown option', { timeout: 5 }, /^Expected only known options, got `timeout`$/],
  [
    'a misspelt option',
    { concurency: 5, cache: {} },
    /^Expected only known options, got `concurency`; did you mean `concurrency`\?$/,
  ],
  [
    'a misspelt nested option',
    { cache: { maxorigin: 5 } },
    /^Expected only known options, got `cache\.maxorigin`; did you mean `cache\.maxOrigins`\?$/,
  ],
  [
    'overrides whose entries are no properties',
    { overrides: new Map([['https://a.example', { text: '' }]]) },
    /^Expected `overrides` to be a plain object, got an object$/,
  ],
  [
    'phases without end',
    {
      profile: {
        ...profiles.rfc9309,
        whileUnreachable: [{ untilMs: 5, withCopy: 'last-good', withoutCopy: 'allow-all' }],
      },
    },
    /`profile\.whileUnreachable` to be phases in ascending order/,
  ],
  [
    'a profile whose bounds are the wrong way round',
    { profile: { ...profiles.rfc9309, lifetime: { defaultMs: 5_000, minMs: 9_000, maxMs: 5_000 } } },
    /`profile\.lifetime` to be bounds with `minMs` at most `maxMs`/,
  ],
  [
    'a profile without a field',
    { profile: { ...profiles.rfc9309, robotsRetry: undefined } },
    /`profile\.robotsRetry` to be an object, got undefined/,
  ],
  ['an unknown nested option', { cache: { max: 5 } }, /^Expected only known options, got `cache\.max`$/],
  [
    'an agent without product token',
    { agent: '(+https://example.com)' },
    /`agent` to be a string that holds a product token.*got "\(\+https/,
  ],
  [
    'an agent that is a URL',
    { agent: 'https://example.com/bot' },
    /`agent` to be a string that holds a product token/,
  ],
  [
    'an agent with a line break',
    { agent: 'Bot/1.0\r\nX-Evil: 1' },
    /`agent` to be a string without CR or LF/,
  ],
  ['no agent in a list', { agent: [] }, /`agent` to be at least one agent/],
  ['an agent of the wrong type', { agent: 5 }, /`agent` to be .*got "5" \(number\)/],
  [
    'an empty agent in a list',
    { agent: ['Bot', ''] },
    /`agent\.1` to be a string that holds a product token.*got "" \(string\)/,
  ],
  [
    'a body limit under 500 KiB',
    { maxBodyBytes: 511_999 },
    /`maxBodyBytes` to be .*at least 512000.*got "511999" \(number\)/,
  ],
  [
    'a deadline of no time',
    { deadlineMs: 0 },
    /`deadlineMs` to be a whole number of milliseconds, at least 1, got "0" \(number\)/,
  ],
  ['a deadline that is text', { deadlineMs: '5s' }, /`deadlineMs` to be .*got "5s" \(string\)/],
  ['a broken concurrency', { concurrency: 1.5 }, /`concurrency` to be a whole number.*got "1.5"/],
  [
    'an unknown profile',
    { profile: 'bing' },
    /`profile` to be one of rfc9309, google, google-legacy, koster-1996, robotstxt-1994, or a whole profile object, got "bing"/,
  ],
  [
    'a profile with a hole',
    { profile: { ...profiles.rfc9309, maxRedirects: -1 } },
    /`profile\.maxRedirects` to be a whole number from 0 to 100, got "-1"/,
  ],
  [
    'a profile without end',
    { profile: { ...profiles.rfc9309, whileUnreachable: [] } },
    /`profile\.whileUnreachable`/,
  ],
  [
    'an unknown address policy',
    { addressPolicy: 'private-only' },
    /`addressPolicy` to be 'no-public-to-private', 'public-only' or 'any', got "private-only"/,
  ],
  ['a lookup that is none', { lookup: 'dns' }, /`lookup` to be a function like dns\.lookup, got "dns"/],
  ['a dispatcher that is none', { dispatcher: {} }, /`dispatcher` to be an undici Dispatcher/],
  [
    'a store that cannot delete',
    { store: { get() {}, set() {} } },
    /`store` to be a store with `get`, `set` and `delete`/,
  ],
  [
    'a store whose lease is no function',
    { store: { get() {}, set() {}, delete() {}, lease: true } },
    /`store` to be a store with `get`, `set` and `delete`/,
  ],
  [
    'a store whose pause is no function',
    { store: { get() {}, set() {}, delete() {}, pause: 5 } },
    /and optionally `lease`, `reserve`, `pause` and `now`/,
  ],
  [
    'a store whose clock is no function',
    { store: { get() {}, set() {}, delete() {}, now: Date.now() } },
    /and optionally `lease`, `reserve`, `pause` and `now`/,
  ],
  [
    'a store deadline of no time',
    { storeDeadlineMs: 0 },
    /`storeDeadlineMs` to be a whole number of milliseconds from 1 to 60000, got "0" \(number\)/,
  ],
  ['a listener that is none', { onStoreEvent: 'log' }, /`onStoreEvent` to be a function that takes an event/],
  ['a transport without fetch', { transport: { get: 1 } }, /`transport/],
  [
    'an override of no origin',
    { overrides: { 'example.com': { text: '' } } },
    /a key of `overrides` to be an origin such as .* got "example\.com"/,
  ],
  [
    'a verdict without reason',
    { overrides: { 'https://a.example': { verdict: 'allow' } } },
    /`overrides\.https:\/\/a\.example/,
  ],
  [
    'an agent no header can carry',
    { agent: 'ExampleBot/1.0 (🤖)' },
    /`agent` to be a string of characters that a header field can carry/,
  ],
  [
    'an override of less than an origin',
    { overrides: { 'https://a.example/public/': { text: '' } } },
    /an origin such as .*got "https:\/\/a\.example\/public\/"/,
  ],
  [
    'two overrides of one origin',
    { overrides: { 'https://a.example': { text: '' }, 'https://A.example': { text: '' } } },
    /one override per origin/,
  ],
  [
    'an unknown verdict',
    { overrides: { 'https://a.example': { verdict: 'maybe', because: 'x' } } },
    /example\.verdict` to be 'allow' or 'disallow', got "maybe"/,
  ],
  [
    'an override with an unknown profile',
    { overrides: { 'https://a.example': { profile: 'nope' } } },
    /example\.profile` to be one of rfc9309.*got "nope"/,
  ],
  [
    'an override that is none',
    { overrides: { 'https://a.example': {} } },
    /example` to be an object with `text`, with `verdict` and `because`, or with `profile`/,
  ],
  [
    'a status that is none',
    { profile: { ...profiles.rfc9309, status: { '4x': 'rules' } } },
    /a status such as "429" or a class such as "4xx"/,
  ],
  [
    'phases out of order',
    {
      profile: {
        ...profiles.rfc9309,
        whileUnreachable: [
          { untilMs: 50, withCopy: 'last-good', withoutCopy: 'allow-all' },
          { untilMs: 5, withCopy: 'last-good', withoutCopy: 'allow-all' },
          { untilMs: null, withCopy: 'last-good', withoutCopy: 'allow-all' },
        ],
      },
    },
    /`profile\.whileUnreachable` to be phases in ascending order/,
  ],
  [
    'no lifetime',
    { profile: { ...profiles.rfc9309, lifetime: { defaultMs: 0, minMs: 0, maxMs: 0 } } },
    /`profile\.lifetime\.defaultMs` to be a whole number of milliseconds, at least 1000/,
  ],
  [
    'memory for less than two files',
    { maxBodyBytes: 1_000_000, cache: { maxBytes: 1_048_576 } },
    /`cache\.maxBytes` to be at least twice `maxBodyBytes`/,
  ],
  ['no object at all', 5, /^Expected the options to be .*got "5" \(number\)$/],
];

describe('options', () => {
  it.each(wrong)('%s: the message names it', (_, options, message) => {
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

  it('every option can be given', async () => {
    const options: RobotsClientOptions = {
      agent: ['ExampleBot/1.0', 'FallbackBot'],
      profile: {
        ...profiles.google,
        name: 'mine',
        status: { ...profiles.google.status, '503': 'unavailable' },
      },
      deadlineMs: 1,
      maxBodyBytes: 600_000,
      concurrency: 1,
      addressPolicy: 'no-public-to-private',
      transport: { fetch },
      clock: Date,
      random: Math.random,
      cache: { maxOrigins: 1, maxBytes: 2 ** 21 },
      headersForRobots: () => ({ authorization: 'Basic x' }),
      overrides: { 'https://example.com/': { profile: 'google' } },
    };
    await new RobotsClient(options).close();
  });

  it.each(['', ' ', '*bot*', 'https://example.com', '(compatible)', []])(
    'agent %j of a question is refused',
    async (agent) => {
      await using robots = new RobotsClient();
      const code = expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' });
      await expect(robots.canFetch('https://example.com/', agent)).rejects.toEqual(code);
      await expect(robots.check('https://example.com/', agent)).rejects.toEqual(code);
      expect(() => robots.peek('https://example.com/', agent)).toThrow(code);
    },
  );

  it.each(['nonsense', '/a', 'mailto:a@b.c', 'data:,x', 'file:///a', 'http://'])(
    'URL %j is refused',
    async (url) => {
      await using robots = new RobotsClient();
      const code = expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_URL' });
      await expect(robots.canFetch(url)).rejects.toEqual(code);
      await expect(robots.check(url)).rejects.toEqual(code);
      await expect(robots.policy(url)).rejects.toEqual(code);
      await expect(robots.invalidate(url)).rejects.toEqual(code);
      expect(() => robots.peek(url)).toThrow(code);
      expect(() => robots.report(url, { reachable: true })).toThrow(code);
    },
  );

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
