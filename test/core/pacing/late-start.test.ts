import { describe, expect, it } from 'vitest';
import { guardFetch, type RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { HOUR } from '../../support/client.ts';
import { ScriptedStore } from '../../support/store.ts';
import { lateClock } from '../../support/late-clock.ts';
import { A, booked, noting, waitForStart } from './support.ts';
import { openedClient } from '../../support/opened.ts';

const DELAY_MS = 2_500;
const SLOW = 'User-agent: *\nCrawl-delay: 2.5\n';
const PAGES = [1, 2, 3, 4, 5];

/** A client over a clock that can jump, and requests that note when they leave. */
function late(options: { readonly store?: boolean } = {}) {
  const clock = lateClock();
  const store = new ScriptedStore({ clock, reserves: true });
  const make = (): RobotsClient => {
    const { robots: client } = openedClient({
      clock,
      overrides: { [A]: { text: SLOW } },
      ...(options.store === true ? { store } : {}),
    });
    return client;
  };
  return { clock, make, ...noting(clock) };
}

describe('a process that wakes up late', () => {
  it('sends one request at once, and the others a delay apart', async () => {
    const { clock, make, fetch, calls } = late();
    const guarded = guardFetch(fetch, make(), { pacing: true });
    const all = Promise.all(PAGES.map((page) => guarded(`${A}/${page}`)));
    await clock.whenWaiting();
    await clock.advance(0);
    await clock.jump(9_000);
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([0, 9_000]);
    await clock.advance(3 * DELAY_MS);
    await all;
    expect(calls).toEqual(
      [0, 9_000, 11_500, 14_000, 16_500].map((at, index) => [`${A}/${PAGES[index]}`, at]),
    );
  });

  it('allows no booking before the requests that wait', async () => {
    const { clock, make, fetch, calls } = late();
    const client = make();
    const guarded = guardFetch(fetch, client, { pacing: true });
    const all = [guarded(`${A}/1`), guarded(`${A}/2`), guarded(`${A}/3`)];
    await clock.whenWaiting();
    const retryAt = clock.now() + 3 * DELAY_MS;
    expect(await client.reserve(A)).toMatchObject({ status: 'deferred', retryAt, delayFrom: 'crawl-delay' });
    await clock.whenWaiting();
    await clock.advance(0);
    await clock.jump(4_000);
    expect(calls).toHaveLength(2);
    await clock.advance(DELAY_MS);
    await Promise.all(all);
    const booking = booked(await client.reserve(A));
    expect([booking.waitMs, booking.delayFrom]).toEqual([DELAY_MS, 'crawl-delay']);
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([0, 4_000, 6_500]);
  });

  it('waits no longer than `maxDelayMs`: a request that would wait longer is deferred', async () => {
    const { clock, make, fetch, calls } = late();
    const client = make();
    const guarded = guardFetch(fetch, client, { pacing: { maxDelayMs: 6_000 } });
    const all = Promise.allSettled([1, 2].map((page) => guarded(`${A}/${page}`)));
    await clock.whenWaiting();
    await clock.advance(0);
    client.report(A, { reachable: true, retryAfter: '60' });
    await clock.advance(DELAY_MS);
    expect((await all)[1]).toMatchObject({ reason: { code: 'ERR_ROBOTS_DEFERRED' } });
    expect(calls).toHaveLength(1);
  });

  it('books another slot of its fleet: those around a missed one belong to others', async () => {
    const { clock, make, fetch, calls } = late({ store: true });
    const ours = guardFetch(fetch, make(), { pacing: true });
    const others = make();
    booked(await others.reserve(A)).done();
    const page = ours(`${A}/1`);
    await clock.whenWaiting();
    // Ours is the slot at 2,500, theirs the one at 5,000.
    expect(booked(await others.reserve(A)).waitMs).toBe(2 * DELAY_MS);
    await clock.advance(0);
    // Half a gap later than its own.
    await clock.jump(DELAY_MS * 1.5 + 1);
    expect(calls).toEqual([]);
    await clock.whenWaiting();
    await clock.advance(3 * DELAY_MS);
    await page;
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([3 * DELAY_MS]);
  });

  it('requests robots.txt again after a long wait, and leaves when it is answered', async () => {
    const clock = lateClock();
    let asked = 0;
    const transport = {
      fetch: async (): Promise<Response> => {
        asked++;
        // The second answer takes its time.
        if (asked === 2) await clock.sleep(1_000, new AbortController().signal);
        return new Response('User-agent: *\nCrawl-delay: 90000\n');
      },
    };
    const { robots: client } = openedClient({ clock, transport });
    const { fetch, calls } = noting(clock);
    const guarded = guardFetch(fetch, client, { pacing: { maxDelayMs: 100_000_000 } });
    const first = guarded(`${A}/`);
    await clock.whenWaiting();
    await clock.advance(500);
    await first;
    const page = guarded(`${A}/`);
    await clock.whenWaiting();
    await clock.advance(90_000_000);
    await clock.whenWaiting();
    await clock.advance(1_000);
    await page;
    expect(asked).toBe(2);
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([500, 90_001_500]);
  });
});

describe('a permit', () => {
  it('learns the pause of its end when the answer told before, which may be of another, asked for none', async () => {
    const { make } = late();
    const client = make();
    const slot = await client.acquirePermit(await client.check(A));
    slot.responded({ status: 200 });
    slot.done({ status: 429, headers: { 'retry-after': '60' } });
    expect(booked(await client.reserve(A)).waitMs).toBe(60_000);
  });
});

describe('a clock that is set back by an hour', () => {
  /** A clock that can be set, over timers that do not care. */
  function settable(source: RobotsClientOptions = { overrides: { [A]: { text: SLOW } } }) {
    const timers = virtualClock();
    let setMs = 0;
    const clock = { now: () => timers.now() + setMs, sleep: timers.sleep };
    const { robots: client } = openedClient({ clock, ...source });
    return { timers, client, set: (ms: number) => void (setMs += ms) };
  }

  it('lengthens no wait: what was left of it when the clock was read last is left', async () => {
    const { timers, client, set } = settable();
    const decision = await client.check(A);
    await waitForStart(client, decision);
    const waiting = waitForStart(client, decision);
    await timers.whenWaiting();
    set(-HOUR);
    await timers.advance(2 * DELAY_MS);
    expect(await waiting).toBeLessThanOrEqual(2 * DELAY_MS);
    expect(booked(await client.reserve(A)).waitMs).toBeLessThanOrEqual(DELAY_MS);
  });

  it('lengthens no pause and no deferral', async () => {
    const { timers, client, set } = settable();
    client.report(A, { reachable: true, retryAfter: '60' });
    await timers.advance(10_000);
    const before = await client.reserve(A, undefined, { maxDelayMs: 0 });
    expect(before).toMatchObject({ status: 'deferred', waitMs: 50_000 });
    set(-HOUR);
    const now = timers.now() - HOUR;
    expect(await client.reserve(A, undefined, { maxDelayMs: 0 })).toMatchObject({
      waitMs: 52_525,
      retryAt: now + 52_525,
    });
    await timers.advance(50_000);
    expect(booked(await client.reserve(A)).waitMs).toBe(0);
  });

  it('keeps no first page waiting for a robots.txt that was fetched by the old time', async () => {
    const { client, set } = settable({ transport: { fetch: async () => new Response(SLOW) } });
    await client.check(A);
    set(-HOUR);
    expect(booked(await client.reserve(A)).waitMs).toBeLessThanOrEqual(DELAY_MS);
  });

  it('and forward by an hour ends the wait', async () => {
    const { timers, client, set } = settable();
    booked(await client.reserve(A)).done();
    set(HOUR);
    expect(booked(await client.reserve(A)).waitMs).toBe(0);
    expect(timers.waiting).toBe(0);
  });
});
