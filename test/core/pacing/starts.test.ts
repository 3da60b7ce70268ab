import { describe, expect, it } from 'vitest';
import type { Gap } from '../../../src/core/pacing/gap.ts';
import type { PauseSignal } from '../../../src/core/pacing/pause-length.ts';
import { Starts, type StartRequest } from '../../../src/core/pacing/starts.ts';
import { HOUR, MINUTE, SECOND, START } from '../../support/client.ts';

const gap: Gap = { delayMs: SECOND, delayFrom: 'crawl-delay' };
const request: StartRequest = { gap, notBefore: -Infinity, gapToRobots: gap };

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

describe('pauses', () => {
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
      expect(starts.earliestStart(now, request)).toBe(START + HOUR);
      starts.learn(signal({ now, startedAt, askedMs: HOUR }));
      expect(starts.earliestStart(now, request)).toBe(now + HOUR);
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
