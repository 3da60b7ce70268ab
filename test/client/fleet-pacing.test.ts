// Loaded before any time is counted: a clock that moves on by itself would take the loading for idleness.
import '../../src/client/robots-requests.ts';
import { describe, expect, it } from 'vitest';
import { guardFetch, type RobotsClientOptions } from '../../src/index.ts';
import { virtualClock, type VirtualClock } from '../../src/testing/index.ts';
import { booked } from '../pacing/support.ts';
import { SECOND } from '../support/client.ts';
import { ScriptedStore } from '../support/store.ts';
import { settled, startProcess } from './store-support.ts';

const SITE = 'https://slow.example';
const SLOW = 'User-agent: *\nCrawl-delay: 2\n';

/** Processes over one store that reserves; robots.txt is laid down unless the options say otherwise. */
function startFleet(size: number, options: RobotsClientOptions = { overrides: { [SITE]: { text: SLOW } } }) {
  const clock = virtualClock();
  const store = new ScriptedStore({ clock, reserves: true });
  const processes = Array.from({ length: size }, () => startProcess(store, clock, options));
  const after = async (process: number, maxDelayMs?: number): Promise<number> => {
    const pacing = maxDelayMs === undefined ? {} : { maxDelayMs };
    return booked(await processes[process]!.robots.reserve(SITE, undefined, pacing)).waitMs;
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
      robots.flatMap((each) => Array.from({ length: 5 }, () => each.reserve(SITE))),
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
      return new Response('a page');
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
    const apart = requests.map((at, index) => at - (requests[index - 1] ?? 0));
    expect(Math.min(...apart)).toBeGreaterThanOrEqual(2_000);
    expect(requests.at(-1)).toBeLessThanOrEqual(10 * 2_000);
  });

  it('does not call it where no delay is asked for', async () => {
    const { store, robots } = startFleet(1, { overrides: { [SITE]: { text: '' } } });
    expect(booked(await robots[0]!.reserve(SITE)).waitMs).toBe(0);
    expect(store.count('reserve')).toBe(0);
    // It counts all the same: the next one that has a delay is behind it.
    expect(booked(await robots[0]!.reserve(SITE, undefined, { minDelayMs: 500 })).waitMs).toBe(500);
    expect(store.count('reserve')).toBeGreaterThan(0);
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
  it('is not moved further by repeated calls: one is booked, and kept', async () => {
    const { clock, store, robots, after } = startFleet(2);
    for (let count = 0; count < 5; count++) await after(0);
    const before = store.count('reserve');
    const put = await Promise.all(
      Array.from({ length: 50 }, () => robots[0]!.reserve(SITE, undefined, { maxDelayMs: 9_000 })),
    );
    const deferred = { status: 'deferred', retryAt: clock.now() + 10_000, waitMs: 10_000 };
    for (const each of put) expect(each).toMatchObject(deferred);
    expect(store.count('reserve')).toBe(before + 1);
    // The others of the fleet lose that one slot, no more.
    expect(await after(1)).toBe(12_000);
    await clock.advance(2 * SECOND);
    expect(await after(0, 9_000)).toBe(8_000);
    expect(await after(0)).toBe(12_000);
  });

  it('is available at `retryAt`, and a little later', async () => {
    const { clock, robots, after } = startFleet(1);
    await after(0);
    const never = { maxDelayMs: 0 };
    const deferred = await robots[0]!.reserve(SITE, undefined, never);
    expect(deferred).toMatchObject({ status: 'deferred', waitMs: 2_000 });
    await clock.advance(2_030);
    expect(await after(0, 0)).toBe(0);
    expect(await robots[0]!.reserve(SITE, undefined, never)).toMatchObject({ status: 'deferred' });
  });

  it('expires when it is not taken', async () => {
    const { clock, robots, after } = startFleet(1);
    await after(0);
    await robots[0]!.reserve(SITE, undefined, { maxDelayMs: 0 });
    await clock.advance(3 * SECOND);
    expect(await after(0)).toBe(1_000);
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
    const waiting = robots[0]!.waitForSlot(decision, { signal: leaving.signal });
    await clock.whenWaiting();
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(await after(0)).toBe(2_000);
  });

  it('is one whose request was aborted before it was booked', async () => {
    const { store, robots, after } = startFleet(1);
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
    expect(await after(0)).toBe(2_000);
  });
});

