import { describe, expect, it } from 'vitest';
import type { Gap } from '../../../src/core/pacing/gap.ts';
import type { PauseSignal } from '../../../src/core/pacing/pause.ts';
import { type Place, Schedule, type Wanted } from '../../../src/core/pacing/schedule.ts';
import { HOUR, MINUTE, SECOND, START } from '../../support/client.ts';

const gap = (delayMs: number): Gap => ({ delayMs, delayFrom: 'crawl-delay' });

function wanted(changes: Partial<Wanted> = {}): Wanted {
  return { gap: gap(SECOND), concurrency: 10, notBefore: -Infinity, ...changes };
}

/** Takes the next place, and leaves in it. */
function sent(schedule: Schedule, request: Wanted = wanted(), from = START): Place {
  const now = Math.max(from, schedule.due(from, request).at);
  const place = schedule.take({ at: now, delayFrom: 'crawl-delay' }, request.gap);
  expect(schedule.leave(place, now)).toBe(true);
  return place;
}

function signal(changes: Partial<PauseSignal> = {}): PauseSignal {
  return {
    now: START,
    leftAt: START - 1,
    status: 429,
    askedMs: undefined,
    backOff: { firstMs: 30 * SECOND, maxMs: HOUR },
    random: () => 0.5,
    ...changes,
  };
}

