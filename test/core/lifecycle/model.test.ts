import { expect, it } from 'vitest';
import {
  type Outcome,
  type ProfileName,
  profiles,
  withSiteSignal,
} from '../../../src/core/lifecycle/index.ts';
import fc from '../../support/fast-check.ts';
import { runs } from '../../support/thorough.ts';
import { DAY, HOUR, MINUTE, outcomes, SECOND, START, Story } from './support.ts';

/**
 * What a robots.txt means over time, written down a second time from the documents alone: it goes through all responses
 * from the first to `now`, and keeps no record. `maxAge` in seconds, times in ms.
 */
type Step =
  | {
      readonly kind: 'success' | 'notModified' | 'unavailable';
      readonly maxAge?: number;
      readonly pause: number;
    }
  | { readonly kind: 'unreachable'; readonly retryAfterMs: number | undefined; readonly pause: number }
  | { readonly kind: 'site'; readonly reachable: boolean; readonly pause: number };

/** The day from which an outage no longer counts, and what it means before: by profile. */
function outage(name: ProfileName, forMs: number, hasCopy: boolean, reachable: boolean): string {
  const copyOrAll = hasCopy ? 'last-good' : 'allow-all, unreachable-expired';
  const closed = 'disallow-all, unreachable';
  // RFC 9309 §2.3.1.4: "the crawler MUST assume complete disallow"; "30 days […] a cached copy".
  if (name === 'rfc9309') return hasCopy || forMs >= 30 * DAY ? copyOrAll : closed;
  // Google: "for the first 12 hours […] stops crawling"; "for the next 30 days […] the last good version".
  if (name === 'google' && forMs < 12 * HOUR) return closed;
  if (name === 'google' && forMs < 30 * DAY) return copyOrAll;
  if (name === 'google') return reachable ? 'allow-all, unreachable-expired' : closed;
  if (name === 'google-legacy') return forMs < 30 * DAY ? closed : copyOrAll;
  // Draft of 1996: "defer visits to the site until such time as the resource can be retrieved".
  return closed;
}

function model(
  name: ProfileName,
  steps: readonly Step[],
  now: number,
): readonly [state: string, isDue: boolean] {
  const [defaultMs, minMs] = /1996|1994/.test(name) ? [7 * DAY, SECOND] : [DAY, 10 * MINUTE];
  let [staleAt, failingSince, retryAt, at] = [-Infinity, Infinity, -Infinity, START];
  let [fresh, failures, hasCopy, reachable] = ['', 0, false, false];
  for (const step of steps) {
    const revalidates = step.kind === 'notModified' && hasCopy;
    if (step.kind === 'site') reachable = step.reachable;
    else if (step.kind === 'success' || step.kind === 'unavailable' || revalidates) {
      staleAt = at + Math.min(defaultMs, Math.max(minMs, (step.maxAge ?? defaultMs / SECOND) * SECOND));
      hasCopy = step.kind !== 'unavailable';
      fresh = hasCopy ? 'rules' : 'allow-all, unavailable';
      [failures, failingSince] = [0, Infinity];
    } else {
      failures++;
      failingSince = Math.min(failingSince, at);
      const waitMs = step.kind === 'unreachable' ? step.retryAfterMs : undefined;
      retryAt = at + (waitMs ?? Math.min(30 * SECOND * 2 ** (failures - 1), HOUR));
      // An answer that was stale at a failure stays stale.
      if (staleAt <= at) fresh = '';
    }
    at += step.pause;
  }
  const isFresh = fresh !== '' && now < staleAt;
  const isWaiting = failures > 0 && now < retryAt;
  if (isFresh) return [fresh, false];
  if (failures === 0) return ['unknown', true];
  return [outage(name, now - failingSince, hasCopy, reachable), !isWaiting];
}

const pause = fc.oneof(
  fc.integer({ min: 0, max: HOUR }),
  fc.integer({ min: 0, max: 2 * DAY }),
  fc.integer({ min: 0, max: 40 * DAY }),
);
const maxAge = fc.option(fc.constantFrom(0, 60, 3_600, 86_400, 900_000), { nil: undefined });
const retryAfterMs = fc.option(fc.integer({ min: SECOND, max: DAY }), { nil: undefined });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('success', 'notModified', 'unavailable'), maxAge, pause }),
  fc.record({ kind: fc.constant('unreachable'), retryAfterMs, pause }),
  fc.record({ kind: fc.constant('site'), reachable: fc.boolean(), pause }),
) as fc.Arbitrary<Step>;

function outcomeOf(each: Exclude<Step, { kind: 'site' }>): Outcome {
  if (each.kind === 'unreachable') return outcomes.unreachable(each.retryAfterMs);
  return outcomes[each.kind](each.maxAge === undefined ? {} : { cacheControl: `max-age=${each.maxAge}` });
}

it('any responses at any times mean what the model says, for every profile', () => {
  const names = Object.keys(profiles) as ProfileName[];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.array(step, { minLength: 1, maxLength: 10 }), (name, steps) => {
      const story = new Story(profiles[name]);
      for (const [index, each] of steps.entries()) {
        if (each.kind !== 'site') story.meets(outcomeOf(each));
        else story.record = withSiteSignal(story.record, 'https://example.com', each.reachable, story.now);
        const past = steps.slice(0, index + 1);
        for (const later of [0, each.pause]) {
          const [state, isDue] = model(name, past, story.now + later);
          const seen = new Story(profiles[name]);
          [seen.record, seen.now] = [story.record, story.now + later];
          expect([seen.stands, seen.due === 'now'], `${name}, step ${index}, ${later} ms later`).toEqual([
            state,
            isDue,
          ]);
        }
        story.later(each.pause);
      }
    }),
    { numRuns: runs(1_000) },
  );
});
