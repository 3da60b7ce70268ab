import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Gap } from '../../../src/core/pacing/gap.ts';
import { paceOf } from '../../../src/core/pacing/index.ts';
import type { PauseSignal } from '../../../src/core/pacing/pause-length.ts';
import { type Permit, permitFor, Starts, type StartRequest } from '../../../src/core/pacing/starts.ts';
import { HOUR, MINUTE, SECOND, START } from '../../support/client.ts';

const gap = (delayMs: number): Gap => ({ delayMs, delayFrom: 'crawl-delay' });

function request(changes: Partial<StartRequest> = {}): StartRequest {
  return { gap: gap(SECOND), notBefore: -Infinity, gapToRobots: gap(SECOND), ...changes };
}

function permitAt(starts: Starts, at: number, wait: Gap = gap(SECOND), isAhead = false): Permit {
  const permit = permitFor(at, {
    url: 'https://a.example/',
    origin: 'https://a.example',
    pace: paceOf({}, Infinity),
    gap: wait,
    notBefore: -Infinity,
    gapToRobots: wait,
    isBooking: true,
    ttlMs: 30 * SECOND,
  });
  starts.start(permit, at, isAhead);
  return permit;
}

/** Starts the next request. */
function started(starts: Starts, wanted: StartRequest = request(), from = START): Permit {
  const now = Math.max(from, starts.earliestStart(from, wanted));
  return permitAt(starts, now, wanted.gap);
}

function signal(changes: Partial<PauseSignal> = {}): PauseSignal {
  return {
    now: START,
    startedAt: START - 1,
    status: 429,
    askedMs: undefined,
    backOff: { firstMs: 30 * SECOND, maxMs: HOUR },
    random: () => 0.5,
    ...changes,
  };
}

describe('gaps', () => {
  it('permits that are released in any order leave their times, up to the latest that stands', () => {
    const orders = fc.tuple(fc.shuffledSubarray([1, 2, 3, 4, 5, 6]), fc.integer({ min: 1, max: 6 }));
    const everyOrder = fc.property(orders, ([order, again]) => {
      const starts = new Starts();
      const first = started(starts);
      const permits = [1, 2, 3, 4, 5, 6].map((count) => permitAt(starts, START + count * SECOND));
      for (const count of order) starts.release(permits[count - 1]!);
      const standing = [1, 2, 3, 4, 5, 6].filter((count) => !order.includes(count));
      const latest = standing.at(-1) ?? 0;
      expect(starts.earliestStart(START, request())).toBe(START + (latest + 1) * SECOND);
      // What was released gets a time behind those that stand.
      if (!order.includes(again)) return;
      const another = permitAt(starts, START + (latest + 1) * SECOND);
      starts.release(another);
      for (const count of standing) starts.release(permits[count - 1]!);
      expect(starts.earliestStart(START, request())).toBe(first.at + SECOND);
    });
    fc.assert(everyOrder);
  });

  it('what decides the time is the request for robots.txt, the longer of two gaps, or a pause', () => {
    const starts = new Starts();
    const default500: Gap = { delayMs: 500, delayFrom: 'default-delay' };
    const own: StartRequest = { gap: default500, notBefore: START + 500, gapToRobots: default500 };
    expect(starts.cause(START, own).delayFrom).toBe('default-delay');
    started(starts);
    expect(starts.cause(START, own).delayFrom).toBe('crawl-delay');
    starts.learn(signal({ askedMs: MINUTE }));
    expect(starts.cause(START, own).delayFrom).toBe('retry-after');
  });
});

describe('permits', () => {
  it('are as many as the request allows, and free again when one ends', () => {
    const starts = new Starts();
    const free = (concurrency: number, at = START): boolean => starts.hasFreePermit(at, at, concurrency);
    const first = started(starts, request({ gap: gap(0) }));
    expect(free(2)).toBe(true);
    started(starts, request({ gap: gap(0) }));
    expect([free(2), free(3)]).toEqual([false, true]);
    // The end is never reported.
    expect(starts.nextExpiry(START)).toBe(START + 30 * SECOND);
    expect([free(2, START + 30 * SECOND - 1), free(2, START + 30 * SECOND)]).toEqual([false, true]);
    starts.release(first);
    expect(free(2)).toBe(true);
  });

  it('are forgotten once expired, from the oldest up to the first that lasts', () => {
    const starts = new Starts();
    const [first, second, third] = [0, 1_000, 2_000].map((ms) => permitAt(starts, START + ms));
    starts.forgetExpired(START + 31_000);
    // No chain of earlier permits is kept either.
    expect([first, second].map((each) => [starts.release(each!), each!.previousStart])).toEqual([
      [false, undefined],
      [false, undefined],
    ]);
    expect(starts.release(third!)).toBe(true);
  });

  it('that are booked ahead count until their time comes, or they are released', () => {
    const starts = new Starts();
    const [, second] = [1_000, 2_000, 3_000].map((ms) => permitAt(starts, START + ms, gap(SECOND), true));
    expect(starts.bookedAhead(START)).toEqual({ count: 3, firstAt: START + 1_000 });
    starts.release(second!);
    expect(starts.bookedAhead(START + 1_000)).toEqual({ count: 1, firstAt: START + 3_000 });
    expect(starts.bookedAhead(START + 3_000).count).toBe(0);
  });
});

