import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Agent as HttpAgent } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import got from 'got';
import { Agent, buildConnector, fetch as undiciFetch } from 'undici';
import { describe, expect, it } from 'vitest';
import { gotHooks } from '../../../src/guards/got/got.ts';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { HOUR } from '../../support/client.ts';
import { ScriptedStore } from '../../support/store.ts';
import { opened, openedSite } from '../../support/opened.ts';
import { lateClock } from '../../support/late-clock.ts';
import { A, booked, closing, noting, waitForStart } from './support.ts';

const DELAY_MS = 2_500;
/** Almost the gap of the test that uses it. */
const CONNECTING_MS = 900;
const SLOW = 'User-agent: *\nCrawl-delay: 2.5\n';
const PAGES = [1, 2, 3, 4, 5];

/** A client over a clock that can jump, and requests that note when they leave. */
function late(options: { readonly store?: boolean } = {}) {
  const clock = lateClock();
  const store = new ScriptedStore({ clock, reserves: true });
  const make = (): RobotsClient => {
    const client = new RobotsClient({
      agent: 'ExampleBot',
      clock,
      random: () => 0,
      overrides: { [A]: { text: SLOW } },
      ...(options.store === true ? { store } : {}),
    });
    closing(client);
    return client;
  };
  return { clock, make, ...noting(clock) };
}

/** Makes the first connection slow. */
function slowAtFirst<Rest extends unknown[]>(connect: (...rest: Rest) => void): (...rest: Rest) => void {
  let made = 0;
  return (...rest) => void setTimeout(() => connect(...rest), made++ === 0 ? CONNECTING_MS : 0);
}

const gapsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((time, index) => time - (times[index] ?? 0));

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

  it('a late request moves the following ones no further than needed', async () => {
    const { clock, make, fetch, calls } = late();
    const client = make();
    const guarded = guardFetch(fetch, client, { pacing: true });
    const first = [guarded(`${A}/1`), guarded(`${A}/2`)];
    await clock.whenWaiting();
    await clock.advance(0);
    await clock.jump(3_000);
    await Promise.all(first);
    const third = guarded(`${A}/3`);
    await clock.whenWaiting();
    await clock.advance(DELAY_MS);
    await third;
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([0, 3_000, 5_500]);
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

  it('publishes the deferral of a request whose slot is lost after it was taken', async () => {
    const { clock, make } = late();
    const client = make();
    const published: unknown[] = [];
    const note = (message: unknown): void => void published.push(message);
    subscribe('canfetch:deferred', note);
    try {
      const decision = await client.check(`${A}/1`);
      const slot = await client.acquirePermit(decision, { maxDelayMs: 6_000 });
      client.report(A, { reachable: true, retryAfter: '60' });
      expect(slot.tryStart()).toBe(false);
      const refusal = await slot.start().catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: 'ERR_ROBOTS_DEFERRED', decision });
      const retryAt = clock.now() + 60_000;
      expect(refusal).toMatchObject({ retryAt, delayFrom: 'retry-after' });
      expect(published).toEqual([{ decision, retryAt, delayFrom: 'retry-after', client }]);
    } finally {
      unsubscribe('canfetch:deferred', note);
    }
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
    await clock.jump(2_600);
    expect(calls).toEqual([]);
    await clock.whenWaiting();
    await clock.advance(3 * DELAY_MS);
    await page;
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([3 * DELAY_MS]);
  });

  it('keeps the delay for a client whose `waitForSlot` is used by itself', async () => {
    const { clock, make } = late();
    const client = make();
    const decision = await client.check(A);
    const left: number[] = [];
    const all = Promise.all(
      PAGES.map(() => waitForStart(client, decision).then(() => left.push(clock.now()))),
    );
    await clock.whenWaiting();
    await clock.advance(0);
    await clock.jump(20_000);
    await clock.advance(3 * DELAY_MS);
    await all;
    expect(Math.min(...gapsOf(left))).toBe(DELAY_MS);
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
    const client = new RobotsClient({ agent: 'ExampleBot', clock, random: () => 0, transport });
    closing(client);
    const { fetch, calls } = noting(clock);
    const page = guardFetch(fetch, client, { pacing: { maxDelayMs: 100_000_000 } })(`${A}/`);
    await clock.whenWaiting();
    await clock.advance(90_000_000);
    await clock.whenWaiting();
    await clock.advance(1_000);
    await page;
    expect(asked).toBe(2);
    expect(calls.map(([, afterMs]) => afterMs)).toEqual([90_001_000]);
  });

  it('counts the gap from when a request was sent, though its start was held up in the same turn', async () => {
    const client = new RobotsClient({ agent: 'ExampleBot', overrides: { [A]: { text: '' } } });
    closing(client);
    const sentAt: number[] = [];
    const fetch = async (): Promise<Response> => {
      setImmediate(() => sentAt.push(performance.now()));
      // A page is parsed before the request reaches its socket.
      for (const end = performance.now() + 60 * (sentAt.length % 2); performance.now() < end;);
      return new Response('a page');
    };
    const guarded = guardFetch(fetch as typeof globalThis.fetch, client, { pacing: { defaultDelayMs: 80 } });
    await Promise.all(PAGES.map((page) => guarded(`${A}/${page}`)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(sentAt).toHaveLength(PAGES.length);
    expect(Math.min(...gapsOf(sentAt))).toBeGreaterThanOrEqual(50);
  });

  const AGENT = { agent: 'ExampleBot' };
  const pacing = { defaultDelayMs: 1_000, concurrency: 2 };

  it.each<[string, (client: RobotsClient) => (url: string) => Promise<unknown>]>([
    [
      'undici',
      (client) => {
        const dispatcher = new Agent({ connect: slowAtFirst(buildConnector({})) });
        opened({ [Symbol.asyncDispose]: () => dispatcher.destroy() });
        const guarded = guardFetch(undiciFetch, client, { pacing });
        return async (url) => (await guarded(url, { dispatcher })).text();
      },
    ],
    [
      'node:http',
      (client) => {
        const agent = new HttpAgent();
        const connect = slowAtFirst((to: object, done: (error: Error | null, socket: Socket) => void) =>
          done(null, createConnection(to as never)),
        );
        Object.assign(agent, { createConnection: (to: object, done: never) => void connect(to, done) });
        opened({ [Symbol.asyncDispose]: async () => agent.destroy() });
        return got.extend(gotHooks(client, { pacing }), { agent: { http: agent as never } });
      },
    ],
  ])(
    'counts the gap from when %s has sent the request, though it was long in connecting',
    async (_, make) => {
      const cameAt: number[] = [];
      const site = await openedSite((_request, response) => {
        cameAt.push(performance.now());
        response.end('a page');
      });
      const client = new RobotsClient({ ...AGENT, overrides: { [site.origin]: { text: '' } } });
      closing(client);
      const get = make(client);
      await Promise.all([1, 2].map((page) => get(site.url(`/${page}`))));
      // The site may be late in reading the first: it shares the process.
      expect(Math.min(...gapsOf(cameAt))).toBeGreaterThanOrEqual(300);
    },
  );

  it('keeps the delay with a real clock and a blocked event loop, too', async () => {
    // The clock stands still within a callback: a slot is checked and its request sent at one time. How long that takes
    // is up to the machine.
    let calledAt: number | undefined;
    const now = (): number => {
      if (calledAt === undefined) process.nextTick(() => (calledAt = undefined));
      return (calledAt ??= Date.now());
    };
    const clock = { now };
    const client = new RobotsClient({ agent: 'ExampleBot', clock, overrides: { [A]: { text: '' } } });
    closing(client);
    const left: number[] = [];
    const fetch = (): Promise<Response> => {
      left.push(now());
      return Promise.resolve(new Response('a page'));
    };
    const pacing = { defaultDelayMs: 40 };
    const guarded = guardFetch(fetch as typeof globalThis.fetch, client, { pacing });
    const all = Promise.all(Array.from({ length: 8 }, (_, page) => guarded(`${A}/${page}`)));
    const block = new Int32Array(new SharedArrayBuffer(4));
    setTimeout(() => Atomics.wait(block, 0, 0, 250), 60);
    await all;
    expect(left).toHaveLength(8);
    expect(Math.min(...gapsOf(left))).toBeGreaterThanOrEqual(40);
  });
});

