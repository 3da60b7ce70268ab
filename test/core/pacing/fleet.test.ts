// Loaded before any time is counted: a clock that moves on by itself would take the loading for idleness.
import '../../../src/core/fetch/index.ts';
import { describe, expect, it } from 'vitest';
import { type Clock, guardFetch, type RobotsStore } from '../../../src/index.ts';
import { virtualClock, type VirtualClock } from '../../../src/extras/testing/index.ts';
import { Chance, SEED } from '../../support/random.ts';
import { ScriptedStore } from '../../support/store.ts';
import { A } from './support.ts';
import { openedClient } from '../../support/opened.ts';

interface Start {
  readonly member: number;
  readonly at: number;
}

interface FleetOptions {
  readonly members: number;
  readonly delayMs: number;
  /** How long the store takes to reply to a member, call by call. */
  readonly replyMs?: (member: number) => number;
  /** How long the process of a member does not run from a time on. */
  readonly stoppedMs?: (member: number, at: number) => number;
  /** How long the first request of a member is under way before it reaches the site. */
  readonly coldMs?: (member: number) => number;
  readonly respond?: (start: Start) => Response;
}

const none = (): number => 0;
const never = new AbortController().signal;

/** The clock of a process that does not run all the time: what is due meanwhile happens afterwards. */
function clockOf(clock: VirtualClock, stoppedMs: (at: number) => number): Required<Clock> {
  return {
    now: clock.now,
    async sleep(ms, signal, isBound) {
      await clock.sleep(ms, signal, isBound);
      const leftMs = stoppedMs(clock.now());
      if (leftMs > 0) await clock.sleep(leftMs, signal);
    },
  };
}

/** Members of a fleet over one store, which crawl one site, and when each request started. */
function startFleet(options: FleetOptions) {
  const { members, delayMs, replyMs = none, stoppedMs = none, coldMs = none, respond } = options;
  const clock = virtualClock({ autoAdvance: true });
  const shared = new ScriptedStore({ clock, reserves: true });
  const starts: Start[] = [];
  const crawlers = Array.from({ length: members }, (_, member) => {
    const own = clockOf(clock, (at) => stoppedMs(member, at));
    const late = async <Value>(reply: Promise<Value>): Promise<Value> => {
      const value = await reply;
      await own.sleep(replyMs(member), never);
      return value;
    };
    const store: RobotsStore = {
      get: (key) => shared.get(key),
      set: (key, value, options) => shared.set(key, value, options),
      delete: (key) => shared.delete(key),
      reserve: (key, ms, options) => late(shared.reserve!(key, ms, options)),
      pause: (key, ms) => late(shared.pause!(key, ms)),
    };
    const text = `User-agent: *\nCrawl-delay: ${delayMs / 1_000}`;
    const { robots: client } = openedClient({
      clock: own,
      store,
      storeDeadlineMs: 60_000,
      overrides: { [A]: { text } },
    });
    let isCold = true;
    const page = async (): Promise<Response> => {
      if (isCold) await own.sleep(coldMs(member), never);
      isCold = false;
      const start = { member, at: clock.now() };
      starts.push(start);
      return respond?.(start) ?? new Response(null);
    };
    return guardFetch(page as typeof fetch, client, { pacing: { maxDelayMs: 86_400_000 } });
  });
  const crawl = async (pages: number): Promise<void> => {
    await Promise.all(
      crawlers.map(async (guarded, member) => {
        for (let page = 0; page < pages; page++) await guarded(`${A}/${member}/${page}`);
      }),
    );
  };
  const gaps = (): number[] => starts.slice(1).map(({ at }, index) => at - starts[index]!.at);
  return { clock, shared, starts, crawl, gaps };
}

