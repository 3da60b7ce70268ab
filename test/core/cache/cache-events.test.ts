import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import { CacheEntry } from '../../../src/core/cache/entry.ts';
import { CacheEvents } from '../../../src/core/cache/cache-events.ts';
import { type OriginRecord, profiles } from '../../../src/core/lifecycle/index.ts';
import { DAY, HOUR, outcomes, START, Story } from '../lifecycle/support.ts';

const CLIENT = {};

/** What is told when the second record takes the place of the first. */
function received(before: OriginRecord | undefined, after: OriginRecord, at: number): unknown[] {
  const messages: unknown[] = [];
  const listener = (message: unknown): void => void messages.push(message);
  subscribe('canfetch:policy-change', listener);
  const entry = (record: OriginRecord): CacheEntry => new CacheEntry(record, profiles.rfc9309);
  const events = new CacheEvents(CLIENT);
  events.addChange(entry(after), before && entry(before), at);
  events.publish();
  unsubscribe('canfetch:policy-change', listener);
  return messages;
}

const made = (...met: Parameters<Story['meets']>[0][]): OriginRecord => {
  const story = new Story();
  return met.map((outcome) => story.meets(outcome)).at(-1)!;
};
const rules = (text: string): OriginRecord => made(outcomes.success({}, text));
const ORIGIN = 'https://example.com';

describe('a change of policy is reported', () => {
  it('when an origin is known for the first time', () => {
    expect(received(undefined, rules('a'), START)).toEqual([
      { origin: ORIGIN, before: 'unknown', after: 'rules', fileChanged: true, at: START, client: CLIENT },
    ]);
    expect(received(undefined, made(outcomes.unavailable()), START + 1)).toEqual([
      {
        origin: ORIGIN,
        before: 'unknown',
        after: 'allow-all',
        fileChanged: false,
        at: START + 1,
        client: CLIENT,
      },
    ]);
  });

  it.each([
    ['an byte', 'abc', 'abd'],
    ['the first byte', 'abc', 'xbc'],
    ['a shorter file', 'abc', 'ab'],
    ['a longer file', 'ab', 'abc'],
    ['an emptied file', 'abc', ''],
  ])('when %s differs', (_, one, other) => {
    expect(received(rules(one), rules(other), START)).toMatchObject([
      { before: 'rules', after: 'rules', fileChanged: true },
    ]);
  });

  it('when the state differs, with whether the file differs too', () => {
    expect(received(rules('a'), made(outcomes.unavailable()), START)).toMatchObject([
      { before: 'rules', after: 'allow-all', fileChanged: true },
    ]);
    expect(received(made(outcomes.unavailable()), made(outcomes.restricted()), START)).toMatchObject([
      { before: 'allow-all', after: 'disallow-all', fileChanged: false },
    ]);
  });

  it('against the state that a stale answer had before', () => {
    const story = new Story();
    const stale = story.meets(outcomes.unavailable());
    const fresh = story.later(2 * DAY).meets(outcomes.success());
    expect(received(stale, fresh, story.now)).toMatchObject([{ before: 'allow-all', after: 'rules' }]);
    const same = new Story();
    const first = same.meets(outcomes.success());
    expect(received(first, same.later(2 * DAY).meets(outcomes.success()), same.now)).toEqual([]);
  });

  it('not for a record of site signals alone; after one, as for an unknown origin', () => {
    const signal: OriginRecord = { origin: ORIGIN, site: { reachable: true, at: START } };
    expect(received(undefined, signal, START)).toEqual([]);
    expect(received(signal, rules('a'), START)).toMatchObject([{ before: 'unknown', after: 'rules' }]);
  });
});

describe('no change is reported', () => {
  it('for the same bytes in the same state', () => {
    expect(received(rules('abc'), rules('abc'), START)).toEqual([]);
    expect(received(made(outcomes.unavailable()), made(outcomes.unavailable({}, 410)), START)).toEqual([]);
  });

  it('for a record that is stale on arrival', () => {
    expect(received(undefined, rules('a'), START + DAY)).toEqual([]);
    expect(received(rules('a'), rules('b'), START + DAY - HOUR)).toHaveLength(1);
  });
});
