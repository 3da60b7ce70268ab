import { afterEach, describe, expect, it, vi } from 'vitest';
import { guardFetch, RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { paceOf, type RequestPermit } from '../../../src/core/pacing/index.ts';
import { Pacer } from '../../../src/core/pacing/pacer.ts';
import { Starts } from '../../../src/core/pacing/starts.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { HOUR, SECOND } from '../../support/client.ts';
import { ScriptedStore } from '../../support/store.ts';
import { A, booked, decisionFor, laidDown, noting, SLOW } from './support.ts';
import { openedClient, opened } from '../../support/opened.ts';
import { heard } from '../../support/heard.ts';

const turns = async (): Promise<void> => {
  for (let count = 0; count < 5; count++) await new Promise((resolve) => setImmediate(resolve));
};

/** A client whose robots.txt requests are answered and counted here. */
function scripted(respond: (count: number) => Response, options: RobotsClientOptions = {}) {
  const clock = virtualClock();
  const asked: string[] = [];
  const transport = {
    fetch: async (url: string) => {
      asked.push(url);
      return respond(asked.length);
    },
  };
  const { robots: client } = openedClient({ clock, transport, ...options });
  return { client, clock, asked };
}

describe('a deferral', () => {
  it('does not count the wait for earlier requests: 1,000 pages of one site all arrive', async () => {
    const clock = virtualClock({ autoAdvance: true });
    const { robots: client } = openedClient({ clock, overrides: { [A]: { text: '' } } });
    const { fetch, calls } = noting(clock);
    const guarded = guardFetch(fetch, client, { pacing: true });
    await Promise.all(Array.from({ length: 1_000 }, (_, page) => guarded(`${A}/${page}`)));
    expect(calls.map(([, afterMs]) => afterMs)).toEqual(
      Array.from({ length: 1_000 }, (_, page) => page * 500),
    );
  });

  it('counts the wait for a permit of a slow site from when the request is first, and says so', async () => {
    const { client, clock } = laidDown({ [A]: '' });
    const decision = await client.check(`${A}/`);
    await client.acquirePermit(decision);
    const ends: { readonly afterMs: number; readonly error: unknown }[] = [];
    const startedAt = clock.now();
    for (let count = 0; count < 2; count++) {
      void client
        .acquirePermit(decision, { maxDelayMs: 10_000 })
        .catch((error: unknown) => ends.push({ afterMs: clock.now() - startedAt, error }));
    }
    await clock.whenWaiting();
    await clock.advance(9_999);
    expect(ends).toEqual([]);
    await clock.advance(HOUR / 60);
    const deferred = (retryAt: number): object =>
      expect.objectContaining({ code: 'ERR_ROBOTS_DEFERRED', delayFrom: 'concurrency', retryAt });
    expect(ends).toEqual([
      { afterMs: 10_000, error: deferred(startedAt + 10_500) },
      { afterMs: 20_000, error: deferred(startedAt + 20_500) },
    ]);
  });

  it('makes no busy loop of a program that obeys `retryAt` where the site asks for no gap', async () => {
    const { client, clock } = laidDown({ [A]: 'User-agent: *\nCrawl-delay: 0\n' });
    await client.acquirePermit(await client.check(A));
    let tries = 0;
    for (const end = clock.now() + 2_000; clock.now() < end; tries++) {
      const tried = await client.reserve(A, undefined, { maxDelayMs: 0 });
      expect(tried).toMatchObject({ status: 'deferred', delayFrom: 'concurrency' });
      if (tried.status === 'deferred') await clock.advance(tried.retryAt - clock.now());
    }
    expect(tries).toBeLessThanOrEqual(20);
  });

  it('is immediate for a request after others that may not wait as long as the gap', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const decision = await client.check(A);
    await client.acquirePermit(decision);
    const waiting = client.acquirePermit(decision).catch(() => undefined);
    await clock.whenWaiting();
    await expect(client.acquirePermit(decision, { maxDelayMs: 2_499 })).rejects.toMatchObject({
      delayFrom: 'crawl-delay',
      retryAt: clock.now() + 5_000,
    });
    await client.close();
    await waiting;
  });

  it('of the whole wait is for callers that do nothing else meanwhile', async () => {
    const clock = virtualClock();
    const pacer = new Pacer({ clock, random: () => 0, maxOrigins: 4 });
    const decision = decisionFor(A, 1_000);
    const pace = { ...paceOf({}, Infinity), maxTotalWaitMs: 2_500, concurrency: 9 };
    const taken = Array.from({ length: 3 }, async () => pacer.acquire(decision, pace, undefined));
    await clock.whenWaiting();
    await expect((async () => pacer.acquire(decision, pace, undefined))()).rejects.toMatchObject({
      delayFrom: 'crawl-delay',
      retryAt: clock.now() + 3_000,
    });
    // The first request finds the library cold: the next one waits for its header.
    (await taken[0]!).responded({ status: 200 });
    await clock.advance(2_000);
    expect((await Promise.all(taken)).map(({ waitedMs }) => waitedMs)).toEqual([0, 1_000, 2_000]);
  });

  it('of the whole wait comes at its end also for a request after others that wait for a permit', async () => {
    const clock = virtualClock();
    const pacer = new Pacer({ clock, random: () => 0, maxOrigins: 4 });
    const decision = decisionFor(A, 0);
    const pace = paceOf({}, Infinity);
    const acquired = async (maxTotalWaitMs: number) =>
      pacer.acquire(decision, { ...pace, maxTotalWaitMs }, undefined);
    const first = await acquired(Infinity);
    const second = acquired(Infinity);
    const deferred = expect(acquired(2_000)).rejects.toMatchObject({ delayFrom: 'concurrency' });
    await clock.advance(2_000);
    await deferred;
    first.done();
    expect((await second).waitedMs).toBe(2_000);
  });
});

