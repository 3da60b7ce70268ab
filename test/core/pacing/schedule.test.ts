import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PauseSignal } from '../../../src/core/pacing/pause.ts';
import { type Gap, type Permit, Schedule, type StartRequest } from '../../../src/core/pacing/schedule.ts';
import { HOUR, MINUTE, SECOND, START } from '../../support/client.ts';

const gap = (delayMs: number): Gap => ({ delayMs, delayFrom: 'crawl-delay' });

function request(changes: Partial<StartRequest> = {}): StartRequest {
  return { gap: gap(SECOND), notBefore: -Infinity, ...changes };
}

function permitAt(schedule: Schedule, at: number, wait: Gap = gap(SECOND), isAhead = false): Permit {
  const permit: Permit = {
    url: 'https://a.example/',
    gap: wait,
    at,
    expiresAt: at,
    isReleased: false,
    previousStart: undefined,
  };
  schedule.start(permit, at, 30 * SECOND, isAhead);
  return permit;
}

/** Starts the next request. */
function started(schedule: Schedule, wanted: StartRequest = request(), from = START): Permit {
  const now = Math.max(from, schedule.earliestStart(from, wanted));
  return permitAt(schedule, now, wanted.gap);
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
      const schedule = new Schedule();
      const first = started(schedule);
      const permits = [1, 2, 3, 4, 5, 6].map((count) => permitAt(schedule, START + count * SECOND));
      for (const count of order) schedule.release(permits[count - 1]!);
      const standing = [1, 2, 3, 4, 5, 6].filter((count) => !order.includes(count));
      const latest = standing.at(-1) ?? 0;
      expect(schedule.earliestStart(START, request())).toBe(START + (latest + 1) * SECOND);
      // What was released gets a time behind those that stand.
      if (!order.includes(again)) return;
      const another = permitAt(schedule, START + (latest + 1) * SECOND);
      schedule.release(another);
      for (const count of standing) schedule.release(permits[count - 1]!);
      expect(schedule.earliestStart(START, request())).toBe(first.at + SECOND);
    });
    fc.assert(everyOrder);
  });

  it('what decides the time is the request for robots.txt, the longer of two gaps, or a pause', () => {
    const schedule = new Schedule();
    const own: StartRequest = { gap: { delayMs: 500, delayFrom: 'default-delay' }, notBefore: START + 500 };
    expect(schedule.cause(START, own).delayFrom).toBe('default-delay');
    started(schedule);
    expect(schedule.cause(START, own).delayFrom).toBe('crawl-delay');
    schedule.learn(signal({ askedMs: MINUTE }));
    expect(schedule.cause(START, own).delayFrom).toBe('retry-after');
  });
});

describe('permits', () => {
  it('are as many as the request allows, and free again when one ends', () => {
    const schedule = new Schedule();
    const free = (concurrency: number, at = START): boolean => schedule.hasFreePermit(at, at, concurrency);
    const first = started(schedule, request({ gap: gap(0) }));
    expect(free(2)).toBe(true);
    started(schedule, request({ gap: gap(0) }));
    expect([free(2), free(3)]).toEqual([false, true]);
    // The end is never reported.
    expect(schedule.nextExpiry(START)).toBe(START + 30 * SECOND);
    expect([free(2, START + 30 * SECOND - 1), free(2, START + 30 * SECOND)]).toEqual([false, true]);
    schedule.release(first);
    expect(free(2)).toBe(true);
  });

  it('are forgotten once expired, from the oldest up to the first that lasts', () => {
    const schedule = new Schedule();
    const [first, second, third] = [0, 1_000, 2_000].map((ms) => permitAt(schedule, START + ms));
    schedule.forgetExpired(START + 31_000);
    // No chain of earlier permits is kept either.
    expect([first, second].map((each) => [schedule.release(each!), each!.previousStart])).toEqual([
      [false, undefined],
      [false, undefined],
    ]);
    expect(schedule.release(third!)).toBe(true);
  });

  it('that are booked ahead count until their time comes, or they are released', () => {
    const schedule = new Schedule();
    const [, second] = [1_000, 2_000, 3_000].map((ms) => permitAt(schedule, START + ms, gap(SECOND), true));
    expect(schedule.bookedAhead(START)).toEqual({ count: 3, firstAt: START + 1_000 });
    schedule.release(second!);
    expect(schedule.bookedAhead(START + 1_000)).toEqual({ count: 1, firstAt: START + 3_000 });
    expect(schedule.bookedAhead(START + 3_000).count).toBe(0);
  });
});