describe('gaps', () => {
  it('the first request may leave at once, each further one a gap later', () => {
    const schedule = new Schedule();
    const times = [0, 1, 2, 3].map(() => sent(schedule).at - START);
    expect(times).toEqual([0, 1_000, 2_000, 3_000]);
  });

  it('departures that nobody used are not made up for', () => {
    const schedule = new Schedule();
    sent(schedule);
    expect([1, 2].map(() => sent(schedule, wanted(), START + MINUTE).at - START - MINUTE)).toEqual([
      0, 1_000,
    ]);
  });

  it('the longer gap of two neighbours counts', () => {
    const schedule = new Schedule();
    const times = [0, 10_000, 0, 0].map((delayMs) => sent(schedule, wanted({ gap: gap(delayMs) })).at);
    expect(times.map((at) => at - START)).toEqual([0, 10_000, 20_000, 20_000]);
  });

  it('a request that leaves late moves the next one', () => {
    const schedule = new Schedule();
    const place = schedule.take({ at: START, delayFrom: 'crawl-delay' }, gap(SECOND));
    expect(schedule.leave(place, START + 700)).toBe(true);
    expect(schedule.due(START + 700, wanted()).at).toBe(START + 1_700);
  });

  it('a late request does not leave close behind one that was let go after it', () => {
    const schedule = new Schedule();
    const late = schedule.take({ at: START, delayFrom: 'crawl-delay' }, gap(SECOND));
    const next = schedule.take({ at: START + 1_000, delayFrom: 'crawl-delay' }, gap(SECOND));
    expect(schedule.leave(next, START + 1_000)).toBe(true);
    expect([1_500, 1_999, 2_000].map((afterMs) => schedule.leave(late, START + afterMs))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('a place given back is for the next request, and a second time for nobody', () => {
    const schedule = new Schedule();
    sent(schedule);
    const place = schedule.take({ at: START + 1_000, delayFrom: 'crawl-delay' }, gap(SECOND));
    expect(schedule.due(START, wanted()).at).toBe(START + 2_000);
    expect([schedule.free(place), schedule.free(place)]).toEqual([true, false]);
    expect(schedule.due(START, wanted()).at).toBe(START + 1_000);
  });
});

describe('places', () => {
  it('are as many as the request allows, and free again when one ends', () => {
    const schedule = new Schedule();
    const two = wanted({ gap: gap(0), concurrency: 2 });
    const first = sent(schedule, two);
    expect(schedule.due(START, two).placeAt).toBe(START);
    sent(schedule, two);
    // Unless somebody forgets them.
    expect(schedule.due(START, two).placeAt).toBe(START + 10 * MINUTE);
    // Who allows more may go.
    expect(schedule.due(START, wanted({ gap: gap(0), concurrency: 3 })).placeAt).toBe(START);
    schedule.free(first);
    expect(schedule.due(START, two).placeAt).toBe(START);
  });

  it('that nobody leaves from are free after 30 seconds, and then no longer usable', () => {
    const schedule = new Schedule();
    const place = schedule.take({ at: START, delayFrom: 'crawl-delay' }, gap(SECOND));
    expect(schedule.due(START, wanted({ concurrency: 1 })).placeAt).toBe(START + 30_000);
    expect(schedule.leave(place, START + 30_000)).toBe(false);
    expect(schedule.due(START + 30_000, wanted({ concurrency: 1 }))).toMatchObject({
      placeAt: START + 30_000,
    });
    // Its end, told after all, takes nobody else's departure back.
    const next = sent(schedule, wanted(), START + 30_000);
    schedule.free(place);
    expect(schedule.due(next.at, wanted()).at).toBe(next.at + SECOND);
  });
});

describe('pauses', () => {
  it.each([
    ['the least', 0, 27],
    ['the middle', 0.5, 30],
    ['the most', 1, 33],
  ])('an answer that names no time begins one of 30 seconds, ± 10 %%: %s', (_, random, seconds) => {
    const schedule = new Schedule();
    const pause = schedule.learn(signal({ random: () => random }));
    expect(pause).toEqual({
      from: START,
      until: START + seconds * SECOND,
      incident: 1,
      status: 429,
      delayFrom: 'back-off',
    });
    expect(schedule.due(START, wanted())).toMatchObject({ at: pause?.until, delayFrom: 'back-off' });
  });

  it('answers to requests that left before it began belong to its incident', () => {
    const schedule = new Schedule();
    schedule.learn(signal());
    for (const leftAt of [START - MINUTE, START]) {
      expect(schedule.learn(signal({ now: START + 5 * SECOND, leftAt }))).toBeUndefined();
    }
    // Also when they come after its end.
    expect(schedule.learn(signal({ now: START + 31 * SECOND }))).toBeUndefined();
    const next = schedule.learn(signal({ now: START + 32 * SECOND, leftAt: START + 31 * SECOND }));
    expect(next).toMatchObject({ incident: 2, until: START + (32 + 60) * SECOND });
  });

  it('a later end among their Retry-After moves its end, an earlier one does not', () => {
    const schedule = new Schedule();
    schedule.learn(signal());
    expect(schedule.learn(signal({ now: START + SECOND, askedMs: 5 * SECOND }))).toBeUndefined();
    expect(schedule.learn(signal({ now: START + SECOND, status: 503, askedMs: 40 * SECOND }))).toEqual({
      from: START,
      until: START + 41 * SECOND,
      incident: 1,
      status: 503,
      delayFrom: 'retry-after',
    });
    expect(schedule.learn(signal({ now: START + 50 * SECOND, askedMs: 9 * SECOND }))).toMatchObject({
      until: START + 59 * SECOND,
    });
  });

  it.each([
    ['a time', SECOND],
    ['no time', undefined],
  ])(
    'the answer to a request that was booked for a time during it never ends it sooner: %s',
    (_, askedMs) => {
      const schedule = new Schedule();
      schedule.learn(signal({ askedMs: HOUR }));
      const [now, leftAt] = [START + 11 * SECOND, START + 10 * SECOND];
      schedule.learn(signal({ now, leftAt, askedMs }));
      expect(schedule.due(now, wanted()).at).toBe(START + HOUR);
      schedule.learn(signal({ now, leftAt, askedMs: HOUR }));
      expect(schedule.due(now, wanted()).at).toBe(now + HOUR);
    },
  );

  it('doubles with each incident, up to the longest, and begins anew after 30 quiet minutes', () => {
    const schedule = new Schedule();
    let now = START;
    const incident = (quietMs: number): number | undefined => {
      now += quietMs;
      const pause = schedule.learn(signal({ now, leftAt: now - 1, random: () => 1 }));
      const ms = pause && pause.until - pause.from;
      now = pause?.until ?? now;
      return ms;
    };
    const lengths = Array.from({ length: 9 }, () => incident(MINUTE));
    expect(lengths).toEqual([33, 66, 132, 264, 528, 1_056, 2_112, 3_600, 3_600].map((s) => s * SECOND));
    expect(incident(30 * MINUTE - 1)).toBe(HOUR);
    expect(incident(30 * MINUTE)).toBe(33 * SECOND);
  });

  it('a time that the site names is obeyed as it is, and counts as an incident', () => {
    const schedule = new Schedule();
    expect(schedule.learn(signal({ askedMs: 7 * SECOND, random: () => 1 }))).toMatchObject({
      until: START + 7 * SECOND,
      incident: 1,
      delayFrom: 'retry-after',
    });
    const later = { now: START + 9 * SECOND, leftAt: START + 8 * SECOND };
    expect(schedule.learn(signal(later))).toMatchObject({ incident: 2, until: START + 69 * SECOND });
  });

  it('without back-off only the times that sites name count', () => {
    const schedule = new Schedule();
    expect(schedule.learn(signal({ backOff: false }))).toBeUndefined();
    expect(schedule.learn(signal({ backOff: false, askedMs: SECOND }))).toMatchObject({ incident: 1 });
  });

  it('nobody leaves during one, whatever place they have', () => {
    const schedule = new Schedule();
    const place = schedule.take({ at: START, delayFrom: 'crawl-delay' }, gap(0));
    const pause = schedule.learn(signal({ askedMs: 7 * SECOND }));
    const times = [START, START + 6_999, START + 7_000];
    expect(times.map((now) => schedule.leave(place, now))).toEqual([false, false, true]);
    expect([schedule.pauseAt(START + 6_999), schedule.pauseAt(START + 7_000)]).toEqual([pause, undefined]);
  });
});
