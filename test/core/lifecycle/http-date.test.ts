import { describe, expect, it } from 'vitest';
import { parseHttpDate } from '../../../src/core/lifecycle/freshness.ts';
import fc from '../../support/fast-check.ts';
import { DAY, START } from './support.ts';

const read = (text: string, now = START) => {
  const at = parseHttpDate(text, now);
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe('parseHttpDate', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37.000Z'],
    ['Wed Nov 16 08:49:37 1994', '1994-11-16T08:49:37.000Z'],
    ['Mon, 01 Jan 0050 00:00:00 GMT', '0050-01-01T00:00:00.000Z'],
    ['  Sun, 06 Nov 1994 08:49:37 GMT\t', '1994-11-06T08:49:37.000Z'],
    ['Sat, 31 Dec 2016 23:59:60 GMT', '2017-01-01T00:00:00.000Z'],
    ['Fri, 31 Dec 9999 23:59:59 GMT', '9999-12-31T23:59:59.000Z'],
    // the name of the day is not held against the date
    ['Mon, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    '',
    'Sun, 06 Nov 1994',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Xyz, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Xyz 1994 08:49:37 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Wed, 29 Feb 2023 00:00:00 GMT',
    'Sat, 31 Dec 2016 23:59:61 GMT',
    'Sun Nov 6 08:49:37 1994',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    ...'24:00:00 08:60:37 08:49:60 08:49:61 08:59:60 23:49:60'
      .split(' ')
      .map((time) => `Sun, 06 Nov 1994 ${time} GMT`),
    ...['', ' UTC', ' +0000', ' EST'].map((zone) => `Sun, 06 Nov 1994 08:49:37${zone}`),
    `${' '.repeat(10)}Sun, 06 Nov 1994 08:49:37 GMT${'x'.repeat(100_000)}`,
  ])('is strict: %s', (text) => {
    expect(parseHttpDate(text, START)).toBeUndefined();
  });

  it.each([
    // now, two digits, year
    [Date.UTC(2026, 5, 1), '75', 2075],
    [Date.UTC(2026, 5, 1), '76', 1976], // 6 November 2076 is more than 50 years ahead
    [Date.UTC(2026, 10, 6, 8, 49, 36), '76', 1976], // more by a second
    [Date.UTC(2026, 10, 6, 8, 49, 37), '76', 2076],
    [Date.UTC(2099, 5, 1), '05', 2105],
  ])('in %i the two-digit year %s is %i', (now, digits, year) => {
    expect(read(`Sunday, 06-Nov-${digits} 08:49:37 GMT`, now)).toBe(`${year}-11-06T08:49:37.000Z`);
  });

  it('reads back what toUTCString writes', () => {
    const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(date, (date) => {
        const seconds = Math.floor(date.getTime() / 1000) * 1000;
        expect(parseHttpDate(date.toUTCString(), START)).toBe(seconds);
      }),
    );
  });

  it('never throws, for any text and time', () => {
    const near = fc.stringMatching(/^(Sun|Sunday),? ?\d\d?[- ]Nov[- ]\d{2,4} \d\d:\d\d:\d\d( GMT)?$/);
    const clock = fc.oneof(fc.double(), fc.integer({ min: 0, max: START + 100 * 365 * DAY }));
    fc.assert(
      fc.property(fc.oneof(fc.string(), near), clock, (text, now) => {
        const at = parseHttpDate(text, now);
        if (at !== undefined) expect(Number.isSafeInteger(at)).toBe(true);
      }),
    );
  });
});
