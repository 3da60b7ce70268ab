import { describe, expect, it } from 'vitest';
import { MonotonicClock } from '../../../src/core/base/index.ts';
import { FleetSlots, slotToleranceMs } from '../../../src/core/pacing/fleet-slots.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { ScriptedStore } from '../../support/store.ts';
import { A } from './support.ts';

const ANY = { minWaitMs: 0, maxWaitMs: Infinity };

/** The slots of one process, over a store whose calls take so long. */
function slotsOver(latencyMs = 0) {
  const clock = virtualClock();
  const store = new ScriptedStore({ clock, reserves: true });
  const late = async <Value>(value: Promise<Value>): Promise<Value> => {
    const given = await value;
    void clock.advance(latencyMs);
    return given;
  };
  const slots = new FleetSlots(A, new MonotonicClock(clock), {
    reserve: (origin, delayMs, bounds) => late(store.reserve!(origin, delayMs, bounds)),
    pause: (origin, ms) => store.pause!(origin, ms),
  });
  return { clock, store, slots };
}

describe('the slot of a process in the schedule of its fleet', () => {
  it('is usable from its time on for a tenth of the gap, 50 ms at most', async () => {
    expect([0, 100, 499, 500, 60_000].map(slotToleranceMs)).toEqual([50, 10, 49.9, 50, 50]);
    const { clock, slots } = slotsOver();
    await slots.book(1_000, ANY);
    const now = clock.now();
    expect(slots.usable(1_000, now, now + 50)).toMatchObject({ at: now, latestAt: now + 50 });
    expect(slots.usable(1_000, now, now + 51)).toBeUndefined();
    expect(slots.usable(1_001, now, now)).toBeUndefined();
    expect(slots.usable(1_000, now + 51, now)).toBeUndefined();
  });

  it('is void when it lies in a pause, and only then', async () => {
    const { clock, store, slots } = slotsOver();
    await store.reserve!(A, 1_000);
    await slots.book(1_000, ANY);
    const now = clock.now();
    await store.pause!(A, 1_000);
    // Its time is the end of the pause.
    expect(await slots.pausedMs()).toBe(1_000);
    expect(slots.usable(1_000, now, now)).toMatchObject({ at: now + 1_000, checkedAt: now });
    await store.pause!(A, 1_001);
    await slots.pausedMs();
    expect(slots.usable(1_000, now, now)).toBeUndefined();
  });

  it('is not booked beyond the longest wait', async () => {
    const { clock, slots } = slotsOver();
    await slots.book(1_000, ANY);
    slots.take();
    expect(await slots.book(1_000, { minWaitMs: 0, maxWaitMs: 999 })).toBe(1_000);
    expect(slots.usable(1_000, clock.now(), clock.now())).toBeUndefined();
    expect(await slots.book(1_000, { minWaitMs: 0, maxWaitMs: 1_000 })).toBeUndefined();
    expect(slots.usable(1_000, clock.now(), clock.now())?.at).toBe(clock.now() + 1_000);
  });

  it('lasts at most a quarter of the longest wait: a member that waits no longer is not deferred for it', async () => {
    const { clock, slots } = slotsOver();
    slots.missed(500);
    await slots.book(100, { minWaitMs: 0, maxWaitMs: 300 });
    const slot = slots.usable(100, clock.now(), clock.now());
    expect(slot && slot.latestAt - slot.at).toBe(75 + 10);
  });

  it('lasts longer after one that was missed, because the reply of the store came too late', async () => {
    const { clock, slots } = slotsOver(80);
    await slots.book(100, ANY);
    expect(slots.usable(100, clock.now(), clock.now())).toBeUndefined();
    await slots.book(100, ANY);
    const slot = slots.usable(100, clock.now(), clock.now());
    expect(slot && slot.latestAt - slot.at).toBe(2 * 80 + 10 - 80);
  });
});
