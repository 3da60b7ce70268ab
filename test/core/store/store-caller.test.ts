import { describe, expect, it, vi } from 'vitest';
import { inTime, StoreCaller } from '../../../src/core/store/store-caller.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = new Promise<never>(() => undefined);

describe('a deadline', () => {
  it('ends a call that does not settle', async () => {
    expect(await inTime(never, 5, true)).toEqual({ ended: false });
    expect(await inTime(never, 1, true)).toEqual({ ended: false });
  });

  it('passes on a result or an error before it', async () => {
    expect(await inTime(Promise.resolve(7), 1_000, true)).toEqual({ ended: true, value: 7 });
    await expect(inTime(Promise.reject(new Error('broken')), 1_000, true)).rejects.toThrow('broken');
  });

  it('does not pass while this process is blocked', async () => {
    const answer = async (): Promise<string> => {
      await turn();
      const until = performance.now() + 150;
      while (performance.now() < until);
      for (let turns = 0; turns < 4; turns++) await turn();
      return 'there since long';
    };
    expect(await inTime(answer(), 100, true)).toEqual({ ended: true, value: 'there since long' });
  });

  it('waits in ten steps, and in one per millisecond where it is shorter', async () => {
    const made = vi.spyOn(globalThis, 'setTimeout');
    await inTime(never, 20, true);
    await inTime(never, 3, true);
    const waits = made.mock.calls.map(([, ms]) => ms);
    vi.restoreAllMocks();
    expect(waits).toEqual([...Array.from({ length: 10 }, () => 2), 1, 1, 1]);
  });

  it.each([true, false])('keeps the process alive: %s', async (keepsAlive) => {
    const made = vi.spyOn(globalThis, 'setTimeout');
    await inTime(turn(), 60_000, keepsAlive);
    const [timer] = made.mock.results.map(({ value }) => value);
    vi.restoreAllMocks();
    expect(timer.hasRef()).toBe(keepsAlive);
  });

  it('keeps no timer after the call', async () => {
    const made = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    await inTime(turn(), 60_000, true);
    await inTime(Promise.reject(new Error('broken')), 60_000, true).catch(() => undefined);
    const timers = made.mock.results.map(({ value }) => [value]);
    vi.restoreAllMocks();
    expect(timers).toHaveLength(2);
    expect(cleared.mock.calls).toEqual(timers);
  });
});

describe('a call of a store', () => {
  it.each([
    ['that a question waits for has the deadline', 150, {}, 150],
    ['in the background has ten times as long', 150, { background: true }, 1_500],
    ['in the background has 10 s at most', 5_000, { background: true }, 10_000],
    ['in the background never has less', 20_000, { background: true }, 20_000],
  ])('%s', async (_, deadlineMs, options, expectedMs) => {
    vi.useFakeTimers();
    const events: string[] = [];
    const caller = new StoreCaller({
      deadlineMs,
      clock: { now: () => 0 },
      onEvent: ({ type }) => events.push(type),
    });
    const send = (): Promise<void> => never;
    const called = caller.call({ operation: 'set', origin: 'https://example.com', send, ...options });
    await vi.advanceTimersByTimeAsync(expectedMs - 1);
    expect(events).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    expect([await called, events]).toEqual([{ ok: false }, ['timeout']]);
    vi.useRealTimers();
  });
});
