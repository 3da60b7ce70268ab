import { describe, expect, it } from 'vitest';
import { type Profile, profiles, timeInPause } from '../../../src/core/lifecycle/index.ts';
import { DAY, HOUR, outcomes, START, Story } from './support.ts';

describe('a fresh answer', () => {
  it('of rules without a copy is not in force', () => {
    const story = new Story();
    const { origin, answer } = story.meets(outcomes.success());
    story.record = { origin, ...(answer === undefined ? {} : { answer }) };
    expect([story.stands, story.due]).toEqual(['unknown', 'now']);
  });
});

describe('in a pause of its origin, an answer', () => {
  it.each([
    ['past its lifetime', 2 * DAY],
    ['after the clock was set back to before it', -HOUR],
  ])('serves %s', (_, sinceMs) => {
    const story = new Story();
    const record = story.meets(outcomes.success());
    expect(story.later(sinceMs).stands).toBe('unknown');
    story.now = timeInPause(record, story.profile, story.now);
    expect(story.stands).toBe('rules');
  });
});

describe('a profile that allows while robots.txt is unreachable', () => {
  const advisory: Profile = {
    ...profiles.rfc9309,
    name: 'advisory',
    whileUnreachable: [{ untilMs: null, withCopy: 'last-good', withoutCopy: 'allow-all' }],
  };

  it('says so from the first failure on, and never that an outage has lasted too long', () => {
    const story = new Story(advisory);
    story.meets(outcomes.unreachable());
    expect(story.stands).toBe('allow-all, unreachable-allowed');
    expect(story.later(60 * DAY).stands).toBe('allow-all, unreachable-allowed');
  });
});

describe('a clock set back', () => {
  it('puts an answer from the future out of force', () => {
    const story = new Story();
    story.meets(outcomes.unavailable());
    expect([story.later(-1).stands, story.due]).toEqual(['unknown', 'now']);
  });

  it('counts last-good as stricter than allow-all, at either time', () => {
    const phases = (...treatments: readonly ('last-good' | 'allow-all')[]): Profile => ({
      ...profiles.rfc9309,
      whileUnreachable: treatments.map((withCopy, index) => ({
        untilMs: index === treatments.length - 1 ? null : DAY,
        withCopy,
        withoutCopy: 'disallow-all',
      })),
    });
    for (const profile of [phases('last-good', 'allow-all'), phases('allow-all', 'last-good')]) {
      const story = new Story(profile);
      story.meets(outcomes.success());
      story.later(DAY).meets(outcomes.unreachable());
      story.later(2 * DAY).meets(outcomes.unreachable());
      expect(story.later(-DAY - HOUR).stands).toBe('last-good');
    }
  });

  it('restarts the phases when it is before the first failure', () => {
    const story = new Story();
    story.meets(outcomes.unreachable());
    story.later(-DAY).meets(outcomes.unreachable());
    expect(story.record?.failure).toMatchObject({ since: START - DAY, attempts: 2 });
    expect(story.later(30 * DAY - 1).stands).toBe('disallow-all, unreachable');
  });

  it('ends a pause that is longer than the profile allows', () => {
    const story = new Story();
    story.meets(outcomes.unreachable());
    expect(story.later(-HOUR).due).toBe('none');
    expect([story.later(-365 * DAY).due, story.stands]).toEqual(['now', 'disallow-all, unreachable']);
  });

  it('keeps the longest pause that the profile allows', () => {
    const story = new Story();
    story.meets(outcomes.unreachable(profiles.rfc9309.retryAfter.maxMs));
    expect(story.due).toBe('none');
    expect(story.later(-1).due).toBe('now');
  });

  it('keeps the copy of an unavailable answer', () => {
    const story = new Story({ ...profiles.rfc9309, keepCopyOnUnavailableMs: DAY });
    story.meets(outcomes.success());
    story.later(DAY).meets(outcomes.unavailable());
    story.later(-365 * DAY);
    expect(story.stands).toBe('unknown');
    story.meets(outcomes.unavailable());
    expect(story.stands).toBe('last-good');
  });
});