describe('robots.txt belongs to its origin', () => {
  it.each([429, 503])('its %i with `Retry-After` pauses the pages', async (status) => {
    const robots = [
      new Response('User-agent: *\nDisallow: /private\n'),
      new Response(null, { status, headers: { 'retry-after': '120' } }),
    ];
    const { client, clock } = scripted(() => robots.shift()!);
    await client.check(A);
    await clock.advance(25 * HOUR);
    // The last good copy serves.
    expect(await client.check(A)).toMatchObject({ allowed: true, state: 'last-good' });
    expect(await client.reserve(A, undefined, { maxDelayMs: 0 })).toMatchObject({
      status: 'deferred',
      delayFrom: 'retry-after',
      waitMs: 120_000,
    });
  });

  it('is not requested in a pause of the pages: what is known serves, past its lifetime, too', async () => {
    const { client, clock, asked } = scripted(() => new Response('User-agent: *\nDisallow: /private\n'));
    await client.check(A);
    await clock.advance(23.5 * HOUR);
    client.report(A, { reachable: true, retryAfter: String(2 * 60 * 60) });
    await turns();
    for (let minutes = 0; minutes < 119; minutes += 7) {
      expect(await client.check(`${A}/private`)).toMatchObject({ allowed: false, reason: 'rule' });
      expect(await client.check(`${A}/page`)).toMatchObject({ allowed: true, reason: 'no-rule' });
      expect((await client.policy(A)).file).toBeDefined();
      await clock.advance(7 * 60 * SECOND);
    }
    expect(asked).toHaveLength(1);
    await clock.advance(2 * 60 * SECOND);
    await client.check(`${A}/page`);
    expect(asked).toHaveLength(2);
  });

  it('is requested once in a pause, where nothing is known', async () => {
    const { client, clock, asked } = scripted(() => new Response(null, { status: 503 }));
    client.report(A, { reachable: true, retryAfter: String(60 * 60) });
    await turns();
    for (let minutes = 0; minutes < 60; minutes++) {
      expect((await client.check(A)).allowed).toBe(false);
      await clock.advance(59 * SECOND);
    }
    expect(asked).toHaveLength(1);
  });

  it('is said to be requested again when the pause ends: no time that has passed', async () => {
    const HTTP = 'http://a.example';
    let count = 0;
    const { client, clock, asked } = scripted(() => {
      count++;
      if (count === 1) return new Response(null, { status: 301, headers: { location: `${A}/robots.txt` } });
      if (count === 2) return new Response(null, { status: 503, headers: { 'retry-after': '3600' } });
      throw new TypeError('fetch failed');
    });
    const first = await client.check(HTTP);
    await turns();
    await clock.advance(60 * SECOND);
    // Where nothing is known, it is requested once.
    const retryAt = clock.now() + 3_540 * SECOND;
    for (const origin of [A, HTTP, A, HTTP]) {
      const decision = await client.check(`${origin}/`);
      expect(decision).toMatchObject({ allowed: false, reason: 'unreachable', retryAt });
      expect(await client.policy(origin)).toMatchObject({ retryAt, nextAttempt: { at: retryAt } });
      await expect(guardFetch(fetch, client)(origin)).rejects.toMatchObject({ retryAt });
      await clock.advance(40 * SECOND);
    }
    expect(first).toMatchObject({ retryAt });
    expect(asked.length).toBeLessThanOrEqual(3);
  });

  it('of the store serves in a pause, though it is stale', async () => {
    const clock = virtualClock();
    const store = new ScriptedStore({ clock });
    const first = scripted(() => new Response('User-agent: *\nDisallow: /private\n'), { store, clock });
    await first.client.check(A);
    await first.client.close();
    await clock.advance(25 * HOUR);
    const second = scripted(() => new Response(''), { store, clock });
    second.client.report(A, { reachable: true, retryAfter: '600' });
    await turns();
    expect(await second.client.check(`${A}/private`)).toMatchObject({ allowed: false, reason: 'rule' });
    expect(second.asked).toEqual([]);
  });
});

