import { describe, expect, it } from 'vitest';
import { mergeRecords, type OriginRecord, profiles } from '../../../src/core/lifecycle/index.ts';
import { clampToNow, latestTime, retentionMs } from '../../../src/core/lifecycle/validate-record.ts';
import { DAY, HOUR, outcomes, START, Story } from './support.ts';

const rules = new Story().meets(outcomes.success());
const site = { reachable: true, at: START + HOUR };

describe('the newest of two records', () => {
  it('is that of the later attempt, and the first of two equally late ones', () => {
    const later = new Story().later(HOUR).meets(outcomes.unavailable());
    expect(mergeRecords(rules, later)).toBe(later);
    expect(mergeRecords(later, rules)).toBe(later);
    const same = structuredClone(rules);
    expect(mergeRecords(rules, same)).toBe(rules);
    expect(mergeRecords(rules, undefined)).toBe(rules);
  });

  it('has the later of the two site signals', () => {
    const earlier = { reachable: false, at: START };
    expect(mergeRecords(rules, { ...rules, site })).toEqual({ ...rules, site });
    expect(mergeRecords({ ...rules, site }, { ...rules, site: earlier }).site).toBe(site);
    expect(mergeRecords({ ...rules, site: earlier }, { ...rules, site }).site).toBe(site);
    const own = { ...rules, site };
    expect(mergeRecords(own, { ...rules, site: { reachable: false, at: site.at } })).toBe(own);
    expect(mergeRecords(rules, structuredClone(rules))).not.toHaveProperty('site');
  });
});

describe('a record from a clock ahead', () => {
  it('is moved back as a whole, so that its latest time is now', () => {
    const story = new Story();
    story.meets(outcomes.unavailable());
    const record: OriginRecord = { ...story.later(DAY).meets(outcomes.unreachable()), site };
    const full = { ...record, copy: rules.copy! };
    expect(latestTime(full)).toBe(START + DAY);
    const moved = clampToNow(full, START);
    expect(latestTime(moved)).toBe(START);
    expect(moved).toMatchObject({
      answer: { fetchedAt: START - DAY, since: START - DAY },
      copy: { fetchedAt: START - DAY },
      failure: { since: START, at: START, retryAt: full.failure!.retryAt - DAY },
      site: { reachable: true, at: site.at - DAY },
    });
    expect(moved.answer!.staleAt).toBe(full.answer!.staleAt - DAY);
  });

  it('gains no members, and stays as it is when it is not ahead', () => {
    expect(Object.keys(clampToNow(rules, START - DAY)).sort()).toEqual(Object.keys(rules).sort());
    expect(clampToNow({ origin: rules.origin, site }, START)).toEqual({
      origin: rules.origin,
      site: { ...site, at: START },
    });
    expect(clampToNow(rules, START)).toBe(rules);
    expect(clampToNow(rules, START - DAY).answer).not.toHaveProperty('since');
  });

  it('counts the start of the consecutive unavailable answers', () => {
    const record = new Story().meets(outcomes.unavailable());
    const answer = { ...record.answer!, fetchedAt: START - DAY } as NonNullable<OriginRecord['answer']>;
    expect(latestTime({ ...record, answer })).toBe(START);
  });
});

describe('the retention of a record', () => {
  it('of a site signal alone is 30 days from the signal', () => {
    const record = { origin: rules.origin, site };
    expect(retentionMs(record, profiles.rfc9309, START)).toBe(HOUR + 30 * DAY);
    expect(retentionMs(record, profiles.rfc9309, START + HOUR + 31 * DAY)).toBe(0);
  });
});
