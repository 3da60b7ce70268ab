import { describe, expect, it } from 'vitest';
import { profiles } from '../../../src/core/lifecycle/index.ts';
import type { Profile } from '../../../src/core/lifecycle/index.ts';
import { DAY, HOUR, outcomes, Story } from './support.ts';

const keeping: Profile = { ...profiles.rfc9309, keepCopyOnUnavailableMs: DAY };

describe('a 304', () => {
  it('replaces the validators that it has, and keeps the others', () => {
    const story = new Story();
    story.meets(outcomes.success({ etag: '"1"', lastModified: 'a' }));
    expect(story.later(DAY).meets(outcomes.notModified({ etag: '"2"' })).copy).toMatchObject({
      etag: '"2"',
      lastModified: 'a',
    });
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
