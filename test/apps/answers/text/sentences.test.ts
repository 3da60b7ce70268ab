import { describe, expect, it } from 'vitest';
import type { PolicyLifetime } from '../../../../src/core/decision/index.ts';
import { lifetimeReason, nextAttemptReason } from '../../../../src/apps/answers/text/sentences.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 5, 1, 12);

describe('the reason for a lifetime', () => {
  const reason = (why: PolicyLifetime['why'], jitterMs?: number): string | undefined =>
    lifetimeReason({
      fetchedAt: 0,
      staleAt: 0,
      ...(why === undefined ? {} : { why }),
      ...(jitterMs === undefined ? {} : { jitterMs }),
    });

  it.each<[PolicyLifetime['why'], string | undefined]>([
    [undefined, undefined],
    [{ source: 'max-age', seconds: 60, ageSeconds: 0, lifetimeMs: HOUR }, 'max-age=60'],
    [{ source: 's-maxage', seconds: 60, ageSeconds: 5, lifetimeMs: HOUR }, 's-maxage=60 less Age 5'],
    [
      { source: 'max-age', ageSeconds: 5, lifetimeMs: 600_000, clampedBy: 'min' },
      'max-age is not a whole number, which counts as 0 raised to the floor of 10 min',
    ],
    [
      { source: 'max-age', seconds: 1e6, ageSeconds: 0, lifetimeMs: 24 * HOUR, clampedBy: 'max' },
      'max-age=1000000 cut to the ceiling of 24 h',
    ],
    [
      { source: 'expires', expiresAt: NOW + 2 * HOUR, servedAt: NOW, ageSeconds: 5, lifetimeMs: HOUR },
      'Expires 2 h after Date less Age 5',
    ],
    [
      { source: 'expires', expiresAt: NOW, servedAt: NOW, ageSeconds: 0, lifetimeMs: HOUR },
      'Expires not after Date',
    ],
    [
      { source: 'expires', expiresAt: NOW + HOUR, ageSeconds: 5, lifetimeMs: HOUR },
      'Expires without a Date to count from',
    ],
    [
      { source: 'expires', servedAt: NOW, ageSeconds: 5, lifetimeMs: HOUR },
      'Expires is not a date, which counts as past',
    ],
    [{ source: 'no-store', lifetimeMs: HOUR }, 'no-store'],
    [{ source: 'default', lifetimeMs: 24 * HOUR }, "the response does not set it, so the profile's 24 h"],
  ])('%j', (why, expected) => {
    expect(reason(why)).toBe(expected);
  });

  it('has the jitter, from a millisecond on', () => {
    const why = { source: 'no-cache', lifetimeMs: HOUR } as const;
    expect(reason(why, 0.9)).toBe('no-cache');
    expect(reason(why, 1)).toMatch(/^no-cache, .+ taken off at random$/);
    expect(reason(why, 60_000)).toMatch(/, (?:60 s|1 min) taken off at random$/);
  });
});

describe('the reason for the next attempt', () => {
  it.each<[Parameters<typeof nextAttemptReason>[0], string]>([
    [
      { why: 'refresh-ahead', at: NOW + 2 * HOUR },
      'in 2 h (2026-06-01 14:00:00Z), before it is stale, at the next question',
    ],
    [
      { why: 'backoff', at: NOW + 2 * HOUR, failures: 1 },
      'in 2 h (2026-06-01 14:00:00Z), our own backoff after 1 failure in a row',
    ],
    [
      { why: 'backoff', at: NOW + 2 * HOUR, failures: 2 },
      'in 2 h (2026-06-01 14:00:00Z), our own backoff after 2 failures in a row',
    ],
    [
      { why: 'retry-after', at: NOW + 2 * HOUR, failures: 1, pauseMs: 3 * HOUR } as never,
      'in 2 h (2026-06-01 14:00:00Z), as Retry-After asks: 3 h',
    ],
  ])('%j', (next, expected) => {
    expect(nextAttemptReason(next, NOW)).toBe(expected);
  });
});