describe('a pause that one member learns of', () => {
  it.each([
    [8, 1_000, 0],
    [20, 10_000, 0],
    [8, 1_000, 20],
  ])(
    'reaches the others, of %i with a gap of %i ms, whose store replies after %i ms',
    async (members, delayMs, replyMs) => {
      const pausedMs = 1_000 * members * 10;
      let isFirst = true;
      const { starts, crawl } = startFleet({
        members,
        delayMs,
        replyMs: () => replyMs,
        respond() {
          const response = isFirst
            ? new Response(null, { status: 429, headers: { 'retry-after': String(pausedMs / 1_000) } })
            : new Response(null);
          isFirst = false;
          return response;
        },
      });
      await crawl(2);
      const [first, ...others] = starts.map(({ at }) => at);
      expect(others).toHaveLength(members * 2 - 1);
      expect(others.filter((at) => at < first! + pausedMs)).toEqual([]);
    },
  );

  it('reaches one that was stopped while it looked for pauses', async () => {
    const { clock, shared, starts, crawl } = startFleet({
      members: 2,
      delayMs: 60_000,
      replyMs: () => 10,
      stoppedMs: (_, at) => (at >= lookedAt && at < lookedAt + 10_000 ? lookedAt + 10_000 - at : 0),
    });
    // The second member looks right before the slot that it has booked.
    const lookedAt = clock.now() + 59_995;
    const crawled = crawl(1);
    await clock.sleep(60_000, never);
    const { key } = shared.calls.find(({ call }) => call === 'reserve')!;
    await shared.pause!(key, 300_000);
    await crawled;
    expect(starts[1]!.at - lookedAt).toBeGreaterThanOrEqual(300_005);
  });
});

describe('the first request of a process', () => {
  it.each([100, 400, 1_000, 5_000])(
    'may be late by its cold start, and is at least half a gap of %i ms from those of others',
    async (delayMs) => {
      const coldMs = (member: number): number => (member % 2 === 0 ? 450 : 0);
      const { crawl, gaps, clock } = startFleet({ members: 6, delayMs, coldMs });
      const from = clock.now();
      await crawl(10);
      expect(Math.min(...gaps())).toBeGreaterThanOrEqual(delayMs / 2);
      expect(clock.now() - from).toBeLessThan(delayMs * 60 + 6 * 1_000);
    },
  );
});

describe('a store that replies late', () => {
  describe.each([100, 300, 450, 700])('by %i ms', (lateMs) => {
    it.each([
      ['all members', 1],
      ['every other member', 2],
    ])('to %s makes no gap shorter than half, and books few slots in vain', async (_, every) => {
      const replyMs = (member: number): number => (member % every === 0 ? lateMs : 0);
      const { crawl, gaps, clock, shared } = startFleet({ members: 6, delayMs: 500, replyMs });
      const from = clock.now();
      await crawl(10);
      expect(Math.min(...gaps())).toBeGreaterThanOrEqual(250);
      // A slot or two of each member are lost until it knows how late the replies are.
      expect(clock.now() - from).toBeLessThan(500 * 60 * 1.3);
      expect(shared.count('reserve')).toBeLessThan(60 * 1.3);
    });
  });

  it.each([500, 100])('by 0 to 450 ms makes no gap of %i ms shorter than half', async (delayMs) => {
    const chance = new Chance(SEED);
    const { crawl, gaps, shared } = startFleet({ members: 6, delayMs, replyMs: () => chance.below(450) });
    await crawl(20);
    expect(Math.min(...gaps())).toBeGreaterThanOrEqual(delayMs / 2);
    expect(shared.count('reserve')).toBeLessThan(120 * 2.6);
  });
});

describe('members whose processes do not run all the time', () => {
  it('and stop for 300 of every 410 ms keep half the gap to the others', async () => {
    const { crawl, gaps } = startFleet({
      members: 4,
      delayMs: 500,
      replyMs: () => 2,
      stoppedMs: (member, at) =>
        member % 2 === 0 ? 0 : Math.max(0, 300 - ((at + member * member * 53) % 410)),
    });
    await crawl(20);
    expect(Math.min(...gaps())).toBeGreaterThanOrEqual(250);
  });

  it('and stop for 10 s at any time keep half the gap to the others', async () => {
    for (let moment = 0; moment < 20; moment++) {
      const chance = new Chance(SEED + moment);
      const stops = Array.from({ length: 3 }, () => chance.below(5_000));
      const { crawl, gaps, clock } = startFleet({
        members: 6,
        delayMs: 500,
        replyMs: () => 100,
        stoppedMs: (member, at) => {
          const leftMs = from + (stops[member] ?? -Infinity) + 10_000 - at;
          return leftMs > 0 && leftMs <= 10_000 ? leftMs : 0;
        },
      });
      const from = clock.now();
      await crawl(8);
      expect(Math.min(...gaps())).toBeGreaterThanOrEqual(250);
    }
  });
});