describe('a slot that was taken for a request that leaves later', () => {
  it('is checked when it leaves, and free again when it does not', async () => {
    const { clock, make } = late();
    const client = make();
    const decision = await client.check(A);
    const two = { concurrency: 2 };
    const [first, second] = [await client.acquirePermit(decision, two), client.acquirePermit(decision, two)];
    await clock.whenWaiting();
    await clock.advance(DELAY_MS);
    const left: number[] = [];
    const leaving = [await second, first].map((slot) => slot.start().then(() => left.push(clock.now())));
    await clock.whenWaiting();
    await clock.advance(DELAY_MS);
    await Promise.all(leaving);
    expect(gapsOf(left)).toEqual([DELAY_MS]);
    for (const slot of [first, await second]) slot.done();
    const third = client.acquirePermit(decision);
    await clock.whenWaiting();
    await clock.advance(DELAY_MS);
    (await third).release();
    expect(await waitForStart(client, decision)).toBe(0);
  });

  it('leaves once only', async () => {
    const { make } = late();
    const client = make();
    const slot = await client.acquirePermit(await client.check(A));
    await slot.start();
    await slot.start();
    slot.release();
    expect(await client.reserve(A)).toMatchObject({ status: 'deferred', delayFrom: 'concurrency' });
    slot.done();
    slot.done();
    expect(booked(await client.reserve(A)).waitMs).toBe(DELAY_MS);
  });

  it.each([
    ['`Headers`', new Headers({ 'retry-after': '60' })],
    ['an object', { 'retry-after': '60' }],
  ])('learns the pause of its answer, once, from %s', async (_, headers) => {
    const { make } = late();
    const client = make();
    const slot = await client.acquirePermit(await client.check(A));
    await slot.start();
    slot.responded({ status: 429, headers });
    slot.done({ status: 429, headers: { 'retry-after': '90' } });
    expect(booked(await client.reserve(A)).waitMs).toBe(60_000);
  });

  it('learns the pause of its end when the answer told before, which may be of another, asked for none', async () => {
    const { make } = late();
    const client = make();
    const slot = await client.acquirePermit(await client.check(A));
    await slot.start();
    slot.responded({ status: 200 });
    slot.done({ status: 429, headers: { 'retry-after': '60' } });
    expect(booked(await client.reserve(A)).waitMs).toBe(60_000);
  });

  it('learns nothing after its end with a status', async () => {
    const { make } = late();
    const client = make();
    const slot = await client.acquirePermit(await client.check(A));
    await slot.start();
    slot.done({ status: 200 });
    slot.done({ status: 429, headers: { 'retry-after': '60' } });
    expect(booked(await client.reserve(A)).waitMs).toBe(DELAY_MS);
  });
});

describe('a clock that is set back by an hour', () => {
  /** A clock that can be set, over timers that do not care. */
  function settable() {
    const timers = virtualClock();
    let setMs = 0;
    const clock = { now: () => timers.now() + setMs, sleep: timers.sleep };
    const client = new RobotsClient({
      agent: 'ExampleBot',
      clock,
      random: () => 0,
      overrides: { [A]: { text: SLOW } },
    });
    closing(client);
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
      waitMs: 52_500,
      retryAt: now + 52_500,
    });
    await timers.advance(50_000);
    expect(booked(await client.reserve(A)).waitMs).toBe(0);
  });

  it('keeps no first page waiting for a robots.txt that was fetched by the old time', async () => {
    const timers = virtualClock();
    let setMs = 0;
    const clock = { now: () => timers.now() + setMs, sleep: timers.sleep };
    const transport = { fetch: async () => new Response(SLOW) };
    const client = new RobotsClient({ agent: 'ExampleBot', clock, random: () => 0, transport });
    closing(client);
    await client.check(A);
    setMs = -HOUR;
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
