import { expect, it } from 'vitest';
import { cacheDirectives } from '../../src/lifecycle/cache-control.ts';

it.each([
  ['', []],
  [',', []],
  ['no-store', [['no-store', '']]],
  [
    'No-Store , MAX-AGE = 5',
    [
      ['no-store', ''],
      ['max-age', '5'],
    ],
  ],
  ['max-age=5,', [['max-age', '5']]],
  ['=5, max-age=6', [['max-age', '6']]],
  ['max-age=', [['max-age', '']]],
  // RFC 9111 §5.2: "Recipients ought to accept both forms".
  ['max-age="5"', [['max-age', '5']]],
  [
    'private="set-cookie, x", max-age=5',
    [
      ['private', 'set-cookie, x'],
      ['max-age', '5'],
    ],
  ],
  [
    'a="say \\"no\\", \\\\", b',
    [
      ['a', 'say "no", \\'],
      ['b', ''],
    ],
  ],
  ['a=""', [['a', '']]],
  // Quotes that do not enclose the value stay.
  ['a="', [['a', '"']]],
  ['a="5', [['a', '"5']]],
  ['a=5"', [['a', '5"']]],
  ['a="b, c=d', [['a', '"b, c=d']]],
  [
    'a\\,b',
    [
      ['a\\', ''],
      ['b', ''],
    ],
  ],
  // RFC 9111 §4.2.1: "either the first occurrence should be used or the response should be considered stale".
  ['max-age=5, max-age=6', [['max-age', '5']]],
  ['max-age, max-age=6', [['max-age', '']]],
  ['a=b=c', [['a', 'b=c']]],
] as const)('the directives of %j', (field, expected) => {
  expect([...cacheDirectives(field)]).toEqual(expected);
});