describe('a pause', () => {
  it('is published once, though later responses lengthen it', async () => {
    const { client, clock } = laidDown({ [A]: 'User-agent: *\nCrawl-delay: 0\n' });
    const published = heard('canfetch:pause');
    const permits = await Promise.all(
      [10, 30, 20].map(async (seconds) => {
        const permit = await client.acquirePermit(await client.check(A), { concurrency: 3 });
        return { permit, retryAfter: String(seconds) };
      }),
    );
    for (const { permit, retryAfter } of permits) {
      permit.done({ status: 429, headers: { 'retry-after': retryAfter } });
    }
    expect(published).toMatchObject([{ origin: A, status: 429, until: clock.now() + 10_000 }]);
    expect((await client.policy(A)).pacing?.pause?.until).toBe(clock.now() + 30_000);
  });

  it.each([
    ['two lines of undici', { 'retry-after': ['60', '20'] }],
    ['a date and seconds', { 'retry-after': ['5', 'Thu, 15 Jan 2026 12:01:00 GMT'] }],
    ['one that is unusable', { 'retry-after': 'soon, 60' }],
  ])('is the longest that `Retry-After` names: %s', async (_, headers) => {
    const { client } = laidDown({ [A]: '' });
    booked(await client.reserve(A)).done({ status: 503, headers });
    expect(await client.reserve(A, undefined, { maxDelayMs: 0 })).toMatchObject({ waitMs: 60_000 });
  });

  it.each([
    ['a 403', { status: 403 }],
    ['a 999', { status: 999 }],
    ['a challenge', { status: 200, headers: { 'cf-mitigated': 'challenge' } }],
    ['a 403 with `Retry-After`', { status: 403, headers: { 'retry-after': '27' } }],
  ])('follows %s only with `pauseOnRefusal`', async (_, response) => {
    const { client, clock } = laidDown({ [A]: '' });
    booked(await client.reserve(A)).done(response);
    await clock.advance(500);
    booked(await client.reserve(A, undefined, { pauseOnRefusal: true })).done(response);
    const pauseOnRefusal = { maxDelayMs: 1_000, pauseOnRefusal: true };
    expect(await client.reserve(A, undefined, pauseOnRefusal)).toMatchObject({
      status: 'deferred',
      waitMs: 27_000,
    });
  });
});

describe('reserve', () => {
  it('books as many starts ahead of their time as `ahead` says, whatever `concurrency` is', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const ahead = { ahead: 3 };
    const bookings = [];
    for (let count = 0; count < 4; count++) bookings.push(booked(await client.reserve(A, undefined, ahead)));
    expect(bookings.map(({ waitMs }) => waitMs)).toEqual([0, 2_500, 5_000, 7_500]);
    expect(await client.reserve(A, undefined, ahead)).toMatchObject({
      status: 'deferred',
      delayFrom: 'crawl-delay',
      retryAt: clock.now() + 2_500,
    });
    await clock.advance(2_500);
    // None has ended.
    expect(booked(await client.reserve(A, undefined, ahead)).waitMs).toBe(7_500);
    await expect(client.reserve(A, undefined, { ahead: 0 })).rejects.toThrow(/`ahead` to be a whole number/);
  });

  it('keeps no booking ahead that has expired, so that a program that never calls `done` needs no memory', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    const acquired = vi.spyOn(Starts.prototype, 'start');
    for (let count = 0; count < 100; count++) {
      booked(await client.reserve(A, undefined, { ahead: 2 }));
      await clock.advance(2_500);
    }
    const [starts] = acquired.mock.contexts as Starts[];
    const held = acquired.mock.calls.filter(([permit]) => starts!.release(permit));
    acquired.mockRestore();
    // Those of the last 30 seconds.
    expect(held).toHaveLength(12);
  });

  it.each([429, 403])(
    'learns of one %i once, though header and body are reported at different times',
    async (status) => {
      const { client, clock } = laidDown({ [A]: '' });
      const permit = await client.acquirePermit(await client.check(A), { pauseOnRefusal: true });
      const response = { status, headers: { 'retry-after': '60' } };
      permit.responded(response);
      await clock.advance(5_000);
      permit.responded(response);
      permit.done(response);
      expect(await client.reserve(A, undefined, { maxDelayMs: 0 })).toMatchObject({ waitMs: 55_000 });
    },
  );
});

