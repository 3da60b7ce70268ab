import { describe, expect, it } from 'vitest';
import { freshness, profiles, retryAfterMs } from '../../../src/core/lifecycle/index.ts';
import type { RobotsResponseHeaders, Freshness } from '../../../src/core/lifecycle/index.ts';
import fc from '../../support/fast-check.ts';
import { DAY, HOUR, MINUTE, SECOND, START } from './support.ts';

const http = (ms: number) => new Date(ms).toUTCString();

describe('freshness', () => {
  const floor = 10 * MINUTE;
  type Case = [string, RobotsResponseHeaders, number, Freshness['source'], ('min' | 'max')?];
  const cases: readonly Case[] = [
    ['no field', {}, DAY, 'default'],
    ['max-age', { cacheControl: 'max-age=3600' }, HOUR, 'max-age'],
    ['s-maxage before max-age', { cacheControl: 'max-age=60, s-maxage=3600' }, HOUR, 's-maxage'],
    ['any case', { cacheControl: 'Public, MAX-AGE=3600' }, HOUR, 'max-age'],
    ['a quoted value', { cacheControl: 'max-age="3600"' }, HOUR, 'max-age'],
    ['escapes in quotes', { cacheControl: String.raw`max-age="36\00"` }, HOUR, 'max-age'],
    ['the first of two', { cacheControl: 'max-age=3600, max-age=7200' }, HOUR, 'max-age'],
    [
      'no directive inside quotes',
      { cacheControl: String.raw`private="x, no-store, \", max-age=1", max-age=3600` },
      HOUR,
      'max-age',
    ],
    ['a first without a value', { cacheControl: 'max-age, max-age=3600' }, floor, 'max-age', 'min'],
    ['a backslash outside quotes', { cacheControl: String.raw`a\,max-age=3600` }, HOUR, 'max-age'],
    ['a quote never closed', { cacheControl: 'max-age=3600, a="no-store' }, HOUR, 'max-age'],
    ['Age off max-age', { cacheControl: 'max-age=7200', age: '3600' }, HOUR, 'max-age'],
    ['the first Age of a list', { cacheControl: 'max-age=7200', age: '3600, 1' }, HOUR, 'max-age'],
    ['an Age that is not a number of seconds', { cacheControl: 'max-age=3600', age: '-1' }, HOUR, 'max-age'],
    ['an Age as great as max-age', { cacheControl: 'max-age=3600', age: '3600' }, floor, 'max-age', 'min'],
    ['Age without a stated lifetime', { age: '3600' }, DAY, 'default'],
    ['max-age at the floor', { cacheControl: 'max-age=600' }, floor, 'max-age'],
    ['max-age at the ceiling', { cacheControl: 'max-age=86400' }, DAY, 'max-age'],
    ['a max-age of many digits', { cacheControl: `max-age=${'9'.repeat(400)}` }, DAY, 'max-age', 'max'],
    [
      'an Age of many digits',
      { cacheControl: `max-age=${'9'.repeat(400)}`, age: '9'.repeat(400) },
      floor,
      'max-age',
      'min',
    ],
    ...['-1', '1.5', '', '３６００', '"36000', '36000"', '"'].map((value): Case => [
      `max-age=${value}, which is stale`,
      { cacheControl: `max-age=${value}` },
      floor,
      'max-age',
      'min',
    ]),
    ['no-store', { cacheControl: 'no-store' }, floor, 'no-store', 'min'],
    ['no-cache', { cacheControl: 'no-cache' }, floor, 'no-cache', 'min'],
    [
      'no-cache for some fields',
      { cacheControl: 'no-cache="Set-Cookie", max-age=3600' },
      floor,
      'no-cache',
      'min',
    ],
    [
      'Expires less Date, whatever our clock says',
      { expires: http(START - DAY + HOUR), date: http(START - DAY) },
      HOUR,
      'expires',
    ],
    [
      'Expires less Date less Age',
      { expires: http(START + 2 * HOUR), date: http(START), age: '3600' },
      HOUR,
      'expires',
    ],
    ['an empty Expires', { expires: '' }, floor, 'expires', 'min'],
    ['Expires without Date', { expires: http(START + HOUR) }, HOUR, 'expires'],
    ['Expires in the past', { expires: http(START - DAY), date: http(START) }, floor, 'expires', 'min'],
    ['Expires far away', { expires: 'Fri, 31 Dec 9999 23:59:59 GMT' }, DAY, 'expires', 'max'],
    ['max-age before Expires', { cacheControl: 'max-age=3600', expires: '0' }, HOUR, 'max-age'],
  ];

  it.each(cases)('%s', (_, headers, lifetimeMs, source, clampedBy) => {
    const found = freshness(headers, profiles.rfc9309, START);
    expect([found.lifetimeMs, found.source, found.clampedBy]).toEqual([lifetimeMs, source, clampedBy]);
  });

  const reasons: readonly [string, RobotsResponseHeaders, Freshness][] = [
    [
      'no seconds for a value that is not a number',
      { cacheControl: 's-maxage=soon' },
      { source: 's-maxage', ageSeconds: 0, lifetimeMs: floor, clampedBy: 'min' },
    ],
    [
      'Expires and Date',
      { expires: http(START + HOUR), date: http(START - HOUR), age: '60' },
      {
        source: 'expires',
        expiresAt: START + HOUR,
        servedAt: START - HOUR,
        ageSeconds: 60,
        lifetimeMs: 2 * HOUR - MINUTE,
      },
    ],
    [
      'no time for an Expires that is not a date',
      { expires: '0' },
      { source: 'expires', ageSeconds: 0, lifetimeMs: floor, clampedBy: 'min' },
    ],
    [
      'RFC 9111 §1.2.2: 2^31 in place of a greater number of seconds',
      { cacheControl: `max-age=${2 ** 31 + 1}`, age: '9'.repeat(400) },
      { source: 'max-age', seconds: 2 ** 31, ageSeconds: 2 ** 31, lifetimeMs: floor, clampedBy: 'min' },
    ],
  ];

  it.each(reasons)('reports %s', (_, headers, expected) => {
    expect(freshness(headers, profiles.rfc9309, START)).toStrictEqual(expected);
  });

  it('is within the bounds of the profile', () => {
    const { 'koster-1996': koster } = profiles;
    expect(freshness({ cacheControl: '' }, koster, START).lifetimeMs).toBe(7 * DAY);
    expect(freshness({ cacheControl: 'no-store' }, koster, START).lifetimeMs).toBe(SECOND);
    expect(freshness({ cacheControl: 'max-age=60' }, koster, START).lifetimeMs).toBe(MINUTE);
    expect(freshness({ cacheControl: 'max-age=31536000' }, koster, START).lifetimeMs).toBe(7 * DAY);
  });

  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^((s-maxage|max-age|no-cache|no-store|x)[= ,"\\]{0,3}[0-9]{0,30}[",\\]?){0,6}$/),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  const anyHeaders = fc.record(
    { cacheControl: text, expires: text, date: text, age: text },
    { requiredKeys: [] },
  );

  it('is within the bounds for any header fields', () => {
    const profile = fc.constantFrom(...Object.values(profiles));
    fc.assert(
      fc.property(anyHeaders, profile, (headers, profile) => {
        const ms = freshness(headers, profile, START).lifetimeMs;
        expect(ms).toBeGreaterThanOrEqual(profile.lifetime.minMs);
        expect(ms).toBeLessThanOrEqual(profile.lifetime.maxMs);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes linear time for megabytes of quotes, commas and escapes', () => {
    for (const unit of ['"', ',', '\\', 'a="', '"\\', 'max-age=', ' ', 'a="\\"', '=']) {
      const field = unit.repeat(1_000_000 / unit.length);
      const seen = freshness({ cacheControl: field, expires: field, age: field }, profiles.rfc9309, START);
      expect(seen.lifetimeMs).toBe(floor);
    }
  });
});

describe('retryAfterMs', () => {
  const bounds = profiles.rfc9309.retryAfter;
  const cases: readonly [string, string | undefined, number | undefined, number?][] = [
    ['absent', undefined, undefined],
    ['seconds', '120', 2 * MINUTE],
    ['0', '0', undefined],
    ['0 among several', '0, 60', 60_000],
    ['a day', '86400', DAY],
    ['many digits', '9'.repeat(1000), DAY],
    ['a date', http(START + HOUR), HOUR],
    ['a date in the older forms', 'Monday, 01-Jun-26 13:00:00 GMT', HOUR],
    ['a date in the past', http(START - DAY), undefined],
    ['a date that is nearer than the shortest pause', http(START), SECOND, START - 400],
    ['a date far away', 'Fri, 31 Dec 9999 23:59:59 GMT', DAY],
    ['several lines', '120, 240, 60', 240_000],
    ['a date among several', '120, Mon, 01 Jun 2026 13:00:00 GMT, soon', HOUR],
    ['empty', '', undefined],
  ];

  it.each(cases)('%s', (_, header, expected, now = START) => {
    expect(retryAfterMs(header, now, bounds)).toBe(expected);
  });

  it('is within the bounds for any field', () => {
    const header = fc.oneof(fc.string(), fc.stringMatching(/^\d{0,400}$/), fc.date().map(String));
    fc.assert(
      fc.property(header, (header) => {
        const ms = retryAfterMs(header, START, bounds);
        if (ms === undefined) return;
        expect(ms).toBeGreaterThanOrEqual(bounds.minMs);
        expect(ms).toBeLessThanOrEqual(bounds.maxMs);
      }),
    );
  });
});