describe('pauses', () => {
  it.each([
    ['the least', 0, 27],
    ['the middle', 0.5, 30],
    ['the most', 1, 33],
  ])('a response that names no time begins one of 30 seconds, ± 10 %%: %s', (_, random, seconds) => {
    const starts = new Starts();
    const pause = starts.learn(signal({ random: () => random }));
    expect(pause).toEqual({
      from: START,
      until: START + seconds * SECOND,
      incident: 1,
      status: 429,
      delayFrom: 'back-off',
    });
    expect(starts.earliestStart(START, request())).toBe(pause?.until);
    expect(starts.cause(START, request()).delayFrom).toBe('back-off');
  });

  it.each([
    ['a time', SECOND],
    ['no time', undefined],
  ])(
    'the response to a request that was booked for a time during it never ends it sooner: %s',
    (_, askedMs) => {
      const starts = new Starts();
      starts.learn(signal({ askedMs: HOUR }));
      const [now, startedAt] = [START + 11 * SECOND, START + 10 * SECOND];
      starts.learn(signal({ now, startedAt, askedMs }));
      expect(starts.earliestStart(now, request())).toBe(START + HOUR);
      starts.learn(signal({ now, startedAt, askedMs: HOUR }));
      expect(starts.earliestStart(now, request())).toBe(now + HOUR);
    },
  );

  it('responses to requests that started before it began belong to its incident, also after its end', () => {
    const starts = new Starts();
    starts.learn(signal());
    for (const startedAt of [START - MINUTE, START]) {
      expect(starts.learn(signal({ now: START + 5 * SECOND, startedAt }))).toBeUndefined();
    }
    expect(starts.learn(signal({ now: START + 31 * SECOND }))).toBeUndefined();
    const next = starts.learn(signal({ now: START + 32 * SECOND, startedAt: START + 31 * SECOND }));
    expect(next).toMatchObject({ incident: 2, until: START + (32 + 60) * SECOND });
  });

  it('a time that the site names is obeyed as it is, and counts as an incident', () => {
    const starts = new Starts();
    const named = { until: START + 7 * SECOND, incident: 1, delayFrom: 'retry-after' };
    expect(starts.learn(signal({ askedMs: 7 * SECOND, random: () => 1 }))).toMatchObject(named);
    const later = { now: START + 9 * SECOND, startedAt: START + 8 * SECOND };
    expect(starts.learn(signal(later))).toMatchObject({ incident: 2, until: START + 69 * SECOND });
  });

  it('doubles with each incident, up to the longest, and begins anew after 30 quiet minutes', () => {
    const starts = new Starts();
    let now = START;
    const incident = (quietMs: number): number | undefined => {
      now += quietMs;
      const pause = starts.learn(signal({ now, startedAt: now - 1, random: () => 1 }));
      const ms = pause && pause.until - pause.from;
      now = pause?.until ?? now;
      return ms;
    };
    const lengths = Array.from({ length: 9 }, () => incident(MINUTE));
    expect(lengths).toEqual([33, 66, 132, 264, 528, 1_056, 2_112, 3_600, 3_600].map((s) => s * SECOND));
    expect(incident(30 * MINUTE - 1)).toBe(HOUR);
    expect(incident(30 * MINUTE)).toBe(33 * SECOND);
  });

  it('without back-off only the times that sites name count', () => {
    const starts = new Starts();
    expect(starts.learn(signal({ backOff: false }))).toBeUndefined();
    expect(starts.learn(signal({ backOff: false, askedMs: SECOND }))).toMatchObject({ incident: 1 });
  });
});
