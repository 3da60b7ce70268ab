// Loaded before any time is counted.
import '../../../src/core/fetch/index.ts';
import { describe, expect, it } from 'vitest';
import type { FetchFunction, RobotsClientOptions, RobotsStore } from '../../../src/index.ts';
import { SECOND } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { ScriptedStore } from '../../support/store.ts';
import { type Process, RULES, settled, siteWith, startClock, startProcess } from './store-support.ts';

function setUp() {
  const clock = startClock();
  return { clock, store: new ScriptedStore({ clock }) };
}

/** A fleet whose members all have what they need to wait for each other. */
function startFleet(
  size: number,
  store: RobotsStore,
  clock: ReturnType<typeof startClock>,
  options?: RobotsClientOptions,
): readonly Process[] {
  return Array.from({ length: size }, () => startProcess(store, clock, options));
}

/**
 * Time that moves on for those who wait, but stands while an answer is on its way: how long that takes is the
 * machine's affair, and no lease is to run out by it.
 */
function timeBetweenRequests() {
  const clock = startClock();
  let underWay = 0;
  const fetchWhileTimeStands: FetchFunction = async (url, init) => {
    underWay++;
    try {
      const { status, headers, body } = await fetch(url, init);
      return new Response(body === null ? null : await new Response(body).arrayBuffer(), { status, headers });
    } finally {
      underWay--;
    }
  };
  async function passingFor<Value>(work: Promise<Value>): Promise<Value> {
    const course = { ended: false };
    const end = (): void => void (course.ended = true);
    work.then(end, end);
    while (!course.ended) {
      await settled();
      if (underWay === 0) await clock.advance(10);
    }
    return work;
  }
  return { clock, transport: { fetch: fetchWhileTimeStands }, passingFor };
}

describe('a fleet over one store with leases', () => {
  it('requests each cold origin once, with any kind of answer', async () => {
    const { clock, transport, passingFor } = timeBetweenRequests();
    const store = new ScriptedStore({ clock });
    const sites = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        siteWith([RULES, { status: 404 }, { status: 503 }, { fault: 'reset' } as const][index % 4]!),
      ),
    );
    const fleet = startFleet(8, store, clock, { transport, concurrency: 4, storeDeadlineMs: 10_000 });
    const answers = await passingFor(
      Promise.all(
        fleet.map(({ robots }) => Promise.all(sites.map((site) => robots.canFetch(site.url('/private'))))),
      ),
    );
    const expected = sites.map((_, index) => index % 4 === 1);
    expect(answers).toEqual(fleet.map(() => expected));
    // A `fetch` may meet a connection that a site has closed, so what was reset is sent once more.
    expect(sites.map((site) => site.robotsCount)).toEqual(sites.map((_, index) => (index % 4 === 3 ? 2 : 1)));
    expect(fleet.flatMap(({ received }) => received)).toEqual([]);
    const total = fleet.reduce((sum, { robots }) => sum + robots.stats().attempts, 0);
    expect(total).toBe(sites.length);
  });

  it('requests once also when the answer is stale in every process', async () => {
    const { clock, transport, passingFor } = timeBetweenRequests();
    const store = new ScriptedStore({ clock });
    const site = await siteWith([RULES, 'User-agent: *\nDisallow: /']);
    const fleet = startFleet(5, store, clock, { transport, storeDeadlineMs: 10_000 });
    const ask = (): Promise<boolean[]> =>
      passingFor(Promise.all(fleet.map(({ robots }) => robots.canFetch(site.url('/')))));
    expect(await ask()).toEqual(Array(5).fill(true));
    await clock.advance(25 * 60 * 60 * SECOND);
    expect(await ask()).toEqual(Array(5).fill(false));
    expect(site.robotsCount).toBe(2);
  });

  it('without leases each process sends its own request', async () => {
    const clock = startClock();
    const store = new ScriptedStore({ clock, leases: false });
    const site = await siteWith({ fault: 'hang' });
    const fleet = startFleet(3, store, clock);
    const asked = Promise.allSettled(fleet.map(({ robots }) => robots.canFetch(site.url('/'))));
    await site.whenRequested('/robots.txt', 3);
    await Promise.all(fleet.map(({ robots }) => robots.close()));
    await asked;
  });
});

