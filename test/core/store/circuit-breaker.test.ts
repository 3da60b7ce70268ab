import { describe, expect, it } from 'vitest';
import { Breaker } from '../../../src/core/store/circuit-breaker.ts';

function setUp() {
  const changes: boolean[] = [];
  const breaker = new Breaker((isOpen) => changes.push(isOpen));
  const fail = (now: number): boolean => {
    const permit = breaker.enter(now);
    if (permit !== undefined) breaker.failed(permit, now);
    return permit !== undefined;
  };
  return { breaker, changes, fail };
}

describe('a breaker', () => {
  it('opens at the third failure in a row', () => {
    const { changes, fail } = setUp();
    expect([1, 2, 3, 4].map(fail)).toEqual([true, true, true, false]);
    expect(changes).toEqual([true]);
  });

  it('restarts the count after a success', () => {
    const { breaker, changes, fail } = setUp();
    fail(1);
    fail(2);
    breaker.succeeded(breaker.enter(3)!);
    fail(4);
    fail(5);
    expect(changes).toEqual([]);
    expect(fail(6)).toBe(true);
    expect(changes).toEqual([true]);
  });

  it('counts concurrent failures as one', () => {
    const { breaker, changes } = setUp();
    for (let round = 0; round < 2; round++) {
      const permits = Array.from({ length: 30 }, () => breaker.enter(round)!);
      for (const permit of permits) breaker.failed(permit, round);
    }
    expect(changes).toEqual([]);
    expect(breaker.allowance(2)).toBe(Infinity);
  });

  it('lets one call try after some seconds; its failure opens it for as long again, without an event', () => {
    const { breaker, changes, fail } = setUp();
    [1, 2, 3].forEach(fail);
    expect([breaker.allowance(3_002), breaker.allowance(3_003)]).toEqual([0, 1]);
    const probe = breaker.enter(3_003)!;
    expect([breaker.allowance(3_003), breaker.enter(3_003)]).toEqual([0, undefined]);
    breaker.failed(probe, 3_100);
    expect([breaker.enter(6_099), breaker.allowance(6_100)]).toEqual([undefined, 1]);
    expect(changes).toEqual([true]);
  });

  it('is closed by the success of that call, not by that of an earlier one', () => {
    const { breaker, changes, fail } = setUp();
    const early = breaker.enter(0)!;
    [1, 2, 3].forEach(fail);
    breaker.succeeded(early);
    expect(breaker.enter(4)).toBeUndefined();
    const probe = breaker.enter(5_000)!;
    breaker.succeeded(early);
    breaker.failed(early, 5_000);
    expect(breaker.enter(5_000)).toBeUndefined();
    breaker.succeeded(probe);
    expect(changes).toEqual([true, false]);
    expect(breaker.allowance(5_000)).toBe(Infinity);
    // What began before it opened says nothing of the time since.
    breaker.failed(early, 5_001);
    [5_002, 5_003].forEach(fail);
    expect(changes).toEqual([true, false]);
  });

  it('does not stay open for ever when the clock is set back', () => {
    const { breaker, fail } = setUp();
    [1_000_000, 1_000_000, 1_000_000].forEach(fail);
    expect(breaker.allowance(500)).toBe(1);
  });
});
