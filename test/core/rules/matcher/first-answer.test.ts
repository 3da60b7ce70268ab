import { describe, expect, it } from 'vitest';
import { parseRobots } from '../../../../src/core/rules/index.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

/** That the first answer is the one of later questions is tested with any files in ../reference.test.ts. */
describe('the first answer of a file', () => {
  it.each([16_652, 16_653])('has the rule as far as the line counts, after %d blanks', (blanks) => {
    const text = `User-agent: *\nDisallow:${' '.repeat(blanks)}/ab\n`;
    const file = parseRobots(text, { dialect: 'google' });
    const first = file.check('/a/c', 'foobot');
    expect(first).toMatchObject({ allowed: false, rule: { pattern: blanks === 16_652 ? '/a' : '/' } });
    expect(file.check('/a/c', 'foobot')).toEqual(first);
  });

  it('takes time in proportion to the file where no rule has a slash', () => {
    const ask = (count: number): void => {
      const text = `User-agent: *\n${'Allow: *x\n'.repeat(count)}`;
      parseRobots(text, { dialect: 'google' }).check('/a', 'foobot');
    };
    ask(2_000);
    // Searching all of the file for each rule would take minutes.
    expect(cpuMs(() => ask(100_000))).toBeLessThan(5_000);
  });
});
