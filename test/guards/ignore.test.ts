import { describe, expect, it } from 'vitest';
import { ignoredBecause } from '../../src/guards/shared/options.ts';

describe('robots.txt is asked about a request', () => {
  it('without the option, or with `ignore: false`', () => {
    expect(ignoredBecause(undefined)).toBeUndefined();
    expect(ignoredBecause({ ignore: false, because: 'not today' })).toBeUndefined();
  });
});

it('robots.txt is not asked for the reason that is given', () => {
  expect(ignoredBecause({ ignore: true, because: 'the owner asked' })).toBe('the owner asked');
});

it.each<[unknown, RegExp]>([
  [null, /^Expected `robots` to be an object such as/],
  [true, /^Expected `robots` to be an object such as/],
  ['ignore', /^Expected `robots` to be an object such as/],
  [{}, /`robots.ignore` to be true or false/],
  [{ ignore: 'true', because: 'x' }, /`robots.ignore` to be true or false/],
  [{ ignore: true }, /`robots.because` to be the reason/],
  [{ ignore: true, because: '' }, /`robots.because` to be the reason/],
  [{ ignore: true, because: ' \n' }, /`robots.because` to be the reason/],
  [{ ignore: true, because: 5 }, /`robots.because` to be the reason/],
  [{ ignore: false }, /`robots.because` to be the reason/],
  [
    { ignore: true, because: 'x', why: 1, who: 2 },
    /^Expected only known options, got `robots.why`, `robots.who`$/,
  ],
])('refuses %j', (robots, message) => {
  const call = (): unknown => ignoredBecause(robots);
  expect(call).toThrow(message);
  expect(call).toThrow(expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }));
});
