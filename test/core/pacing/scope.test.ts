import { describe, expect, it, vi } from 'vitest';
import { guardFetch, type PacingOptions, type PacingScope } from '../../../src/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { A, B, booked, laidDown, noting, SLOW } from './support.ts';
import { openedClient, opened } from '../../support/opened.ts';
import { heard } from '../../support/heard.ts';

const HTTP = 'http://a.example';
const TEXTS = { [A]: 'User-agent: *\nCrawl-delay: 2\n', [HTTP]: '', 'https://a.example.': '', [B]: '' };

/** Requests the URLs in order. Resolves with when each was sent. */
async function timesOf(
  urls: readonly string[],
  pacing: PacingOptions,
  texts: Record<string, string> = TEXTS,
) {
  const { client, clock } = laidDown(texts);
  const { fetch, calls } = noting(clock);
  const guarded = guardFetch(fetch, client, { pacing });
  const all = Promise.all(urls.map(async (url) => (await guarded(url)).text()));
  await clock.whenWaiting();
  await clock.advance(60_000);
  await all;
  return calls.sort(([, one], [, other]) => one - other);
}

describe('what shares a pace', () => {
  const urls = [`${HTTP}/1`, `${A}/2`, `https://a.example./3`, `${B}/4`];

  it('is the host: its schemes share a queue, and of two neighbours the longer gap holds', async () => {
    expect(await timesOf(urls, {})).toEqual([
      [`${HTTP}/1`, 0],
      [`${B}/4`, 0],
      [`${A}/2`, 2_000],
      ['https://a.example./3', 4_000],
    ]);
  });

  it('is the origin', async () => {
    const times = await timesOf([...urls, `${A}/5`], { scope: 'origin' });
    expect(times.map(([, afterMs]) => afterMs)).toEqual([0, 0, 0, 0, 2_000]);
  });

  it('is what a function says, such as the registrable domain', async () => {
    const scope = ({ hostname }: URL): string => hostname.split('.').slice(-2).join('.');
    const texts = { 'https://one.example.com': '', 'https://two.example.com': '', [B]: '' };
    const pages = ['https://one.example.com/', 'https://two.example.com/', `${B}/`];
    const times = await timesOf(pages, { scope }, texts);
    expect(times.map(([, afterMs]) => afterMs)).toEqual([0, 0, 500]);
  });

  it.each<[string, PacingScope]>([
    ['nothing', () => undefined as unknown as string],
    ['no text', () => 5 as unknown as string],
    ['an empty text', () => ''],
    [
      'an error',
      () => {
        throw new Error('no such domain');
      },
    ],
  ])('is not %s: the function is named', async (_, scope) => {
    const { client, clock } = laidDown(TEXTS);
    const guarded = guardFetch(noting(clock).fetch, client, { pacing: { scope } });
    const expected = { code: 'ERR_ROBOTS_INVALID_OPTIONS', message: expect.stringContaining('scope') };
    await expect(guarded(A)).rejects.toMatchObject(expected);
    await expect(client.reserve(A, undefined, { scope })).rejects.toMatchObject(expected);
  });

  it('refuses another value', async () => {
    const { client } = laidDown(TEXTS);
    const scope = 'domain' as 'host';
    await expect(client.reserve(A, undefined, { scope })).rejects.toThrow(
      /`scope` to be 'host', 'origin' or a function/,
    );
  });

  it('is the same for guards and for `reserve`', async () => {
    const { client } = laidDown(TEXTS);
    booked(await client.reserve(A)).done();
    expect(booked(await client.reserve(HTTP)).waitMs).toBe(2_000);
  });
});

describe('a pause of one origin is one of its scope', () => {
  it('for pages, in messages and in `policy`', async () => {
    const { client, clock } = laidDown(TEXTS);
    const published = heard('canfetch:pause');
    booked(await client.reserve(A)).done({ status: 429, headers: { 'Retry-After': 60 } });
    expect(await client.reserve(HTTP, undefined, { maxDelayMs: 0 })).toMatchObject({
      status: 'deferred',
      waitMs: 60_000,
      delayFrom: 'retry-after',
    });
    expect(published).toMatchObject([{ origin: A, scope: 'a.example' }]);
    expect((await client.policy(HTTP)).pacing).toMatchObject({
      scope: 'a.example',
      pause: { until: clock.now() + 60_000 },
    });
    expect(booked(await client.reserve(B)).waitMs).toBe(0);
  });

  it('for robots.txt: what is known serves, and is not requested', async () => {
    const clock = virtualClock();
    const asked: string[] = [];
    const transport = { fetch: async (url: string) => (asked.push(url), new Response(SLOW)) };
    const { robots: client } = openedClient({ clock, transport });
    const scope = ({ hostname }: URL): string => hostname.slice(-'example'.length);
    for (const url of [A, B]) booked(await client.reserve(url, undefined, { scope })).done();
    await clock.advance(25 * 60 * 60 * 1_000);
    booked(await client.reserve(A, undefined, { scope })).done({
      status: 503,
      headers: { 'retry-after': '600' },
    });
    const before = asked.length;
    expect(await client.check(`${B}/private`)).toMatchObject({ allowed: false, reason: 'rule' });
    expect(asked).toHaveLength(before);
  });
});

