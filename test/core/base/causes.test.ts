import { describe, expect, it } from 'vitest';
import { causesOf, codeOf } from '../../../src/core/base/index.ts';

const coded = (code: string, options?: ErrorOptions): Error =>
  Object.assign(new Error(code, options), { code });

describe('causesOf', () => {
  it('goes from the outside in: each cause before the errors beside it', () => {
    const [inner, first, second] = [coded('INNER'), coded('FIRST'), coded('SECOND')];
    const outer = new AggregateError([first, second], 'outer', { cause: inner });
    expect([...causesOf(outer)]).toEqual([outer, inner, first, second]);
  });

  it('ends for a circle, for an endless chain, and for many errors side by side', () => {
    const circle = new Error('circle');
    circle.cause = new Error('back', { cause: circle });
    expect(causesOf(circle).size).toBe(2);
    const long = Array.from({ length: 100 }).reduce<Error>(
      (cause) => new Error('x', { cause }),
      coded('DEEP'),
    );
    expect(causesOf(long).size).toBe(32);
    expect(causesOf(new AggregateError(Array.from({ length: 1_000 }, () => new Error('x')))).size).toBe(32);
  });

  it.each([undefined, null, 'text', 5])('finds nothing in %j', (thrown) => {
    expect(causesOf(thrown).size).toBe(0);
  });
});

describe('codeOf', () => {
  it.each([
    ['a code of its own', coded('ECONNRESET', { cause: coded('INNER') }), 'ECONNRESET'],
    [
      'the parser by its name',
      Object.assign(new Error('x'), { name: 'HTTPParserError' }),
      'ERR_ROBOTS_MALFORMED',
    ],
    [
      'the parser by its name, with any code',
      Object.assign(coded('HPE_INVALID_CONSTANT'), { name: 'HTTPParserError' }),
      'ERR_ROBOTS_MALFORMED',
    ],
  ])('is %s', (_, thrown, code) => {
    expect(codeOf(thrown)).toBe(code);
  });
});