describe('the `retryAt` of a deferral', () => {
  const retries = (schedule: Schedule, now: number, at: number, wait: Gap): number[] =>
    [1, 2, 3].map(() => schedule.retryAt(now, at, wait) - START);

  it('is one gap later for each request deferred before', () => {
    const schedule = new Schedule();
    expect(retries(schedule, START, START + 700, gap(SECOND))).toEqual([700, 1_700, 2_700]);
    // A pause moves all that follow.
    expect(retries(schedule, START, START + MINUTE, gap(SECOND))).toEqual([60_000, 61_000, 62_000]);
    // These are over.
    expect(retries(schedule, START + HOUR, START + HOUR + 9, gap(SECOND))[0]).toBe(HOUR + 9);
  });

  it('lies in the future, and 100 ms apart, where the site asks for no gap', () => {
    expect(retries(new Schedule(), START, START, gap(0))).toEqual([100, 200, 300]);
  });

  it('is not pushed further than an hour by a program that ignores it', () => {
    const schedule = new Schedule();
    for (let count = 0; count < 10_000; count++) schedule.retryAt(START, START + SECOND, gap(SECOND));
    expect(schedule.retryAt(START, START + SECOND, gap(SECOND))).toBe(START + SECOND + HOUR);
  });
});

describe('pauses', () => {
  it.each([
    ['the least', 0, 27],
    ['the middle', 0.5, 30],
    ['the most', 1, 33],
  ])('a response that names no time begins one of 30 seconds, ± 10 %%: %s', (_, random, seconds) => {
    const schedule = new Schedule();
    const pause = schedule.learn(signal({ random: () => random }));
    expect(pause).toEqual({
      from: START,
      until: START + seconds * SECOND,
      incident: 1,
      status: 429,
      delayFrom: 'back-off',
    });
    expect(schedule.earliestStart(START, request())).toBe(pause?.until);
    expect(schedule.cause(START, request()).delayFrom).toBe('back-off');
  });

  it.each([
    ['a time', SECOND],
    ['no time', undefined],
  ])(
    'the response to a request that was booked for a time during it never ends it sooner: %s',
    (_, askedMs) => {
      const schedule = new Schedule();
      schedule.learn(signal({ askedMs: HOUR }));
      const [now, startedAt] = [START + 11 * SECOND, START + 10 * SECOND];
      schedule.learn(signal({ now, startedAt, askedMs }));
      expect(schedule.earliestStart(now, request())).toBe(START + HOUR);
      schedule.learn(signal({ now, startedAt, askedMs: HOUR }));
      expect(schedule.earliestStart(now, request())).toBe(now + HOUR);
    },
  );

  it('responses to requests that started before it began belong to its incident, also after its end', () => {
    const schedule = new Schedule();
    schedule.learn(signal());
    for (const startedAt of [START - MINUTE, START]) {
      expect(schedule.learn(signal({ now: START + 5 * SECOND, startedAt }))).toBeUndefined();
    }
    expect(schedule.learn(signal({ now: START + 31 * SECOND }))).toBeUndefined();
    const next = schedule.learn(signal({ now: START + 32 * SECOND, startedAt: START + 31 * SECOND }));
    expect(next).toMatchObject({ incident: 2, until: START + (32 + 60) * SECOND });
  });

  it('a time that the site names is obeyed as it is, and counts as an incident', () => {
    const schedule = new Schedule();
    const named = { until: START + 7 * SECOND, incident: 1, delayFrom: 'retry-after' };
    expect(schedule.learn(signal({ askedMs: 7 * SECOND, random: () => 1 }))).toMatchObject(named);
    const later = { now: START + 9 * SECOND, startedAt: START + 8 * SECOND };
    expect(schedule.learn(signal(later))).toMatchObject({ incident: 2, until: START + 69 * SECOND });
  });

  it('doubles with each incident, up to the longest, and begins anew after 30 quiet minutes', () => {
    const schedule = new Schedule();
    let now = START;
    const incident = (quietMs: number): number | undefined => {
      now += quietMs;
      const pause = schedule.learn(signal({ now, startedAt: now - 1, random: () => 1 }));
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
    const schedule = new Schedule();
    expect(schedule.learn(signal({ backOff: false }))).toBeUndefined();
    expect(schedule.learn(signal({ backOff: false, askedMs: SECOND }))).toMatchObject({ incident: 1 });
  });
});
