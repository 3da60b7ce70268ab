// Loaded before any time is counted: a clock that moves on by itself would take the loading for idleness.
import '../../../src/core/fetch/index.ts';
import { describe, expect, it } from 'vitest';
import { guardFetch, type RobotsClientOptions } from '../../../src/index.ts';
import { virtualClock, type VirtualClock } from '../../../src/extras/testing/index.ts';
import { paceOf } from '../../../src/core/pacing/index.ts';
import { Pacer } from '../../../src/core/pacing/pacer.ts';
import { booked, decisionFor, waitForStart } from '../pacing/support.ts';
import { SECOND } from '../../support/client.ts';
import fc from '../../support/fast-check.ts';
import { ScriptedStore } from '../../support/store.ts';
import { runs } from '../../support/thorough.ts';
import type { StoreReserveOptions } from '../../../src/core/store/store.ts';
import { settled, startProcess } from './store-support.ts';

const SITE = 'https://slow.example';
const SLOW = 'User-agent: *\nCrawl-delay: 2\n';

const LAID_DOWN: RobotsClientOptions = { overrides: { [SITE]: { text: SLOW } } };
/** The deadline of a store is real time, which a busy machine spends before its reply. */
const PATIENT: RobotsClientOptions = { ...LAID_DOWN, storeDeadlineMs: 60_000 };

/** Processes over one store that reserves; robots.txt is laid down unless the options say otherwise. */
function startFleet(size: number, options: RobotsClientOptions = LAID_DOWN) {
  const clock = virtualClock();
  const store = new ScriptedStore({ clock, reserves: true });
  const processes = Array.from({ length: size }, () => startProcess(store, clock, options));
  const after = async (process: number, maxDelayMs?: number): Promise<number> => {
    const pacing = maxDelayMs === undefined ? {} : { maxDelayMs };
    const booking = booked(await processes[process]!.robots.reserve(SITE, undefined, pacing));
    booking.done();
    return booking.waitMs;
  };
  return { clock, store, processes, robots: processes.map(({ robots }) => robots), after };
}

describe('a fleet whose store reserves', () => {
  it('shares the slots of an origin', async () => {
    const { clock, after } = startFleet(3);
    expect([await after(0), await after(1), await after(2), await after(0)]).toEqual([
      0, 2_000, 4_000, 6_000,
    ]);
    await clock.advance(7 * SECOND);
    expect(await after(1)).toBe(1_000);
  });

  it('gives each of many at once a slot of its own', async () => {
    const { robots } = startFleet(4);
    const all = await Promise.all(
      robots.flatMap((each) =>
        Array.from({ length: 5 }, () => each.reserve(SITE, undefined, { concurrency: 5 })),
      ),
    );
    const slots = all.map((each) => booked(each).waitMs).sort((a, b) => a - b);
    expect(slots).toEqual(Array.from({ length: 20 }, (_, index) => index * 2_000));
  });

  it('keeps the delay of the site between pages, also after the request for robots.txt', async () => {
    const clock = virtualClock({ autoAdvance: true });
    const store = new ScriptedStore({ clock, reserves: true });
    const startedAt = clock.now();
    const transport = { fetch: async () => new Response(SLOW) };
    const requests: number[] = [];
    const page = async (): Promise<Response> => {
      requests.push(clock.now() - startedAt);
      return new Response(null);
    };
    const fleet = Array.from({ length: 3 }, () =>
      startProcess(store, clock, { transport, storeDeadlineMs: 10_000 }),
    );
    await Promise.all(
      fleet.map(async ({ robots }) => {
        const fetchSlowly = guardFetch(page as typeof fetch, robots, { pacing: true });
        await Promise.all([1, 2, 3].map((number) => fetchSlowly(`${SITE}/${number}`)));
      }),
    );
    expect(requests).toHaveLength(9);
    // The first page comes `defaultDelayMs` after robots.txt.
    expect(requests[0]).toBe(500);
    const apart = requests.slice(1).map((at, index) => at - requests[index]!);
    expect(Math.min(...apart)).toBeGreaterThanOrEqual(2_000);
    expect(requests.at(-1)).toBeLessThanOrEqual(10 * 2_000);
  });

  it('learns of pauses also where the site asks for no delay', async () => {
    const overrides = { [SITE]: { text: 'User-agent: *\nCrawl-delay: 0\n' } };
    const { robots, after } = startFleet(2, { overrides });
    expect(await after(0)).toBe(0);
    robots[0]!.report(SITE, { reachable: true, retryAfter: '60' });
    expect(await after(1)).toBe(60_000);
  });

  it('agrees on `defaultDelayMs` where the site states nothing', async () => {
    const { robots, after } = startFleet(3, { overrides: { [SITE]: { text: '' } } });
    expect([await after(0), await after(1), await after(2)]).toEqual([0, 500, 1_000]);
    const slower = await robots[0]!.reserve(SITE, undefined, { defaultDelayMs: 2_000 });
    expect(slower).toMatchObject({ waitMs: 3_000, delayFrom: 'default-delay' });
  });

  it('is called with whole milliseconds, and one key for all agents', async () => {
    const { clock, store } = startFleet(0);
    for (const agent of ['ExampleBot', 'OtherBot']) {
      const overrides = { [SITE]: { text: 'User-agent: *\nCrawl-delay: 0.0015' } };
      await startProcess(store, clock, { agent, overrides }).robots.reserve(SITE);
    }
    expect(new Set(store.calls.map(({ key }) => key)).size).toBe(1);
    expect(store.reservedMs).toEqual([2, 2]);
  });
});

