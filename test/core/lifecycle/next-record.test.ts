import { describe, expect, it } from 'vitest';
import { profiles, withSiteSignal } from '../../../src/core/lifecycle/index.ts';
import type { Profile } from '../../../src/core/lifecycle/index.ts';
import { DAY, HOUR, outcomes, START, Story } from './support.ts';

const keeping: Profile = { ...profiles.rfc9309, keepCopyOnUnavailableMs: DAY };

describe('a success', () => {
  it('is an answer and a new copy', () => {
    const headers = { etag: '"1"', lastModified: 'Mon, 01 Jun 2026 00:00:00 GMT', contentType: 'text/plain' };
    const outcome = outcomes.success(headers, 'User-agent: *');
    const record = new Story().meets(outcome);
    const route = { status: 200, finalUrl: 'https://example.com/robots.txt', hops: 0 };
    expect(record).toStrictEqual({
      origin: 'https://example.com',
      answer: { kind: 'rules', ...route, fetchedAt: START, staleAt: START + DAY, headers },
      copy: {
        ...route,
        body: new TextEncoder().encode('User-agent: *'),
        truncated: false,
        fetchedAt: START,
        ...headers,
      },
    });
    expect(record.copy?.body).toBe(outcome.kind === 'success' ? outcome.body : undefined);
  });
});

describe('a 304', () => {
  it('renews the lifetime and shares the body', () => {
    const story = new Story();
    const first = story.meets(
      outcomes.success({ etag: '"1"', lastModified: 'a', contentType: 'text/plain' }),
    );
    const second = story.later(DAY).meets(outcomes.notModified({ cacheControl: 'max-age=3600' }));
    expect(second.answer).toMatchObject({ notModified: true, staleAt: START + DAY + HOUR });
    expect(second.copy).toEqual({ ...first.copy, fetchedAt: START + DAY });
    expect(second.copy?.body).toBe(first.copy?.body);
  });

  it('replaces the validators that it has, and keeps the others', () => {
    const story = new Story();
    story.meets(outcomes.success({ etag: '"1"', lastModified: 'a' }));
    expect(story.later(DAY).meets(outcomes.notModified({ etag: '"2"' })).copy).toMatchObject({
      etag: '"2"',
      lastModified: 'a',
    });
  });
});

describe('an unavailable answer', () => {
  it('keeps the time of the first of several in a row', () => {
    const story = new Story(keeping);
    const since = () =>
      story.record?.answer?.kind === 'unavailable' ? story.record.answer.since : undefined;
    story.meets(outcomes.unavailable());
    story.later(HOUR).meets(outcomes.unavailable());
    expect(since()).toBe(START);
    story.later(HOUR).meets(outcomes.unreachable());
    story.later(HOUR).meets(outcomes.unavailable());
    expect(since()).toBe(START);
    story.later(HOUR).meets(outcomes.success());
    story.later(HOUR).meets(outcomes.unavailable());
    expect(since()).toBe(START + 5 * HOUR);
  });
});

describe('keepCopyOnUnavailableMs', () => {
  const hourly = { cacheControl: 'max-age=7200' };

  it('bounds the copy in an outage too', () => {
    const story = new Story(keeping);
    story.meets(outcomes.success());
    story.later(DAY).meets(outcomes.unavailable(hourly));
    story.later(2 * HOUR).meets(outcomes.unreachable());
    expect(story.stands).toBe('last-good');
    expect(story.later(22 * HOUR - 1).stands).toBe('last-good');
    expect(story.later(1).stands).toBe('disallow-all, unreachable');
  });

  it('does not keep the copy after a restricted answer', () => {
    const story = new Story({ ...profiles['koster-1996'], keepCopyOnUnavailableMs: DAY });
    story.meets(outcomes.success());
    expect(story.later(DAY).meets(outcomes.restricted())).not.toHaveProperty('copy');
    expect(story.stands).toBe('disallow-all, restricted');
  });
});

it.each(['success', 'unavailable', 'restricted', 'unreachable', 'notModified'] as const)(
  'a site signal outlives %s',
  (kind) => {
    const story = new Story();
    story.record = withSiteSignal(undefined, 'https://example.com', true, START);
    expect(story.later(DAY).meets(outcomes[kind]()).site).toEqual({ reachable: true, at: START });
  },
);
