import { describe, expect, it } from 'vitest';
import {
  validateRecord,
  type OriginRecord,
  type Outcome,
  type Profile,
  profiles,
  retentionMs,
  withSiteSignal,
} from '../../../src/core/lifecycle/index.ts';
import { CLOCK_SKEW_MS } from '../../../src/core/lifecycle/validate-record.ts';
import { DAY, HOUR, MINUTE, outcomes, START, Story } from './support.ts';

const { rfc9309, google, 'koster-1996': koster } = profiles;
const legacy = profiles['google-legacy'];
const keeping: Profile = { ...rfc9309, keepCopyOnUnavailableMs: DAY };

const HOURLY = { cacheControl: 'max-age=3600' };

/** What a client of `maker` would hand on after these outcomes. */
function madeBy(maker: Profile, ...met: Parameters<Story['meets']>[0][]): OriginRecord {
  const story = new Story(maker);
  return met.map((outcome) => story.meets(outcome)).at(-1)!;
}

describe('a record made by another process', () => {
  it.each([
    ['success', madeBy(rfc9309, outcomes.success())],
    ['a 304 after it', madeBy(rfc9309, outcomes.success(), outcomes.notModified())],
    ['a failure', madeBy(rfc9309, outcomes.unreachable())],
    ['a failure after a success', madeBy(rfc9309, outcomes.success(), outcomes.unreachable(DAY))],
    ['a site signal alone', withSiteSignal(undefined, 'https://example.com', true, START)],
  ])('of the same profile is taken: %s', (_, record) => {
    expect(validateRecord(record, rfc9309, START)).toBeUndefined();
  });

  it.each([
    ['403 that opens the site there and closes it here', rfc9309, koster, outcomes.unavailable({}, 403)],
    ['401 that closes the site there and opens it here', koster, rfc9309, outcomes.restricted(HOURLY)],
    [
      '503 that opens the site there',
      { ...rfc9309, status: { ...rfc9309.status, '503': 'unavailable' } } satisfies Profile,
      rfc9309,
      outcomes.unavailable({}, 503),
    ],
    [
      'a failure by a status that is none here',
      { ...rfc9309, status: { ...rfc9309.status, '503': 'unreachable' } } satisfies Profile,
      { ...rfc9309, status: { ...rfc9309.status, '503': 'unavailable' } } satisfies Profile,
      outcomes.unreachable(),
    ],
    [
      'more redirects than are followed here',
      koster,
      rfc9309,
      { ...outcomes.success(HOURLY), hops: 6, finalUrl: 'https://example.com/6' },
    ],
  ])('is not taken when our profile gives the answer another meaning: %s', (_, maker, reader, outcome) => {
    expect(validateRecord(madeBy(maker, outcome), reader, START)).toBe('profile');
  });

  it('is taken with as many redirects as the profile follows', () => {
    const redirected = { ...outcomes.success(), hops: rfc9309.maxRedirects };
    expect(validateRecord(madeBy(rfc9309, redirected), rfc9309, START)).toBeUndefined();
  });

  it.each([
    ['after more redirects', koster, { ...outcomes.success(HOURLY), hops: 6 }],
    [
      'with a status that is no success here',
      { ...rfc9309, status: { ...rfc9309.status, '404': 'rules' } } satisfies Profile,
      { ...(outcomes.success() as Extract<Outcome, { kind: 'success' }>), status: 404 },
    ],
  ])('is not taken for a copy that ours would not have read, even when revalidated: %s', (_, maker, met) => {
    const record = madeBy(maker, met, outcomes.notModified(HOURLY));
    const answer = { ...record.answer!, status: 200 };
    expect(validateRecord({ ...record, answer }, rfc9309, START)).toBe('profile');
  });

  it('is taken with a failure that has the status of a success: the body was at fault', () => {
    const outcome = { ...outcomes.unreachable(), status: 200, error: 'ERR_ROBOTS_CONTENT_CODING' } as Outcome;
    expect(validateRecord(madeBy(rfc9309, outcome), rfc9309, START)).toBeUndefined();
  });

  it.each(['too-many-redirects', 'redirect-loop'] as const)(
    '%s is taken only if our profile treats it as unavailable',
    (reason) => {
      const outcome = { ...outcomes.unavailable({}, 302), kind: 'unavailable', reason, headers: {} } as const;
      expect(validateRecord(madeBy(rfc9309, outcome), rfc9309, START)).toBeUndefined();
      expect(validateRecord(madeBy(rfc9309, outcome), google, START)).toBeUndefined();
      expect(validateRecord(madeBy(rfc9309, outcome), koster, START)).toBe('profile');
    },
  );

  it('a challenge is taken only if our profile treats it by its status', () => {
    const wary: Profile = { ...rfc9309, challenge: 'unreachable' };
    for (const suspect of ['challenge', 'blocked'] as const) {
      for (const outcome of [outcomes.unavailable({}, 403), outcomes.success()]) {
        const record = madeBy(rfc9309, { ...outcome, suspect });
        expect(validateRecord(record, rfc9309, START)).toBeUndefined();
        expect(validateRecord(record, wary, START)).toBe('profile');
      }
    }
    expect(
      validateRecord(madeBy(rfc9309, { ...outcomes.success(), suspect: 'html' }), wary, START),
    ).toBeUndefined();
    const failed = madeBy(wary, { ...outcomes.unreachable(), error: 'ERR_ROBOTS_CHALLENGE' } as Outcome);
    expect(validateRecord(failed, wary, START)).toBeUndefined();
    expect(validateRecord(failed, rfc9309, START)).toBe('profile');
  });

  it('a disallowed redirect is taken only if our profile treats it as unavailable', () => {
    const outcome = {
      ...outcomes.unavailable({}, 302),
      kind: 'unavailable',
      reason: 'disallowed-redirect',
      headers: {},
    } as const;
    expect(validateRecord(madeBy(google, outcome), legacy, START)).toBeUndefined();
    expect(validateRecord(madeBy(google, outcome), rfc9309, START)).toBe('profile');
  });

  it('is not taken with a lifetime or a pause longer than the profile allows', () => {
    const week = madeBy(koster, outcomes.success());
    expect(validateRecord(week, rfc9309, START)).toBe('lifetime');
    const day = madeBy(rfc9309, outcomes.success());
    expect(
      validateRecord({ ...day, answer: { ...day.answer!, staleAt: START + DAY + 1 } }, rfc9309, START),
    ).toBe('lifetime');
    const paused = madeBy(rfc9309, outcomes.unreachable(DAY));
    const failure = { ...paused.failure!, retryAt: START + DAY + 1 };
    expect(validateRecord({ ...paused, failure }, rfc9309, START)).toBe('lifetime');
  });

  it('is not taken when it is from the future by more than the tolerated clock difference', () => {
    for (const record of [
      madeBy(rfc9309, outcomes.success()),
      madeBy(rfc9309, outcomes.unavailable()),
      madeBy(rfc9309, outcomes.unreachable()),
      withSiteSignal(undefined, 'https://example.com', true, START),
    ]) {
      expect(validateRecord(record, rfc9309, START - CLOCK_SKEW_MS)).toBeUndefined();
      expect(validateRecord(record, rfc9309, START - CLOCK_SKEW_MS - 1)).toBe('future');
    }
    const renewed = madeBy(rfc9309, outcomes.success());
    const copy = { ...renewed.copy!, fetchedAt: START + HOUR };
    expect(validateRecord({ ...renewed, copy }, rfc9309, START)).toBe('future');
  });

  it('is not taken when its parts contradict each other', () => {
    const { origin, answer, copy } = madeBy(rfc9309, outcomes.success());
    expect(validateRecord({ origin, answer: answer! }, rfc9309, START)).toBe('inconsistent');
    const later = { ...copy!, fetchedAt: START + 1 };
    expect(validateRecord({ origin, answer: answer!, copy: later }, rfc9309, START + 1)).toBe('inconsistent');
    const missing = madeBy(rfc9309, outcomes.unavailable()).answer!;
    const wrong = { ...missing, since: START + 1 } as typeof missing;
    expect(validateRecord({ origin, answer: wrong }, rfc9309, START + 1)).toBe('inconsistent');
    const { failure } = madeBy(rfc9309, outcomes.unreachable());
    expect(validateRecord({ origin, failure: { ...failure!, since: START + 1 } }, rfc9309, START + 1)).toBe(
      'inconsistent',
    );
  });
});

