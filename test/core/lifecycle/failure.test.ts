import { describe, expect, it } from 'vitest';
import { restartBackoff } from '../../../src/core/lifecycle/index.ts';
import { HOUR, MINUTE, outcomes, SECOND, START, Story } from './support.ts';

describe('a failure', () => {
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
});
