import fastCheck from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import fc from './fast-check.ts';

describe('properties', () => {
  it('that fail stop shrinking at the limit, and report the smallest failure so far', () => {
    let now = 0;
    let tried = 0;
    const property = fastCheck.property(fastCheck.array(fastCheck.nat(), { minLength: 50 }), (numbers) => {
      now += 100;
      tried++;
      return numbers.length > 1_000;
    });
    fc.limitShrinking(property, 1_000, () => now);
    const { failed, numShrinks } = fastCheck.check(property, { seed: 1 });
    expect(failed).toBe(true);
    expect(numShrinks).toBeGreaterThan(0);
    // The first failure, and as many smaller cases as the limit allows.
    expect(tried).toBe(11);
  });

  it('that hold are tried as often as asked, however long it takes', () => {
    let now = 0;
    let tried = 0;
    const property = fastCheck.property(fastCheck.nat(), () => {
      now += 1_000;
      tried++;
    });
    fc.limitShrinking(property, 1, () => now);
    fastCheck.assert(property, { numRuns: 30 });
    expect(tried).toBe(30);
  });

  it('are tried with both seeds in the quick tests of CI, and a failure shows its seed', async () => {
    vi.stubEnv('CI', 'true');
    vi.stubEnv('CHANGING_SEED', '4711');
    vi.stubEnv('THOROUGH', 'false');
    vi.resetModules();
    const { default: inCi } = await import('./fast-check.ts');
    vi.unstubAllEnvs();
    // What `seeds()` reads at each call.
    vi.stubEnv('CI', 'true');
    const drawn: number[] = [];
    const draws = inCi.property(inCi.nat(), (number) => void drawn.push(number));
    inCi.assert(draws, { numRuns: 2 });
    const expected = [9309, 4711].flatMap((seed) => fastCheck.sample(fastCheck.nat(), { seed, numRuns: 2 }));
    expect(drawn).toEqual(expected);
    const late: number[] = [];
    await inCi.assert(
      inCi.asyncProperty(inCi.nat(), async (number) => void late.push(number)),
      { numRuns: 2 },
    );
    expect(late).toEqual(expected);
    expect(() =>
      inCi.assert(
        inCi.property(inCi.nat(), () => late.push(0) < 10),
        { numRuns: 5 },
      ),
    ).toThrow('seed: 4711');
    vi.unstubAllEnvs();
    // The files after this one in the same worker read the environment anew.
    vi.resetModules();
  });

  it('keep the result of their assertion: a failure is thrown or rejects', async () => {
    expect(() => fc.assert(fc.property(fc.nat(), () => false))).toThrow('Property failed');
    await expect(fc.assert(fc.asyncProperty(fc.nat(), async () => false))).rejects.toThrow('Property failed');
  });
});
