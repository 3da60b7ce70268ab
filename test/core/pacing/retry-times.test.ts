// Loaded before any time is counted: a clock that moves on by itself would take the loading for idleness.
import '../../../src/core/fetch/index.ts';
import { describe, expect, it } from 'vitest';
import { guardFetch, retryAtOf } from '../../../src/index.ts';
import { RetryTimes } from '../../../src/core/pacing/starts.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { HOUR, SECOND, START } from '../../support/client.ts';
import { Chance, SEED } from '../../support/random.ts';
import { ScriptedStore } from '../../support/store.ts';
import { A } from './support.ts';
import { openedClient } from '../../support/opened.ts';

describe('the `retryAt` of a deferral', () => {
  const next = (times: RetryTimes, now: number, at: number): number[] =>
    [1, 2, 3].map(() => times.next(START + now, START + at, SECOND) - START);

  it('is the next possible start, if nobody comes back then', () => {
    const times = new RetryTimes();
    expect(next(times, 0, 1_000)).toEqual([1_000, 2_010, 3_020]);
    // The first came back at its time, and could start a little later only.
    expect(next(times, 1_000, 1_300)).toEqual([1_300, 2_310, 3_320]);
  });

  it('is none that another request has, of a thousand', () => {
    const times = new RetryTimes();
    const given = Array.from({ length: 1_000 }, () => times.next(START, START + SECOND, SECOND));
    const [now = 0, at = 0] = given.slice(900);
    expect(given).not.toContain(times.next(now, at, SECOND));
  });

  it('is not pushed further than an hour by a program that ignores it', () => {
    const times = new RetryTimes();
    for (let count = 0; count < 10_000; count++) times.next(START, START + SECOND, SECOND);
    expect(times.next(START, START + SECOND, SECOND)).toBe(START + SECOND + HOUR);
  });
});

describe('jobs that never wait, and come back at `retryAt`', () => {
  /** Runs jobs in the processes of a fleet, each try in any of them, until all are done. */
  async function run(jobs: number, processes: number, delayMs: number) {
    const chance = new Chance(SEED);
    const clock = virtualClock({ autoAdvance: true });
    const store =
      processes === 1 ? {} : { store: new ScriptedStore({ clock, reserves: true }), storeDeadlineMs: 60_000 };
    const starts: number[] = [];
    let tries = 0;
    const sleep = (ms: number): Promise<void> => clock.sleep(ms, new AbortController().signal);
    const page = async (): Promise<Response> => {
      starts.push(clock.now());
      await sleep(20);
      return new Response(null);
    };
    const members = Array.from({ length: processes }, () => {
      const overrides = { [A]: { text: `User-agent: *\nCrawl-delay: ${delayMs / 1_000}` } };
      const { robots: client } = openedClient({ clock, overrides, ...store });
      return guardFetch(page as typeof fetch, client, { pacing: { maxDelayMs: 0 } });
    });
    const job = async (number: number): Promise<void> => {
      for (;;) {
        tries++;
        try {
          return void (await chance.pick(members)(`${A}/${number}`));
        } catch (error) {
          const at = retryAtOf(error);
          if (at === undefined) throw error;
          expect(at).toBeGreaterThan(clock.now());
          // Timers and queues are late.
          await sleep(at - clock.now() + chance.below(8));
        }
      }
    };
    await Promise.all(Array.from({ length: jobs }, (_, number) => job(number)));
    const gaps = starts.slice(1).map((at, index) => at - starts[index]!);
    const usedShare = (delayMs * (jobs - 1)) / (starts.at(-1)! - starts[0]!);
    return { usedShare, gaps, tries };
  }

  it.each([
    [1, 40, 500],
    [1, 100, 200],
    [4, 100, 500],
  ])('use the whole pace: %i processes, %i jobs, gaps of %i ms', async (processes, jobs, delayMs) => {
    const { usedShare, gaps, tries } = await run(jobs, processes, delayMs);
    expect(usedShare).toBeGreaterThanOrEqual(0.95);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(delayMs);
    // Neither a busy loop nor a herd.
    expect(tries).toBeLessThan(jobs * (processes + 3));
  });
});