describe('a slot that is too far away', () => {
  it('is not booked: the others lose nothing, and each deferral has a later `retryAt`', async () => {
    const { clock, robots, after } = startFleet(2);
    for (let count = 0; count < 5; count++) await after(1);
    const deferred = await Promise.all(
      Array.from({ length: 50 }, () => robots[0]!.reserve(SITE, undefined, { maxDelayMs: 9_000 })),
    );
    for (const each of deferred) expect(each).toMatchObject({ status: 'deferred', delayFrom: 'crawl-delay' });
    const waits = deferred.map((each) => ('waitMs' in each ? each.waitMs : 0)).sort((a, b) => a - b);
    expect(waits).toEqual(Array.from({ length: 50 }, (_, index) => 10_000 + index * 2_020));
    expect(await after(1)).toBe(10_000);
    await clock.advance(4 * SECOND);
    expect(await after(0, 9_000)).toBe(8_000);
  });

  it('is not booked at all where its own requests are the reason', async () => {
    const { store, robots, after } = startFleet(1);
    await after(0);
    expect(await robots[0]!.reserve(SITE, undefined, { maxDelayMs: 1_999 })).toMatchObject({ waitMs: 2_000 });
    expect(store.count('reserve')).toBe(1);
  });
});

describe('members with different gaps', () => {
  it('keep the longer gap of two neighbours, and neither starves', async () => {
    const clock = virtualClock({ autoAdvance: true });
    const store = new ScriptedStore({ clock, reserves: true });
    const overrides = { [SITE]: { text: '' } };
    const starts: { readonly member: number; readonly at: number }[] = [];
    const startedAt = clock.now();
    const crawl = async (member: number, minDelayMs: number): Promise<void> => {
      const { robots } = startProcess(store, clock, { overrides, storeDeadlineMs: 10_000 });
      const page = async (): Promise<Response> => {
        starts.push({ member, at: clock.now() - startedAt });
        return new Response(null);
      };
      const pacing = { defaultDelayMs: 0, minDelayMs };
      const fetchSlowly = guardFetch(page as typeof fetch, robots, { pacing });
      await Promise.all([1, 2, 3, 4, 5].map((number) => fetchSlowly(`${SITE}/${number}`)));
    };
    await Promise.all([crawl(0, 3_000), crawl(1, 200)]);
    for (const [index, { member, at }] of starts.entries()) {
      const before = starts[index - 1];
      if (before === undefined) continue;
      const gapMs = member === 0 || before.member === 0 ? 3_000 : 200;
      expect(at - before.at).toBeGreaterThanOrEqual(gapMs);
    }
    const firstSix = starts.slice(0, 6).map(({ member }) => member);
    expect(new Set(firstSix).size).toBe(2);
    expect(starts).toHaveLength(10);
    expect(starts.at(-1)?.at).toBeLessThanOrEqual(10 * 3_000);
  });
});

