import { describe, expect, it } from 'vitest';
import type { OriginRecord } from '../../../src/core/lifecycle/index.ts';
import { sourceOf } from '../../../src/core/decision/robots-source.ts';
import { DAY, HOUR, START } from '../lifecycle/support.ts';

const url = 'https://example.com/robots.txt';
const answer = {
  kind: 'rules',
  status: 200,
  finalUrl: url,
  hops: 0,
  fetchedAt: START,
  staleAt: START + DAY,
} as const;
const copy = { ...answer, fetchedAt: START - HOUR, body: new Uint8Array(), truncated: false };
const failure = {
  since: START + 2 * DAY,
  at: START + 2 * DAY,
  attempts: 1,
  retryAt: START + 3 * DAY,
  status: 503,
  error: 'ERR_ROBOTS_STATUS',
  finalUrl: 'https://example.com/down',
  hops: 2,
} as const;
const record = (members: Partial<OriginRecord>): OriginRecord => ({
  origin: 'https://example.com',
  ...members,
});

describe('the source of a decision', () => {
  it('has the time of the copy when there is no answer', () => {
    const source = sourceOf(record({ copy, failure }), 'memory', false, true);
    expect(source).toMatchObject({ fetchedAt: START - HOUR, error: 'ERR_ROBOTS_STATUS' });
    expect(source).not.toHaveProperty('staleAt');
  });

  it('has no status and no times when nothing is known', () => {
    expect(sourceOf(record({}), 'memory', false, false)).toEqual({
      url,
      finalUrl: url,
      hops: 0,
      source: 'memory',
    });
  });
});
