import { describe, expect, it } from 'vitest';
import { restartBackoff } from '../../../src/core/lifecycle/index.ts';
import { DAY, HOUR, MINUTE, outcomes, SECOND, START, Story } from './support.ts';

describe('a failure', () => {
  it('counts from the first in a row and pauses ever longer, up to an hour', () => {
    const story = new Story();
    const pauses = [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600].map((seconds) => seconds * SECOND);
    for (const [index, pause] of pauses.entries()) {
      const { failure } = story.meets(outcomes.unreachable());
      expect(failure).toMatchObject({
        since: START,
        at: story.now,
        attempts: index + 1,
        retryAt: story.now + pause,
      });
      story.later(pause);
    }
  });

  it('pauses an hour after any number of attempts', () => {
    const story = new Story();
    const record = story.meets(outcomes.unreachable());
    if (record.failure === undefined) throw new Error('no failure');
    story.record = { ...record, failure: { ...record.failure, attempts: 5000 } };
    expect(story.meets(outcomes.unreachable()).failure?.retryAt).toBe(START + HOUR);
  });

  it.each([
    [0, 30 * SECOND],
    [0.5, 28.5 * SECOND],
    [1, 27 * SECOND],
  ])('with %d drawn pauses %d ms', (random, pause) => {
    const story = new Story();
    story.random = random;
    expect(story.meets(outcomes.unreachable()).failure?.retryAt).toBe(START + pause);
  });

  it.each([SECOND, 10 * SECOND, DAY])('pauses %i ms when Retry-After says so, without jitter', (pause) => {
    const story = new Story();
    story.random = 0.9;
    expect(story.meets(outcomes.unreachable(pause)).failure?.retryAt).toBe(START + pause);
  });

  it('restarts its pause when the clock is set back to before it, with the same length', () => {
    const story = new Story();
    story.meets(outcomes.unreachable());
    const record = story.later(HOUR).meets(outcomes.unreachable());
    expect(restartBackoff(record, story.profile, story.now)).toBe(record);
    expect(restartBackoff(record, story.profile, START)).toStrictEqual({
      ...record,
      failure: { ...record.failure, retryAt: START + MINUTE },
    });
    story.random = 0.5;
    const jittered = story.later(HOUR).meets(outcomes.unreachable());
    expect(restartBackoff(jittered, story.profile, story.now - SECOND)).toBe(jittered);
  });

  it('has no status when no response came', () => {
    const story = new Story();
    const outcome = {
      kind: 'unreachable',
      error: 'ENOTFOUND',
      finalUrl: 'https://example.com/robots.txt',
      hops: 0,
    } as const;
    expect(story.meets(outcome).failure).not.toHaveProperty('status');
    expect(story.record?.failure).toMatchObject({ error: 'ENOTFOUND' });
  });
});