describe('`policy(url).pacing`', () => {
  it('has who waits, what is in flight, and when the next request may start', async () => {
    const { client, clock } = laidDown({ [A]: SLOW });
    expect((await client.policy(A)).pacing).toBeUndefined();
    const decision = await client.check(`${A}/1`);
    const permit = await client.acquirePermit(decision);
    const startedAt = clock.now();
    const waiting = [2, 3].map(() => client.acquirePermit(decision).catch(() => undefined));
    await clock.whenWaiting();
    expect((await client.policy(A)).pacing).toEqual({
      scope: 'a.example',
      waiting: 2,
      inFlight: [{ url: `${A}/1`, startedAt }],
      nextAt: startedAt + 7_500,
      drainsAt: startedAt + 5_000,
      gapMs: 2_500,
      delayFrom: 'crawl-delay',
    });
    expect(client.stats().pacing).toEqual({ waiting: 2, inFlight: 1, paused: 0 });
    await clock.advance(10_000);
    expect((await client.policy(A)).pacing).toMatchObject({ delayFrom: 'concurrency' });
    permit.done({ status: 429 });
    expect((await client.policy(A)).pacing).toMatchObject({
      inFlight: [],
      delayFrom: 'back-off',
      pause: { status: 429, until: clock.now() + 27_000 },
    });
    expect(client.stats().pacing).toMatchObject({ paused: 1 });
    await client.close();
    await Promise.all(waiting);
  });
});

describe('a permit', () => {
  it('lasts as long as the body is read, and ends 30 s after the last part', async () => {
    const { client, clock } = laidDown({ [A]: 'User-agent: *\nCrawl-delay: 0\n' });
    const decision = await client.check(A);
    const permit = await client.acquirePermit(decision);
    permit.responded({ status: 200 });
    const next = client.acquirePermit(decision).then((given) => given.waitedMs);
    await clock.whenWaiting();
    for (let part = 0; part < 5; part++) {
      await clock.advance(20_000);
      permit.bodyRead();
    }
    await clock.advance(40_000);
    expect(await next).toBe(130_000);
  });
});

describe('a `Date` that stands still', () => {
  it('holds nothing up longer than the wait that was computed', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 15, 12) });
    try {
      const client = opened(
        new RobotsClient({
          agent: 'ExampleBot',
          overrides: { [A]: { text: '' }, 'https://b.example': { text: '' } },
        }),
      );
      const startedAt = performance.now();
      const fetch = async (): Promise<Response> => new Response(null);
      const guarded = guardFetch(fetch as typeof globalThis.fetch, client, {
        pacing: { defaultDelayMs: 40 },
      });
      const other = guardFetch(fetch as typeof globalThis.fetch, client, { pacing: { defaultDelayMs: 25 } });
      await Promise.all([
        ...[1, 2, 3, 4].map((page) => guarded(`${A}/${page}`)),
        ...[1, 2, 3, 4].map((page) => other(`https://b.example/${page}`)),
      ]);
      // By its timers; a frozen clock would hold the second request for ever.
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(3 * 40 - 5);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a clock over timers that it does not move', () => {
  /** A pacer with a clock that shows `shown.at`, in virtual time. */
  function shown() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const shown = { at: Date.UTC(2026, 0, 15, 12) };
    const pacer = new Pacer({ clock: { now: () => shown.at }, random: () => 0, maxOrigins: 4 });
    const acquire = async (delayMs: number, signal?: AbortSignal): Promise<RequestPermit> => {
      const permit = await pacer.acquire(decisionFor(A, delayMs), paceOf({}, Infinity), signal);
      return permit;
    };
    return { shown, acquire };
  }

  afterEach(() => void vi.useRealTimers());

  it('stands still: a wait that was interrupted goes on, and does not begin again', async () => {
    const { acquire } = shown();
    (await acquire(1_000)).done();
    const leaving = new AbortController();
    const left = expect(acquire(1_000, leaving.signal)).rejects.toThrow('left');
    const next = acquire(1_000);
    await vi.advanceTimersByTimeAsync(900);
    leaving.abort(new Error('left'));
    await left;
    await vi.advanceTimersByTimeAsync(100);
    expect((await next).waitedMs).toBe(1_000);
  });
});