describe('a slot given back', () => {
  it('goes to the next request of that client', async () => {
    const { robots, after } = startFleet(2);
    await after(0);
    const slot = booked(await robots[0]!.reserve(SITE));
    expect(await after(1)).toBe(4_000);
    slot.release();
    slot.release();
    expect(await after(1)).toBe(6_000);
    expect([await after(0), await after(0)]).toEqual([2_000, 8_000]);
  });

  it('is one whose waiting request was aborted', async () => {
    const { clock, robots, after } = startFleet(1);
    await after(0);
    const leaving = new AbortController();
    const decision = await robots[0]!.check(SITE);
    const waiting = waitForStart(robots[0]!, decision, { signal: leaving.signal });
    await clock.whenWaiting();
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(await after(0)).toBe(2_000);
  });

  it('is one whose request was aborted before it was booked', async () => {
    const { store, robots, after } = startFleet(1, PATIENT);
    store.fail('late', 'reserve');
    const leaving = new AbortController();
    const asked = robots[0]!.reserve(SITE, undefined, { signal: leaving.signal });
    await settled();
    leaving.abort(new Error('left'));
    await expect(asked).rejects.toThrow('left');
    store.recover();
    store.proceed();
    await settled();
    expect(await after(0)).toBe(0);
    expect(store.count('reserve')).toBe(1);
  });

  it('with a shorter delay is not used where a longer one is asked for', async () => {
    const { robots, after } = startFleet(1);
    await after(0);
    booked(await robots[0]!.reserve(SITE)).release();
    const slower = await robots[0]!.reserve(SITE, undefined, { minDelayMs: 5_000 });
    expect(booked(slower).waitMs).toBe(7_000);
  });
});

describe('a pause that the site asks one process for', () => {
  it('moves the schedule of the fleet at once', async () => {
    const { clock, robots, after } = startFleet(3);
    await after(0);
    robots[0]!.report(SITE, { reachable: true, retryAfter: '60' });
    expect([await after(0), await after(1)]).toEqual([60_000, 62_000]);
    await clock.advance(10 * SECOND);
    expect(await robots[2]!.reserve(SITE, undefined, { maxDelayMs: 1_000 })).toMatchObject({
      status: 'deferred',
      retryAt: clock.now() + 54_000,
      delayFrom: 'retry-after',
    });
  });

  it('is known to that process alone where the store cannot pause', async () => {
    const { store, processes, after } = startFleet(2);
    store.fail('reject', 'pause');
    processes[0]!.robots.report(SITE, { reachable: true, retryAfter: '60' });
    expect([await after(1), await after(0)]).toEqual([0, 60_000]);
    expect(processes[0]!.received).toContain('failed pause');
  });

  it('is not missed by a member that takes a slow store’s slots', async () => {
    const { clock, store, robots, after } = startFleet(1, PATIENT);
    await after(0);
    const decision = await robots[0]!.check(SITE);
    store.fail('late', 'reserve');
    const waiting = waitForStart(robots[0]!, decision);
    await clock.whenWaiting();
    await clock.advance(2 * SECOND);
    robots[0]!.report(SITE, { reachable: true, retryAfter: '30' });
    store.recover();
    store.proceed();
    await settled();
    await clock.advance(40 * SECOND);
    expect(await waiting).toBe(32_000);
  });
});

describe('a member that dies', () => {
  it('blocks the others no longer than one gap, whatever it had booked', async () => {
    const { clock, robots, after } = startFleet(2);
    const decision = await robots[0]!.check(SITE);
    await robots[0]!.acquirePermit(decision);
    // Twenty more wait in it when it dies; it is never heard of again.
    const dead = Promise.allSettled(Array.from({ length: 20 }, () => robots[0]!.acquirePermit(decision)));
    await clock.whenWaiting();
    expect(await after(1)).toBe(2_000);
    await robots[0]!.close();
    await dead;
  });
});

