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

  it('try the same cases in each run, and others with another `SEED`; a failure shows it', async () => {
    const draw = (from: typeof fc): number[] => {
      const drawn: number[] = [];
      from.assert(
        from.property(from.nat(), (number) => void drawn.push(number)),
        { numRuns: 2 },
      );
      return drawn;
    };
    vi.stubEnv('SEED', '4711');
    vi.resetModules();
    const { default: other } = await import('./fast-check.ts');
    vi.unstubAllEnvs();
    // The files after this one in the same worker read the environment anew.
    vi.resetModules();
    expect(draw(other)).toEqual(fastCheck.sample(fastCheck.nat(), { seed: 4711, numRuns: 2 }));
    expect(draw(fc)).toEqual(draw(fc));
    expect(() => other.assert(other.property(other.nat(), () => false))).toThrow('seed: 4711');
  });

  it('keep the result of their assertion: a failure is thrown or rejects', async () => {
    expect(() => fc.assert(fc.property(fc.nat(), () => false))).toThrow('Property failed');
    await expect(fc.assert(fc.asyncProperty(fc.nat(), async () => false))).rejects.toThrow('Property failed');
  });
});