describe('the statuses of `backOff`', () => {
  it.each([
    [[420], 420, true],
    [[420], 429, false],
    [undefined, 429, true],
  ])('%j: a %i pauses: %s', async (statuses, status, pauses) => {
    const { client } = laidDown({ [A]: '' });
    const backOff = statuses === undefined ? {} : { statuses };
    booked(await client.reserve(A, undefined, { backOff })).done({ status });
    expect(booked(await client.reserve(A)).waitMs).toBe(pauses ? 27_000 : 500);
  });

  it('hold for robots.txt of a paced site, too', async () => {
    const clock = virtualClock();
    const responses = [
      new Response(''),
      new Response(null, { status: 403, headers: { 'retry-after': '90' } }),
    ];
    const transport = { fetch: async () => responses.shift()! };
    const { robots: client } = openedClient({ clock, transport });
    const pacing = { backOff: { statuses: [403] } };
    booked(await client.reserve(A, undefined, pacing)).done();
    await clock.advance(25 * 60 * 60 * 1_000);
    await client.check(A);
    expect(booked(await client.reserve(A, undefined, pacing)).waitMs).toBe(90_000);
  });

  it.each([[['429']], [[42]], [429]])('are not %j', async (statuses) => {
    const { client } = laidDown({});
    const options = { backOff: { statuses: statuses as number[] } };
    await expect(client.reserve(A, undefined, options)).rejects.toThrow(/`backOff.statuses/);
  });
});

describe('a pace for each site', () => {
  it('is asked once a host, and may be none', async () => {
    const asked: string[] = [];
    const { client, clock } = laidDown(TEXTS);
    const { fetch, calls } = noting(clock);
    const guarded = guardFetch(fetch, client, {
      pacing: ({ host }) => {
        asked.push(host);
        return host === 'b.example' ? false : { defaultDelayMs: 7_000, scope: 'origin' };
      },
    });
    const all = Promise.all(
      [`${HTTP}/1`, `${HTTP}/2`, `${B}/1`, `${B}/2`, `${A}/1`].map((url) => guarded(url)),
    );
    await clock.whenWaiting();
    await clock.advance(7_000);
    await all;
    expect(asked).toEqual(['a.example', 'b.example']);
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([0, 0, 0, 0, 7_000]);
  });

  it('is checked', async () => {
    const { client, clock } = laidDown(TEXTS);
    const guarded = guardFetch(noting(clock).fetch, client, { pacing: () => ({ delayMs: 1 }) as object });
    await expect(guarded(A)).rejects.toThrow(
      /got `pacing\(a.example\).delayMs`; did you mean .*defaultDelayMs/,
    );
  });
});

describe('`latencyFactor`', () => {
  const latencyFactor = 5;

  it('makes the gap so many times what the last response took to its header', async () => {
    const { client, clock } = laidDown({ [A]: '' });
    const decision = await client.check(A);
    const pacing = { latencyFactor, concurrency: 2 };
    const permit = await client.acquirePermit(decision, pacing);
    await clock.advance(1_000);
    permit.responded({ status: 200 });
    await clock.advance(300);
    permit.done({ status: 200 });
    const next = await client.reserve(A, undefined, { ...pacing, maxDelayMs: 100 });
    expect(next).toMatchObject({ status: 'deferred', waitMs: 4_700, delayFrom: 'latency' });
    expect((await client.policy(A)).pacing).toMatchObject({ gapMs: 5_000, delayFrom: 'latency' });
    // A quick response ends it; the site's own gap holds in any case.
    await clock.advance(5_000);
    const quick = await client.acquirePermit(decision, pacing);
    quick.done({ status: 200 });
    expect(booked(await client.reserve(A, undefined, pacing)).waitMs).toBe(500);
  });

  it('lengthens no gap beyond `maxDelayMs`', async () => {
    const { client, clock } = laidDown({ [A]: '' });
    const pacing = { latencyFactor, maxDelayMs: 3_000 };
    const permit = await client.acquirePermit(await client.check(A), pacing);
    await clock.advance(1_000);
    permit.done({ status: 200 });
    expect(booked(await client.reserve(A, undefined, pacing)).waitMs).toBe(3_000);
  });
});

describe('a deferral', () => {
  const messageOf = async (robotsTxt: string, options: PacingOptions = {}): Promise<string> => {
    const { client } = laidDown({ [A]: robotsTxt });
    const decision = await client.check(A);
    const first = await client.acquirePermit(decision);
    first.done(options.backOff === undefined ? {} : { status: 429, headers: { 'retry-after': '3600' } });
    return client.acquirePermit(decision, { maxDelayMs: 10, ...options }).then(
      () => 'not deferred',
      ({ message }: Error) => message,
    );
  };

  it('says how long its cause is', async () => {
    expect(await messageOf('User-agent: *\nCrawl-delay: 600\n')).toMatch(/its Crawl-delay of 600 s$/);
    expect(await messageOf('User-agent: *\nRequest-rate: 1/90\n')).toMatch(
      /its Request-rate, one request in 90 s$/,
    );
    expect(await messageOf('')).toMatch(/`defaultDelayMs` of 0.5 s$/);
    expect(await messageOf('', { minDelayMs: 2_000 })).toMatch(/`minDelayMs` of 2 s$/);
    expect(await messageOf('', { backOff: {} })).toMatch(/it asked for a pause of 3,600 s \(Retry-After\)$/);
  });
});

describe('the first robots.txt of a site', () => {
  const scope = ({ hostname }: URL): string => hostname.split('.').slice(-2).join('.');

  it.each([503, 420])(
    'that is answered with %i and `Retry-After` pauses the pages of its whole scope',
    async (status) => {
      const clock = virtualClock();
      const transport = {
        fetch: async (url: string) =>
          url.startsWith('https://one.')
            ? new Response(null, { status, headers: { 'retry-after': '30' } })
            : new Response(''),
      };
      const { robots: client } = openedClient({ clock, transport });
      const { fetch, calls } = noting(clock);
      const pacing = { scope, backOff: { statuses: [503, 420] } };
      const guarded = guardFetch(fetch, client, { pacing });
      // robots.txt of 420 allows all: its own page waits, too.
      const first = guarded('https://one.example.com/').catch(() => undefined);
      await clock.whenWaiting(status === 420 ? 1 : 0);
      const paused = async (): Promise<unknown> =>
        (await client.policy('https://one.example.com/')).pacing?.pause;
      await expect.poll(paused).toBeDefined();
      const other = guarded('https://two.example.com/');
      await clock.whenWaiting();
      await clock.advance(29_000);
      expect(calls).toEqual([]);
      await clock.advance(2_000);
      await Promise.all([first, other]);
      expect(calls[0]?.[1]).toBeGreaterThanOrEqual(30_000);
    },
  );
});

describe('a permit of the caller', () => {
  it('is not given for a decision that refuses: that is rejected with the refusal', async () => {
    const { client } = laidDown({ [A]: SLOW });
    const refused = await client.check(`${A}/private`);
    await expect(client.acquirePermit(refused)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
      decision: refused,
    });
    await expect(client.acquirePermit(`${A}/` as unknown as typeof refused)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
    });
  });

  it('ends 30 s after its start where nobody ends it, and the process is warned', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    // A copy of the package that has warned of nothing yet.
    vi.resetModules();
    const fresh = await import('../../../src/index.ts');
    const clock = virtualClock();
    const transport = { fetch: async () => new Response('User-agent: *\nCrawl-delay: 0\n') };
    const client = opened(new fresh.RobotsClient({ agent: 'ExampleBot', clock, transport }));
    const decision = await client.check(A);
    for (let count = 0; count < 2; count++) {
      await client.acquirePermit(decision);
      const next = client.acquirePermit(decision);
      await clock.whenWaiting();
      await clock.advance(30_000);
      (await next).done();
    }
    expect(warned.mock.calls).toEqual([
      [
        `Expected \`done()\` or \`release()\` of the permit for ${A}/, but neither was called for 30 s: it was held all that time`,
        expect.objectContaining({ code: 'CANFETCH_PERMIT_NOT_ENDED' }),
      ],
    ]);
    warned.mockRestore();
  });
});
