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
    [
      { source: 'expires', expiresAt: NOW + HOUR, ageSeconds: 5, lifetimeMs: HOUR },
      'Expires without a Date to count from',
    ],
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
