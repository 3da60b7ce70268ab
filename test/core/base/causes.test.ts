import { describe, expect, it } from 'vitest';
import { causesOf } from '../../../src/core/base/index.ts';

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