describe('a store that cannot reserve', () => {
  const fails = ['reject', 'throw', 'hang'] as const;

  it.each(fails)('(%s) leaves each process its own slots, after those it knows', async (kind) => {
    const { store, processes, after } = startFleet(2);
    expect([await after(0), await after(1), await after(0)]).toEqual([0, 2_000, 4_000]);
    store.fail(kind, 'reserve');
    expect([await after(0), await after(0)]).toEqual([6_000, 8_000]);
    expect(await after(1)).toBe(4_000);
    expect(processes[0]!.received).toContain(`${kind === 'hang' ? 'timeout' : 'failed'} reserve`);
    store.recover();
    // Slots that were booked meanwhile are after it.
    expect(await after(0)).toBe(10_000);
  });

  it.each([
    ...[Number.NaN, Infinity, -1, '0', undefined, null, 1e15].map((waitMs) => ({ waitMs, pauseMs: 0 })),
    { waitMs: 0 },
    0,
    null,
  ])('(it says %j) is not believed', async (value) => {
    const { store, processes, after } = startFleet(1);
    store.fail({ kind: 'give', value }, 'reserve');
    expect([await after(0), await after(0)]).toEqual([0, 2_000]);
    expect(processes[0]!.events[0]).toMatchObject({
      type: 'failed',
      operation: 'reserve',
      origin: 'slow.example',
      error: { message: 'Expected `reserve` to return `{ waitMs, pauseMs }`, in milliseconds from now' },
    });
  });

  it('delays no rejection when the client is closed', async () => {
    const { store, robots } = startFleet(1, PATIENT);
    store.fail('late', 'reserve');
    const asked = robots[0]!.reserve(SITE);
    await settled();
    const closed = expect(asked).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    await robots[0]!.close();
    await closed;
  });
});

describe('for any calls of the processes of a fleet', () => {
  it('no two of their requests are closer than half the delay, and none starts 300 ms after a pause has begun', async () => {
    const step = fc.record({
      member: fc.nat(2),
      laterMs: fc.oneof(fc.constant(0), fc.nat(3_000)),
      maxDelayMs: fc.constantFrom(0, 1_500, 10_000, Infinity),
      leaves: fc.boolean(),
      retryAfter: fc.constantFrom(undefined, undefined, undefined, '5'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const clock: VirtualClock = virtualClock();
        const store = new ScriptedStore({ clock, reserves: true });
        const fleet = {
          reserve: (key: string, delayMs: number, bounds: StoreReserveOptions) =>
            store.reserve!(key, delayMs, bounds),
          pause: (key: string, ms: number) => store.pause!(key, ms),
        };
        const members = [0, 1, 2].map(() => new Pacer({ clock, random: () => 0, maxOrigins: 8, fleet }));
        const decision = decisionFor(SITE, 1_000);
        const left: number[] = [];
        let pause = { from: -Infinity, until: -Infinity };
        const request = async ({
          member,
          maxDelayMs,
          leaves,
          retryAfter,
        }: (typeof steps)[number]): Promise<void> => {
          const slot = await members[member]!.acquire(decision, paceOf({}, maxDelayMs), undefined);
          if (!leaves) return slot.release();
          const now = clock.now();
          if (now < pause.until) expect(now - pause.from).toBeLessThanOrEqual(300);
          left.push(now);
          if (retryAfter !== undefined) pause = { from: now, until: now + 5_000 };
          slot.done(retryAfter === undefined ? {} : { status: 429, headers: { 'retry-after': retryAfter } });
        };
        const all: Promise<void>[] = [];
        for (const each of steps) {
          // A store that takes its time to answer makes slots late by that time.
          await settled();
          await clock.advance(each.laterMs);
          const deferred = (error: unknown): void =>
            expect(error).toMatchObject({ code: 'ERR_ROBOTS_DEFERRED' });
          all.push(request(each).catch(deferred));
        }
        const ended = Promise.all(all);
        for (let turns = 0; turns < 200 && left.length < steps.length; turns++) {
          await settled();
          await clock.advance(1_000);
        }
        await ended;
        // A request may be late for its slot by half the delay.
        for (const [index, at] of left.entries()) {
          if (index > 0) expect(at - left[index - 1]!).toBeGreaterThanOrEqual(500);
        }
      }),
      { numRuns: runs(100) },
    );
  }, 300_000);
});
