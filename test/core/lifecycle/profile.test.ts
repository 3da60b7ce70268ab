import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { classifyStatus, profiles } from '../../../src/core/lifecycle/index.ts';
import type { Profile, ProfileName } from '../../../src/core/lifecycle/index.ts';
import { DAY, outcomes, Story } from './support.ts';

const NAMES: readonly ProfileName[] = ['rfc9309', 'google', 'google-legacy', 'koster-1996', 'robotstxt-1994'];

/** No source document says how to try again after a failure. */
const AFTER_FAILURES = ['robotsRetry', 'retryAfter', 'keepCopyOnUnavailableMs'] as const;

describe('profiles', () => {
  it('are the five, each under its own name', () => {
    expect(Object.keys(profiles)).toEqual(NAMES);
    for (const name of NAMES) expect(profiles[name].name).toBe(name);
  });

  it('are plain JSON', () => {
    expect(JSON.parse(JSON.stringify(profiles))).toEqual(profiles);
  });

  it('are frozen through and through', () => {
    for (const profile of Object.values(profiles)) {
      expect(Object.isFrozen(profile)).toBe(true);
      for (const part of Object.values(profile))
        if (typeof part === 'object') expect(Object.isFrozen(part)).toBe(true);
      for (const phase of profile.whileUnreachable) expect(Object.isFrozen(phase)).toBe(true);
    }
  });

  it.each<[ProfileName, (keyof Profile)[]]>([
    ['google', ['maxRedirects', 'tooManyRedirects', 'challenge', 'lifetime', 'status', ...AFTER_FAILURES]],
    ['google-legacy', ['maxRedirects', 'tooManyRedirects', 'challenge', 'lifetime', ...AFTER_FAILURES]],
    ['koster-1996', ['disallowedRedirect', 'challenge', 'conditionalRequests', ...AFTER_FAILURES]],
    ['robotstxt-1994', ['disallowedRedirect', 'challenge', 'conditionalRequests', ...AFTER_FAILURES]],
  ])('%s has what it shares with rfc9309 on purpose: %j', (name, shared) => {
    const { rfc9309, [name]: profile } = profiles;
    const fields = (Object.keys(rfc9309) as (keyof Profile)[]).filter((field) =>
      isDeepStrictEqual(profile[field], rfc9309[field]),
    );
    expect(fields.sort()).toEqual(shared.sort());
  });
});

const meanings = (status: number) => NAMES.map((name) => classifyStatus(status, profiles[name]));
const all = (meaning: string) => NAMES.map(() => meaning);

describe('classifyStatus', () => {
  const closing = ['unavailable', 'unavailable', 'unavailable', 'restricted', 'restricted'];

  it.each([
    [all('rules'), [200, 206, 299]],
    [closing, [401, 403]],
    [all('unavailable'), [400, 404, 410, 451, 499]],
    [['unreachable', 'unreachable', 'unavailable', 'unreachable', 'unreachable'], [429]],
    [all('unreachable'), [500, 503, 599, 100, 103, 300, 304, 305, 600, 999, 0, -1, Number.NaN]],
  ])('%j: %j', (expected, statuses) => {
    for (const status of statuses) expect(meanings(status), `${status}`).toEqual(expected);
  });

  it('prefers an exact code to its class', () => {
    const status = { ...profiles.rfc9309.status, '503': 'unavailable' } as const;
    expect(classifyStatus(503, { status })).toBe('unavailable');
    expect(classifyStatus(502, { status })).toBe('unreachable');
  });

  it('reads entries of the map only, not of its prototype', () => {
    const status = Object.create({ '2xx': 'rules', '503': 'unavailable' });
    expect(classifyStatus(200, { status })).toBe('unreachable');
    expect(classifyStatus(503, { status })).toBe('unreachable');
  });
});

describe('while unreachable', () => {
  const disallow = 'disallow-all, unreachable';

  it('grants nothing where a profile names no phase', () => {
    const story = new Story({ ...profiles.rfc9309, whileUnreachable: [] });
    story.meets(outcomes.unreachable());
    expect(story.later(3650 * DAY).stands).toBe(disallow);
  });
});