describe('a lease', () => {
  const ttlOf = async (options: RobotsClientOptions): Promise<readonly number[]> => {
    const { clock, store } = setUp();
    const site = await siteWith();
    await startProcess(store, clock, options).robots.canFetch(site.url('/'));
    return store.leaseTtls;
  };

  it('lasts two seconds longer than an attempt, and 30 s at most', async () => {
    expect(await ttlOf({})).toEqual([12_000]);
    expect(await ttlOf({ deadlineMs: 3_000 })).toEqual([5_000]);
    expect(await ttlOf({ deadlineMs: 60_000 })).toEqual([30_000]);
  });

  it('is released when the record is written, not before', async () => {
    const { clock, store } = setUp();
    store.fail('late', 'set');
    const site = await siteWith();
    const { robots } = startProcess(store, clock, { storeDeadlineMs: 60_000 });
    expect(await robots.canFetch(site.url('/'))).toBe(true);
    await settled();
    expect([store.count('set'), store.count('release')]).toEqual([1, 0]);
    store.proceed();
    await settled();
    expect([store.entries.size, store.count('release')]).toEqual([1, 1]);
  });

  it('is released also when the record cannot be written', async () => {
    const { clock, store } = setUp();
    store.fail('reject', 'set');
    const site = await siteWith();
    const { robots } = startProcess(store, clock);
    await robots.canFetch(site.url('/'));
    await settled();
    expect(store.count('release')).toBe(1);
  });

  it('is released when all callers have aborted, and when the client is closed', async () => {
    const { clock, store } = setUp();
    const sites = await Promise.all([1, 2].map(() => siteWith({ fault: 'hang' })));
    const { robots } = startProcess(store, clock);
    const leaving = new AbortController();
    const both = Promise.allSettled([
      robots.canFetch(sites[0]!.url('/'), undefined, { signal: leaving.signal }),
      robots.canFetch(sites[1]!.url('/')),
    ]);
    await Promise.all(sites.map((site) => site.whenRequested('/robots.txt')));
    leaving.abort();
    await settled();
    expect(store.count('release')).toBe(1);
    await robots.close();
    expect(store.count('release')).toBe(2);
    expect(store.entries.size).toBe(0);
    await both;
  });

  it('that is granted when no caller waits any more is released', async () => {
    const { clock, store } = setUp();
    store.fail('late', 'lease');
    const site = await siteWith();
    const { robots, received } = startProcess(store, clock);
    expect(await robots.canFetch(site.url('/private'))).toBe(false);
    expect(received).toEqual(['timeout lease']);
    store.proceed();
    await settled();
    expect(store.count('release')).toBe(1);
  });

  it('that is granted to an aborted question is released', async () => {
    const { clock, store } = setUp();
    store.fail('late', 'lease');
    const site = await siteWith();
    const { robots } = startProcess(store, clock, { storeDeadlineMs: 60_000 });
    const leaving = new AbortController();
    const asked = robots.canFetch(site.url('/'), undefined, { signal: leaving.signal });
    await settled();
    leaving.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    store.proceed();
    await settled();
    expect([store.count('release'), site.robotsCount, robots.stats().attempts]).toEqual([1, 0, 0]);
  });

  it.each([
    ['true', true],
    ['an object without release', {}],
  ])('that is invalid (%s) is a failure of the store: the question goes on without', async (_, value) => {
    const { clock, store } = setUp();
    store.fail({ kind: 'give', value }, 'lease');
    const site = await siteWith();
    const { robots, events } = startProcess(store, clock);
    expect(await robots.canFetch(site.url('/private'))).toBe(false);
    expect(events).toMatchObject([
      {
        type: 'failed',
        operation: 'lease',
        error: { message: expect.stringContaining('to return a lease') },
      },
    ]);
  });

  it('granted after another process wrote the record makes no second request', async () => {
    const { clock, store } = setUp();
    const site = await siteWith();
    const one = startProcess(store, clock);
    const overtaken: RobotsStore = {
      get: (key) => store.get(key),
      set: (key, value, options) => store.set(key, value, options),
      delete: (key) => store.delete(key),
      lease: async (key, ttlMs) => {
        await one.robots.canFetch(site.url('/'));
        await settled();
        return store.lease?.(key, ttlMs);
      },
    };
    const other = startProcess(overtaken, clock, { storeDeadlineMs: 10_000 });
    expect(await other.robots.check(site.url('/private'))).toMatchObject({
      allowed: false,
      robots: { source: 'store' },
    });
    await settled();
    expect(site.robotsCount).toBe(1);
    expect([store.count('lease'), store.count('release')]).toEqual([2, 2]);
  });
});

