import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type StoreCall, StoreCaller } from '../../../src/core/store/store-caller.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = (): Promise<never> => new Promise(() => undefined);
const failing = (): Promise<never> => Promise.reject(new Error('broken'));

let now: number;
let events: string[];
let waited: number[];

function callerWith(
  storeDeadlineMs = 150,
): (send: () => unknown, options?: Partial<StoreCall<unknown>>) => Promise<unknown> {
  const caller = new StoreCaller({
    storeDeadlineMs,
    clock: { now: () => now },
    onStoreEvent: (event) => {
      events.push(event.type);
      if ('waitedMs' in event) waited.push(event.waitedMs);
    },
    client: {},
  });
  return (send, options) =>
    caller.call({ operation: 'set', origin: 'https://example.com', send, ...options });
}

beforeEach(() => {
  now = 0;
  events = [];
  waited = [];
});

afterEach(() => vi.useRealTimers());

describe('a call of a store', () => {
  it.each([
    ['that a question waits for has the deadline', 150, {}, 150],
    ['that is patient has ten times as long', 150, { patient: true }, 1_500],
    ['that is patient has 10 s at most', 5_000, { patient: true }, 10_000],
    ['that is patient never has less', 20_000, { patient: true }, 20_000],
  ])('%s', async (_, deadlineMs, options, expectedMs) => {
    vi.useFakeTimers();
    const called = callerWith(deadlineMs)(never, options);
    await vi.advanceTimersByTimeAsync(expectedMs - 1);
    expect(events).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    expect([await called, events, waited]).toEqual([{ ok: false }, ['timeout'], [expectedMs + 1]]);
  });

  it('whose reply came while this process was blocked is in time', async () => {
    const reply = async (): Promise<string> => {
      await turn();
      const until = performance.now() + 60;
      while (performance.now() < until);
      await turn();
      return 'there';
    };
    expect(await callerWith(20)(reply)).toEqual({ ok: true, value: 'there' });
  });

  it('keeps no timer after it', async () => {
    const made = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    const call = callerWith();
    await call(turn);
    await call(failing);
    await call(() => 'at once');
    const timers = made.mock.results.map(({ value }) => [value]);
    vi.restoreAllMocks();
    expect(timers).toHaveLength(3);
    expect(cleared.mock.calls).toEqual(timers);
  });
});

describe('a store that fails three times in a row', () => {
  it('is left alone for 3 s, and then asked again by all', async () => {
    const call = callerWith();
    const send = vi.fn(failing);
    for (let count = 0; count < 5; count++) await call(send);
    expect(send).toHaveBeenCalledTimes(3);
    expect(events).toEqual(['failed', 'failed', 'failed', 'suspended']);
    now = 2_999;
    await call(send);
    expect(send).toHaveBeenCalledTimes(3);
    now = 3_000;
    // It still fails: 3 s more.
    await call(send);
    now = 5_999;
    await call(send);
    expect(send).toHaveBeenCalledTimes(4);
    now = 6_000;
    expect(await call(() => 'well')).toEqual({ ok: true, value: 'well' });
    expect(events.slice(4)).toEqual(['failed', 'resumed']);
    await call(send);
    await call(send);
    expect(await call(() => 'well')).toEqual({ ok: true, value: 'well' });
    expect(events.slice(6)).toEqual(['failed', 'failed']);
  });

  it('is called all the same where others wait for it', async () => {
    const call = callerWith();
    for (let count = 0; count < 3; count++) await call(failing);
    expect(await call(() => 'released', { regardless: true })).toEqual({ ok: true, value: 'released' });
  });

  it('is not left alone for longer when the clock is set back', async () => {
    now = 1_000_000;
    const call = callerWith();
    for (let count = 0; count < 3; count++) await call(failing);
    now = 0;
    expect(await call(() => 'well')).toEqual({ ok: true, value: 'well' });
  });
});
