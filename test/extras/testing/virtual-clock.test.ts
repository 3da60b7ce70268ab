import { describe, expect, it } from 'vitest';
import { virtualClock } from '../../../src/extras/testing/index.ts';

const never = new AbortController().signal;

describe('virtualClock', () => {
  it('stands still until it is advanced, at once when no sleep is pending', () => {
    const clock = virtualClock({ startAt: 1_000 });
    expect(clock.now()).toBe(1_000);
    void clock.advance(500);
    expect(clock.now()).toBe(1_500);
  });

  it('resolves each wait at its own time, in order, also when it waits again', async () => {
    const clock = virtualClock({ startAt: 0 });
    const seen: string[] = [];
    const run = async (name: string, steps: readonly number[]): Promise<void> => {
      for (const ms of steps) {
        await clock.sleep(ms, never);
        seen.push(`${name} ${clock.now()}`);
      }
    };
    const all = Promise.all([run('a', [300, 300]), run('b', [100, 100, 100, 1_000])]);
    await clock.advance(700);
    expect(seen).toEqual(['b 100', 'b 200', 'a 300', 'b 300', 'a 600']);
    expect(clock.now()).toBe(700);
    expect(clock.waiting).toBe(1);
    await clock.advance(600);
    await all;
    expect(seen.at(-1)).toBe('b 1300');
  });

  it('resolves when a number of waits is pending', async () => {
    const clock = virtualClock();
    const both = clock.whenWaiting(2);
    const sleeps = [clock.sleep(1, never), clock.sleep(2, never)];
    await both;
    await clock.whenWaiting();
    await clock.advance(2);
    await Promise.all(sleeps);
  });

  it('an aborted wait rejects with the reason and is forgotten', async () => {
    const clock = virtualClock();
    const leaving = new AbortController();
    const sleep = clock.sleep(1, leaving.signal);
    leaving.abort(new Error('enough'));
    await expect(sleep).rejects.toThrow('enough');
    expect(clock.waiting).toBe(0);
    await expect(clock.sleep(1, leaving.signal)).rejects.toThrow('enough');
  });

  it('with `autoAdvance` waits advance the time, in order', async () => {
    const clock = virtualClock({ startAt: 0, autoAdvance: true });
    const seen: number[] = [];
    const run = async (ms: number): Promise<void> => {
      await clock.sleep(ms, never);
      seen.push(clock.now());
      await clock.sleep(10_000, never);
      seen.push(clock.now());
    };
    await Promise.all([run(86_400_000), run(5), run(20_000)]);
    expect(seen).toEqual([5, 10_005, 20_000, 30_000, 86_400_000, 86_410_000]);
  });

  it('with `autoAdvance` ends waits for a response whose deadline has passed, but gives the response real time', async () => {
    const clock = virtualClock({ startAt: 0, autoAdvance: true });
    const settled = new AbortController();
    const answered = clock.sleep(10, settled.signal, true).catch(() => 'answered');
    setTimeout(() => settled.abort(), 20);
    const late = clock.sleep(10, never, true).then(() => 'deadline');
    const later = clock.sleep(100, never, true).then(() => 'later');
    await clock.sleep(50, never);
    expect(await Promise.all([answered, late])).toEqual(['answered', 'deadline']);
    expect(clock.now()).toBe(50);
    expect(clock.waiting).toBe(1);
    await clock.advance(50);
    expect(await later).toBe('later');
  });

  it('refuses invalid options and times', async () => {
    expect(() => virtualClock({ startAt: Number.NaN })).toThrow(
      /`startAt` to be epoch milliseconds, got "NaN" \(number\)/,
    );
    expect(() => Reflect.apply(virtualClock, undefined, [{ start: 0 }])).toThrow(
      'Expected only known options, got `start`',
    );
    await expect(virtualClock().advance(-1)).rejects.toThrow(
      /`ms` to be milliseconds, 0 or more, got "-1" \(number\)/,
    );
  });
});