describe('a pause that the site asks one process for', () => {
  it('applies to the fleet, from its next slot on', async () => {
    const { robots, after } = startFleet(2);
    await after(0);
    robots[0]!.report(SITE, { reachable: true, retryAfter: '60' });
    expect([await after(0), await after(1)]).toEqual([60_000, 62_000]);
  });

  it('applies to requests that wait already', async () => {
    const { clock, robots } = startFleet(1);
    const decision = await robots[0]!.check(SITE);
    await robots[0]!.waitForSlot(decision);
    const waiting = robots[0]!.waitForSlot(decision);
    await clock.whenWaiting();
    robots[0]!.report(SITE, { reachable: true, retryAfter: '30' });
    await clock.advance(31 * SECOND);
    expect(await waiting).toBe(30_000);
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
    expect(processes[0]!.told).toContain(`${kind === 'hang' ? 'timeout' : 'failed'} reserve`);
    store.recover();
    // What was booked meanwhile is behind it.
    expect(await after(0)).toBe(10_000);
  });

  it.each([Number.NaN, Infinity, -1, '0', undefined, null, 1e15])(
    '(it says %s) is not believed',
    async (value) => {
      const { store, processes, after } = startFleet(1);
      store.fail({ kind: 'give', value }, 'reserve');
      expect([await after(0), await after(0)]).toEqual([0, 2_000]);
      expect(processes[0]!.events[0]).toMatchObject({
        type: 'failed',
        operation: 'reserve',
        origin: SITE,
        error: { message: 'Expected `reserve` to return milliseconds from now until the slot' },
      });
    },
  );

  it('delays no rejection when the client is closed', async () => {
    const { store, robots } = startFleet(1);
    store.fail('late', 'reserve');
    const asked = robots[0]!.reserve(SITE);
    await settled();
    const closed = expect(asked).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    await robots[0]!.close();
    await closed;
  });
});

describe('for any calls of the processes of a fleet', () => {
  it('no two of the slots they use are closer than the delay', async () => {
    const { default: fc } = await import('fast-check');
    const { FleetSlots } = await import('../../src/pacing/fleet-slots.ts');
    const step = fc.record({
      member: fc.nat(2),
      laterMs: fc.oneof(fc.constant(0), fc.nat(3_000)),
      maxWaitMs: fc.constantFrom(0, 1_500, 10_000, Infinity),
      keeps: fc.boolean(),
      pauseMs: fc.constantFrom(0, 0, 0, 5_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const clock: VirtualClock = virtualClock();
        const store = new ScriptedStore({ clock, reserves: true });
        const members = [0, 1, 2].map(
          () => new FleetSlots((origin, delayMs) => store.reserve!(origin, delayMs), clock, 8),
        );
        const heldUntil = [0, 0, 0];
        const used: number[] = [];
        for (const { member, laterMs, maxWaitMs, keeps, pauseMs } of steps) {
          await clock.advance(laterMs);
          heldUntil[member] = Math.max(heldUntil[member]!, clock.now() + pauseMs);
          const notBefore = (): number => heldUntil[member]!;
          const slot = await members[member]!.book(SITE, { delayMs: 1_000, maxWaitMs, notBefore });
          if (slot?.booked !== true) continue;
          expect(slot.at).toBeGreaterThanOrEqual(Math.max(clock.now(), heldUntil[member]!));
          expect(slot.at - clock.now()).toBeLessThanOrEqual(maxWaitMs);
          if (keeps) used.push(slot.at);
          else slot.release();
        }
        used.sort((a, b) => a - b);
        // Who comes back for a slot may be as late as timers are.
        for (const [index, at] of used.entries()) {
          if (index > 0) expect(at - used[index - 1]!).toBeGreaterThanOrEqual(950);
        }
      }),
    );
  });
});
