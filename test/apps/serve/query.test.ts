import { describe, expect, it } from 'vitest';
import { soleParameter } from '../../../src/apps/serve/request.ts';
import fc from '../../support/fast-check.ts';

describe('soleParameter', () => {
  it('reads what URLSearchParams reads, or leaves the query to it', () => {
    const part = fc.oneof(
      fc.webUrl().map(encodeURIComponent),
      fc.string(),
      fc.constantFrom(
        'url=',
        'url',
        '&',
        '+',
        '%',
        '%zz',
        '%C3',
        '%C3%A4',
        '%EF%BB%BF',
        '=',
        '%26',
        'agent=A',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const search = `url=${parts.join('')}`;
        const value = soleParameter(search, 'url');
        if (value !== undefined) expect([...new URLSearchParams(search)]).toEqual([['url', value]]);
      }),
    );
  });

  it('reads the usual query without URLSearchParams', () => {
    expect(soleParameter('url=https%3A%2F%2Fexample.com%2F%C3%A4%3Fb%26c', 'url')).toBe(
      'https://example.com/ä?b&c',
    );
  });

  it.each(['', 'url', 'url=', 'urls=a', 'url=a&agent=B', 'url=a+b', 'url=%ff', 'agent=url'])(
    'leaves %j to URLSearchParams',
    (search) => {
      expect(soleParameter(search, 'url')).toBeUndefined();
    },
  );
});