describe('a process that finds the lease taken', () => {
  /** A process that took the lease and will never be heard of again. */
  async function withDeadHolder(size: number) {
    const { clock, store } = setUp();
    const site = await siteWith([{ fault: 'hang' }, RULES]);
    store.fail('hang', 'release');
    const dead = startProcess(store, clock);
    const dying = dead.robots.canFetch(site.url('/'));
    dying.catch(() => undefined);
    await site.whenRequested('/robots.txt');
    const fleet = startFleet(size, store, clock);
    const asked = fleet.map(({ robots }) => robots.check(site.url('/private')));
    for (const each of asked) each.catch(() => undefined);
    await clock.whenWaiting(size);
    return { clock, store, site, fleet, asked };
  }

  it('waits for the record and sends no request', async () => {
    const { clock, store } = setUp();
    const held: (() => void)[] = [];
    const bodies = {
      fetch: () => new Promise<Response>((resolve) => held.push(() => resolve(new Response(RULES)))),
    };
    const [one, other] = startFleet(2, store, clock, { transport: bodies });
    const url = 'https://example.com/private';
    const asked = [one!.robots.canFetch(url), other!.robots.check(url)] as const;
    await clock.whenWaiting();
    await clock.advance(5 * SECOND);
    expect(held).toHaveLength(1);
    held[0]!();
    expect(await asked[0]).toBe(false);
    await clock.advance(SECOND);
    expect(await asked[1]).toMatchObject({ allowed: false, robots: { source: 'store' } });
    expect(held).toHaveLength(1);
  });

  it('sends the request when the holder has died: one process, not all', async () => {
    const { clock, store, site, fleet, asked } = await withDeadHolder(6);
    await clock.advance(11 * SECOND);
    expect(site.robotsCount).toBe(1);
    store.recover();
    await clock.advance(1_500);
    await site.whenRequested('/robots.txt', 2);
    // The record is there; the others come to look for it.
    await eventually(() => expect(store.entries.size).toBe(1));
    await clock.advance(SECOND);
    const decisions = await Promise.all(asked);
    expect(decisions.map(({ allowed }) => allowed)).toEqual(Array(6).fill(false));
    expect(decisions.map(({ robots }) => robots.source).sort()).toEqual([
      'network',
      ...Array(5).fill('store'),
    ]);
    expect(fleet.reduce((sum, { robots }) => sum + robots.stats().attempts, 0)).toBe(1);
    expect(site.robotsCount).toBe(2);
  });

  it('can abort a question, while others wait', async () => {
    const { clock, store, site } = await withDeadHolder(1);
    const { robots } = startProcess(store, clock);
    const leaving = new AbortController();
    const left = robots.canFetch(site.url('/'), undefined, { signal: leaving.signal });
    await clock.whenWaiting(2);
    leaving.abort(new Error('too long'));
    await expect(left).rejects.toThrow('too long');
    expect(clock.waiting).toBe(1);
    expect(robots.stats().inFlight).toBe(0);
  });

  it('sends the request when the store fails meanwhile', async () => {
    const { clock, store, site, asked } = await withDeadHolder(1);
    store.fail('reject');
    await clock.advance(SECOND);
    expect(await asked[0]).toMatchObject({ allowed: false, robots: { source: 'network' } });
    expect(site.robotsCount).toBe(2);
  });

  it('waits no longer than two leases, with any answer of the store', async () => {
    const { clock, store } = setUp();
    store.fail({ kind: 'give', value: undefined }, 'lease');
    const site = await siteWith();
    const { robots } = startProcess(store, clock);
    const asked = robots.check(site.url('/private'));
    await clock.whenWaiting();
    await clock.advance(23 * SECOND);
    expect(site.robotsCount).toBe(0);
    await clock.advance(3 * SECOND);
    expect(await asked).toMatchObject({ allowed: false, robots: { source: 'network' } });
  });
});
