import { describe, expect, it } from 'vitest';
import { type PacingOptions, RobotsClient } from '../../src/index.ts';
import { fakeOrigin, virtualClock } from '../../src/testing/index.ts';
import { A, B, booked, closing, laidDown, SLOW } from '../pacing/support.ts';

describe('reserve', () => {
  it('books at once and returns the wait', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const all = await Promise.all([1, 2, 3].map((page) => client.reserve(`${A}/${page}`)));
    expect(all.map((each) => booked(each).waitMs)).toEqual([0, 2_500, 5_000]);
    expect(all[1]).toMatchObject({
      status: 'booked',
      at: clock.now() + 2_500,
      delayMs: 2_500,
      delayFrom: 'crawl-delay',
      decision: { allowed: true, crawlDelayMs: 2_500, url: `${A}/2` },
    });
    await clock.advance(6_000);
    expect(booked(await client.reserve(`${A}/4`)).waitMs).toBe(1_500);
  });

  it('the caller’s least delay counts where the site asks for less; it never shortens', async () => {
    const { client } = laidDown({ [A]: SLOW, [B]: '' });
    const of = async (url: string, options: PacingOptions): Promise<unknown> => {
      const { delayMs, delayFrom } = booked(await client.reserve(url, undefined, options));
      return [delayMs, delayFrom];
    };
    expect(await of(A, { minDelayMs: 4_000 })).toEqual([4_000, 'min-delay']);
    expect(await of(A, { minDelayMs: 1_000 })).toEqual([2_500, 'crawl-delay']);
    expect(await of(B, { minDelayMs: 1_000 })).toEqual([1_000, 'min-delay']);
    expect(await of(B, {})).toEqual([0, 'none']);
  });

  it('beyond `maxDelayMs` nothing is booked, and `retryAt` has the time', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    await client.reserve(A);
    for (let time = 0; time < 2; time++) {
      const deferred = await client.reserve(A, undefined, { maxDelayMs: 2_499 });
      expect(deferred).toMatchObject({ status: 'deferred', retryAt: clock.now() + 2_500, waitMs: 2_500 });
    }
    await clock.advance(2_500);
    expect(booked(await client.reserve(A, undefined, { maxDelayMs: 0 })).waitMs).toBe(0);
  });

  it('a disallowed URL has no slot', async () => {
    const { client } = laidDown({ [A]: SLOW });
    expect(await client.reserve(`${A}/private`)).toMatchObject({
      status: 'refused',
      decision: { allowed: false },
    });
    expect(booked(await client.reserve(A)).waitMs).toBe(0);
  });

  it('a slot given back is booked again', async () => {
    const { client } = laidDown({ [A]: SLOW });
    await client.reserve(A);
    booked(await client.reserve(A)).release();
    expect(booked(await client.reserve(A)).waitMs).toBe(2_500);
  });

  it('origins are paced by themselves', async () => {
    const { client } = laidDown({ [A]: SLOW, [B]: SLOW });
    await client.reserve(A);
    expect(booked(await client.reserve(B)).waitMs).toBe(0);
  });

  it('the delay is that of the agent’s own group', async () => {
    const { client } = laidDown({ [A]: `User-agent: OtherBot\nCrawl-delay: 9\n\n${SLOW}` });
    expect(booked(await client.reserve(A, 'OtherBot')).delayMs).toBe(9_000);
  });

  it('the request for robots.txt takes a slot, too', async () => {
    const site = await fakeOrigin({ robots: SLOW });
    const clock = virtualClock();
    const client = new RobotsClient({ agent: 'ExampleBot', clock });
    closing(site, client);
    expect(booked(await client.reserve(site.origin)).waitMs).toBe(2_500);
    await clock.advance(10_000);
    expect(booked(await client.reserve(site.origin)).waitMs).toBe(0);
  });

  it('concurrent calls for a cold origin request robots.txt once, and get slots of their own', async () => {
    const site = await fakeOrigin({ robots: SLOW });
    const client = new RobotsClient({ agent: 'ExampleBot', clock: virtualClock() });
    closing(site, client);
    const all = await Promise.all([1, 2, 3].map((page) => client.reserve(site.url(`/${page}`))));
    expect(all.map((each) => booked(each).waitMs)).toEqual([2_500, 5_000, 7_500]);
    expect([site.robotsCount, site.pageCount]).toEqual([1, 0]);
  });

  it('while robots.txt is unreachable nothing is booked, and `retryAt` has the time of the next attempt', async () => {
    const site = await fakeOrigin({ robots: { status: 503, headers: { 'retry-after': '120' } } });
    const clock = virtualClock();
    const client = new RobotsClient({ agent: 'ExampleBot', clock });
    closing(site, client);
    const refused = await client.reserve(site.url('/'));
    expect(refused).toMatchObject({ status: 'refused', retryAt: clock.now() + 120_000 });
  });

  it.each([
    ['seconds', '30', 30_000],
    ['a date', 'Thu, 15 Jan 2026 12:01:00 GMT', 60_000],
    ['too long', '999999999', 86_400_000],
    ['too short', '0', 1_000],
    ['unreadable', 'soon', 0],
    ['negative', '-5', 0],
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
      const { delayMs, delayFrom } = booked(await client.reserve(url, agent));
      return [delayMs, delayFrom];
    };
    expect(await asked('https://rate.example/')).toEqual([10_000, 'request-rate']);
    expect(await asked('https://both.example/')).toEqual([20_000, 'crawl-delay']);
    expect(await asked('https://other.example/')).toEqual([1_000, 'crawl-delay']);
    expect(await asked('https://other.example/', 'OtherBot')).toEqual([3_600_000, 'request-rate']);
  });
});