describe('the retention of a record', () => {
  it('with a copy is its lifetime, 30 days and the phases of the profile', () => {
    for (const [profile, days] of [
      [rfc9309, 61],
      [google, 61],
      [legacy, 61],
      [koster, 37],
    ] as const) {
      expect(retentionMs(madeBy(profile, outcomes.success()), profile, START)).toBe(days * DAY);
    }
  });

  it('with a failure is the pause, 30 days and the phases of the profile', () => {
    const record = madeBy(rfc9309, outcomes.unreachable(HOUR));
    expect(retentionMs(record, rfc9309, START)).toBe(60 * DAY + HOUR);
  });

  it('without a copy is its lifetime', () => {
    const record = madeBy(rfc9309, outcomes.unavailable({ cacheControl: 'max-age=3600' }));
    expect(retentionMs(record, rfc9309, START + MINUTE)).toBe(59 * MINUTE);
    expect(retentionMs(record, rfc9309, START + HOUR)).toBe(0);
    const copied = madeBy(keeping, outcomes.success(), outcomes.unavailable());
    expect(retentionMs(copied, keeping, START)).toBe(61 * DAY);
  });

  it('is at most ten years', () => {
    const whileUnreachable = [
      { untilMs: Number.MAX_SAFE_INTEGER, withCopy: 'last-good', withoutCopy: 'disallow-all' },
      { untilMs: null, withCopy: 'last-good', withoutCopy: 'disallow-all' },
    ] as const;
    const endless: Profile = { ...rfc9309, whileUnreachable };
    expect(retentionMs(madeBy(endless, outcomes.success()), endless, START)).toBe(3_650 * DAY);
  });
});
