import { describe, expect, it } from 'vitest';
import { headerField, type HeaderFields, headerLines } from '../../../src/core/base/index.ts';

const BOTH = ['60', '90'];

describe('a header field is found', () => {
  it.each<[form: string, headers: HeaderFields, lines: readonly string[]]>([
    ['in `Headers`', new Headers([['Retry-After', '60']]), ['60']],
    ['in an object, in any case', { 'Retry-After': '60' }, ['60']],
    ['in an object in lower case', { 'content-type': 'text/html', 'retry-after': '60' }, ['60']],
    ['as a number', { 'Retry-After': 60 }, ['60']],
    ['as a list', { 'RETRY-AFTER': BOTH }, BOTH],
    [
      'among pairs',
      [
        ['Content-Type', 'text/html'],
        ['Retry-After', '60'],
        ['retry-after', '90'],
      ],
      BOTH,
    ],
    ['in a `Map`', new Map([['Retry-After', '60']]), ['60']],
    [
      'in the list of Node’s `rawHeaders`',
      ['Retry-After', '60', 'Vary', 'Retry-After', 'retry-after', '90'],
      BOTH,
    ],
    ['by `get`, as in axios', { get: (name: string) => (name === 'retry-after' ? BOTH : undefined) }, BOTH],
  ])('%s', (_, headers, lines) => {
    expect(headerLines(headers, 'retry-after')).toEqual(lines);
    expect(headerField(headers, 'retry-after')).toBe(lines.join(', '));
    expect(headerField(headers, 'x-robots-tag')).toBeUndefined();
  });

  it.each([
    undefined,
    null,
    'Retry-After: 60',
    5,
    [],
    [null, 7],
    {},
    { 'retry-after': null },
    { 'retry-after': {} },
  ])('nowhere in %j', (headers) =>
    expect(headerField(headers as HeaderFields, 'retry-after')).toBeUndefined(),
  );
});
