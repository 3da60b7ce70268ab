import { describe, expect, it } from 'vitest';
import { isForGood, type Outcome, withSiteSignal } from '../../../src/core/lifecycle/index.ts';
import { DAY, HOUR, outcomes, Story } from './support.ts';

const failing = (error: string, hops = 0): Outcome => ({
  kind: 'unreachable',
  error,
  finalUrl: 'https://example.com/robots.txt',
  hops,
});
const gone = failing('ENOTFOUND');

/** Whether the site is given up after these outcomes, a day apart. */
function givesUpAfter(...met: readonly Outcome[]): boolean {
  const story = new Story();
  for (const each of met) story.later(2 * DAY).meets(each);
  return isForGood(story.record!);
}

describe('a dead site', () => {
  it.each([
    'ENOTFOUND',
    'ECONNREFUSED',
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('is tried once more, then it is for good (%s)', (error) => {
    const story = new Story();
    story.meets(failing(error));
    expect(story.stateOf).toMatchObject({ retryAt: story.now + 30_000 });
    story.later(30_000).meets(failing(error));
    expect(story.stateOf).toStrictEqual({ state: 'disallow-all', reason: 'unreachable' });
    // Who asks later gives it another try, and it may have come to life.
    expect(story.later(HOUR).due).toBe('now');
    story.meets(outcomes.success());
    expect(story.stands).toBe('rules');
  });

  it.each([
    'ERR_ROBOTS_DEADLINE',
    'ERR_ROBOTS_PROXY',
    'UND_ERR_SOCKET',
    'EAI_AGAIN',
    'ECONNRESET',
    'ENETUNREACH',
  ])('is none that is busy or broken (%s)', (error) => {
    const one = failing(error);
    expect(givesUpAfter(one, one, one)).toBe(false);
    expect(givesUpAfter(one, gone, gone)).toBe(false);
    expect(givesUpAfter(gone, gone, one)).toBe(false);
  });

  it('is none that has ever responded, whatever it said, or of which a page was seen', () => {
    const redirected = failing('ENOTFOUND', 1);
    for (const response of [...Object.values(outcomes).map((make) => make()), redirected])
      expect(givesUpAfter(response, gone, gone, gone)).toBe(false);
    expect(givesUpAfter(gone, gone)).toBe(true);
    const story = new Story();
    story.meets(gone);
    story.later(30_000).meets(gone);
    const seen = withSiteSignal(story.record, 'https://example.com', true, story.now);
    expect(isForGood(seen)).toBe(false);
    expect(isForGood(withSiteSignal(seen, 'https://example.com', false, story.now))).toBe(true);
  });

  it('is one again after it has been asked in vain, but not for the failures before its last response', () => {
    expect(givesUpAfter(gone, outcomes.success(), gone, gone)).toBe(false);
    expect(givesUpAfter(gone)).toBe(false);
  });
});
