import { describe, expect, it } from 'vitest';
import { guardFetch, type ReserveOptions, type RobotsStore, type RobotsClient } from '../../../src/index.ts';
import { virtualClock, type VirtualClock } from '../../../src/extras/testing/index.ts';
import { ScriptedStore } from '../../support/store.ts';
import { A, booked, noting } from './support.ts';
import { openedClient } from '../../support/opened.ts';

/** A member of a fleet whose store replies so late. It counts its slots. */
function slowFleet(robotsTxt: string, latencyMs: number) {
  const clock = virtualClock();
  const shared = new ScriptedStore({ clock, reserves: true });
  const late = async <Value>(value: Promise<Value>): Promise<Value> => {
    const given = await value;
    void clock.advance(latencyMs);
    // A queue that asked for ever would leave the test no time to end.
    await new Promise((resolve) => setImmediate(resolve));
    return given;
  };
  const store: RobotsStore = {
    get: (key) => shared.get(key),
    set: (key, value, options) => shared.set(key, value, options),
    delete: (key) => shared.delete(key),
    reserve: (key, delayMs, options) => late(shared.reserve!(key, delayMs, options)),
    pause: (key, pauseMs) => shared.pause!(key, pauseMs),
  };
  const overrides = { [A]: { text: robotsTxt } };
  const { robots: client } = openedClient({ clock, store, overrides });
  return { clock, client, shared };
}

/** Tries again at each `retryAt` until a request was booked. Resolves with the deferrals before it. */
async function deferralsBefore(
  { client, clock }: { readonly client: RobotsClient; readonly clock: VirtualClock },
  options: ReserveOptions,
): Promise<number> {
  for (let deferrals = 0; deferrals < 10; deferrals++) {
    const reservation = await client.reserve(A, undefined, options);
    if (reservation.status === 'booked') {
      reservation.done();
      return deferrals;
    }
    if (reservation.status === 'deferred') await clock.advance(reservation.retryAt - clock.now());
  }
  throw new Error('Deferred ten times');
}

describe('a member of a fleet whose store is slow', () => {
  it.each([5, 60, 200])('starts a request without a gap after one call of %i ms', async (latencyMs) => {
    const { clock, client } = slowFleet('User-agent: *\nCrawl-delay: 0', latencyMs);
    const { fetch, calls } = noting(clock);
    await guardFetch(fetch, client, { pacing: true })(`${A}/page`);
    expect(calls).toEqual([[`${A}/page`, latencyMs]]);
    booked(await client.reserve(A, undefined, { defaultDelayMs: 0 })).done();
  });

  it.each([5, 50])(
    'has its slot where a request may not wait: the %i ms of the store are no wait',
    async (latencyMs) => {
      const fleet = slowFleet('User-agent: *\nCrawl-delay: 1', latencyMs);
      expect(await deferralsBefore(fleet, { maxDelayMs: 0 })).toBe(0);
      expect(fleet.shared.count('reserve')).toBe(1);
      // Each gap has one request.
      await fleet.clock.advance(1_000);
      expect(await deferralsBefore(fleet, { maxDelayMs: 0 })).toBe(0);
    },
  );

  it.each([0, 100])('needs few tries where a request may wait %i ms', async (maxDelayMs) => {
    const fleet = slowFleet('User-agent: *\nCrawl-delay: 0.2', 70);
    for (let request = 0; request < 5; request++) {
      expect(await deferralsBefore(fleet, { maxDelayMs })).toBeLessThan(4);
    }
  });

  it('sends where a guarded request may not wait', async () => {
    const { clock, client } = slowFleet('User-agent: *\nCrawl-delay: 1', 20);
    const { fetch, calls } = noting(clock);
    await guardFetch(fetch, client, { pacing: { maxDelayMs: 0 } })(`${A}/page`);
    expect(calls).toEqual([[`${A}/page`, 20]]);
  });
});
