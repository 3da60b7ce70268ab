import { describe, expect, it } from 'vitest';
import { type PacingOptions, RobotsClient } from '../../../src/index.ts';
import { fakeOrigin, virtualClock } from '../../../src/extras/testing/index.ts';
import { A, B, booked, closing, laidDown, SLOW } from '../pacing/support.ts';

describe('reserve', () => {
  it('books at once and returns the wait', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const all = await Promise.all(
      [1, 2, 3].map((page) => client.reserve(`${A}/${page}`, undefined, { concurrency: 3 })),
    );
    expect(all.map((each) => booked(each).waitMs)).toEqual([0, 2_500, 5_000]);
    expect(all[1]).toMatchObject({
      status: 'booked',
      at: clock.now() + 2_500,
      delayMs: 2_500,
      delayFrom: 'crawl-delay',
      decision: { allowed: true, crawlDelayMs: 2_500, url: `${A}/2` },
    });
    await clock.advance(6_000);
    for (const each of all) booked(each).done();
    expect(booked(await client.reserve(`${A}/4`)).waitMs).toBe(1_500);
  });

  it('the gap is the site’s own, 0 included, else the default; the least delay of the caller counts above it', async () => {
    const texts = { [A]: SLOW, [B]: '', 'https://zero.example': 'User-agent: *\nCrawl-delay: 0\n' };
    const { client } = laidDown(texts);
    const of = async (url: string, options: PacingOptions): Promise<unknown> => {
      const booking = booked(await client.reserve(url, undefined, options));
      booking.done();
      return [booking.delayMs, booking.delayFrom];
    };
    expect(await of(A, { minDelayMs: 4_000 })).toEqual([4_000, 'min-delay']);
    expect(await of(B, {})).toEqual([500, 'default-delay']);
    expect(await of(B, { defaultDelayMs: 900 })).toEqual([900, 'default-delay']);
    expect(await of(B, { minDelayMs: 1_000 })).toEqual([1_000, 'min-delay']);
    expect(await of('https://zero.example', {})).toEqual([0, 'crawl-delay']);
    expect(await of('https://zero.example', { minDelayMs: 5 })).toEqual([5, 'min-delay']);
    const other = laidDown({ [A]: SLOW }).client;
    const shorter = await other.reserve(A, undefined, { minDelayMs: 1_000 });
    expect(shorter).toMatchObject({ delayMs: 2_500, delayFrom: 'crawl-delay' });
  });

  it('beyond `maxDelayMs` nothing is booked, and `retryAt` has the time', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    booked(await client.reserve(A)).done();
    for (const waitMs of [2_500, 5_025, 7_550]) {
      const deferred = await client.reserve(A, undefined, { maxDelayMs: 2_499 });
      // A gap and a hundredth later for each request deferred before.
      expect(deferred).toMatchObject({
        status: 'deferred',
        retryAt: clock.now() + waitMs,
        waitMs,
        delayFrom: 'crawl-delay',
      });
    }
    await clock.advance(2_500);
    expect(booked(await client.reserve(A, undefined, { maxDelayMs: 0 })).waitMs).toBe(0);
  });

  it('while no place is free nothing is booked: `done` frees it, or 30 seconds after the slot', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const first = booked(await client.reserve(A));
    const full = {
      status: 'deferred',
      retryAt: clock.now() + 2_500,
      waitMs: 2_500,
      delayFrom: 'concurrency',
    };
    expect(await client.reserve(A)).toMatchObject(full);
    first.done();
    first.done();
    const second = booked(await client.reserve(A));
    expect(second.waitMs).toBe(2_500);
    await clock.advance(2_500 + 29_999);
    expect(await client.reserve(A)).toMatchObject({ status: 'deferred', delayFrom: 'concurrency' });
    await clock.advance(1);
    const third = booked(await client.reserve(A));
    expect(third.waitMs).toBe(0);
    second.done();
    expect(await client.reserve(A)).toMatchObject({ status: 'deferred', delayFrom: 'concurrency' });
  });

  it('`done` tells what the page answered: 429 and 503 pause the origin', async () => {
    const { client, clock } = laidDown({ [A]: '' });
    booked(await client.reserve(A)).done({ status: 200, headers: { 'retry-after': '9' } });
    await clock.advance(500);
    booked(await client.reserve(A)).done({ status: 503 });
    const paused = await client.reserve(A, undefined, { maxDelayMs: 1_000 });
    // The random number is 0: the shortest that jitter makes of 30 s.
    expect(paused).toMatchObject({ status: 'deferred', waitMs: 27_000, delayFrom: 'back-off' });
    const after = booked(await client.reserve(A));
    expect([after.waitMs, after.delayFrom]).toEqual([27_000, 'back-off']);
    await clock.advance(27_000);
    after.done({ status: 429, headers: new Headers({ 'retry-after': '9' }) });
    expect(await client.reserve(A)).toMatchObject({ waitMs: 9_000, delayFrom: 'retry-after' });
  });

  it('a disallowed URL has no slot', async () => {
    const { client } = laidDown({ [A]: SLOW });
    await expect(client.reserve(`${A}/private`)).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
      decision: { allowed: false, rule: { line: 3 } },
    });
    expect(booked(await client.reserve(A)).waitMs).toBe(0);
  });

  it('a slot given back is booked again', async () => {
    const { client } = laidDown({ [A]: SLOW });
    booked(await client.reserve(A)).done();
    booked(await client.reserve(A)).release();
    expect(booked(await client.reserve(A)).waitMs).toBe(2_500);
  });

  it('the delay is that of the agent’s own group', async () => {
    const { client } = laidDown({ [A]: `User-agent: OtherBot\nCrawl-delay: 9\n\n${SLOW}` });
    expect(booked(await client.reserve(A, 'OtherBot')).delayMs).toBe(9_000);
  });

  it('concurrent calls for a cold origin request robots.txt once, and get slots of their own', async () => {
    const site = await fakeOrigin({ robots: SLOW });
    const client = new RobotsClient({ agent: 'ExampleBot', clock: virtualClock() });
    closing(site, client);
    const all = await Promise.all(
      [1, 2, 3].map((page) => client.reserve(site.url(`/${page}`), undefined, { concurrency: 3 })),
    );
    expect(all.map((each) => booked(each).waitMs)).toEqual([500, 3_000, 5_500]);
    expect([site.robotsCount, site.pageCount]).toEqual([1, 0]);
  });

  it('while robots.txt is unreachable nothing is booked, and `retryAt` has the time of the next attempt', async () => {
    const site = await fakeOrigin({ robots: { status: 503, headers: { 'retry-after': '120' } } });
    const clock = virtualClock();
    const client = new RobotsClient({ agent: 'ExampleBot', clock });
    closing(site, client);
    await expect(client.reserve(site.url('/'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_UNREACHABLE',
      retryAt: clock.now() + 120_000,
    });
  });

  it.each([
    ['seconds', '30', 30_000],
    ['a date', 'Thu, 15 Jan 2026 12:01:00 GMT', 60_000],
    ['too long', '999999999', 86_400_000],
    ['no time at all', '0', 0],
  ])('a Retry-After that is %s moves the next slot', async (_, retryAfter, waitMs) => {
    const { client } = laidDown({ [A]: '', [B]: '' });
    client.report(`${A}/page`, { reachable: true, retryAfter });
    expect(booked(await client.reserve(A)).waitMs).toBe(waitMs);
    expect(booked(await client.reserve(B)).waitMs).toBe(0);
  });

  it('refuses invalid options', async () => {
    const { client } = laidDown({ [A]: SLOW });
    const call = (options: unknown): Promise<unknown> =>
      Reflect.apply(client.reserve, client, [A, undefined, options]);
    for (const [options, message] of [
      [{ minDelayMs: -1 }, /`minDelayMs` to be a whole number of milliseconds, got "-1" \(number\)/],
      [{ maxDelayMs: '9' }, /`maxDelayMs` to be a whole number of milliseconds, got "9" \(string\)/],
      [{ concurrency: 0 }, /`concurrency` to be a whole number above 0, got "0" \(number\)/],
      [{ backOff: true }, /`backOff` to be false or an object with `firstMs`, `maxMs` and `statuses`/],
      [{ backOff: { firstMs: 0 } }, /`backOff.firstMs` to be a whole number of milliseconds above 0/],
      [
        { backOff: { maxMs: 9 } },
        /`backOff.firstMs` to be no longer than `maxMs`, got 30000 above 9; give both/,
      ],
      [{ delay: 1 }, /only known options, got `delay`/],
      [null, /the options to be an object, got null/],
    ] as const) {
      await expect(call(options)).rejects.toThrow(message);
    }
    const signal = AbortSignal.abort(new Error('left'));
    await expect(client.reserve(A, undefined, { signal })).rejects.toThrow('left');
    expect(booked(await client.reserve(A)).waitMs).toBe(0);
  });

  it('`Request-rate` counts where it asks for more than `Crawl-delay`', async () => {
    const group = (lines: string): string => `User-agent: *\n${lines}\nDisallow: /private\n`;
    const { client } = laidDown({
      'https://rate.example': group('Request-rate: 1/10'),
      'https://both.example': group('Crawl-delay: 20\nRequest-rate: 6/1m'),
      'https://other.example': `${group('Crawl-delay: 1')}\nUser-agent: OtherBot\nRequest-rate: 1/1h\nDisallow:\n`,
    });
    const asked = async (url: string, agent?: string): Promise<unknown> => {
      const { delayMs, delayFrom, done } = booked(await client.reserve(url, agent));
      done();
      return [delayMs, delayFrom];
    };
    expect(await asked('https://rate.example/')).toEqual([10_000, 'request-rate']);
    expect(await asked('https://both.example/')).toEqual([20_000, 'crawl-delay']);
    expect(await asked('https://other.example/')).toEqual([1_000, 'crawl-delay']);
    expect(await asked('https://other.example/', 'OtherBot')).toEqual([3_600_000, 'request-rate']);
  });
});
