import { describe, expect, it } from 'vitest';
import { parseRobots } from '../../../../src/core/rules/index.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

/** That the first answer is the one of later questions is tested with any files in ../reference.test.ts. */
describe('the first answer of a file', () => {
  it.each([
    ['an allow rule of equal length', 'Disallow: /ab\nAllow: /ab', '/ab', 3],
    ['the first of equal rules', 'Allow: /ab\nAllow: /a*', '/ab', 2],
    ['a longer rule with white space and a comment', 'Allow: /a\nDisallow: /ab \t# /abcdef', '/ab', 3],
    ['no shorter rule with a long comment', 'Disallow: /ab\nAllow: /a # abcdef', '/ab', 2],
    ['a longer wild rule', 'Allow: /ab\nDisallow: /*b*c', '/abc', 3],
    ['a rule that is longer once bytes are escaped', 'Allow: /ab?c\nDisallow: /*é', '/ab?cé', 3],
    ['no rule that is longer only as written', 'Disallow: /abc\nAllow: /%61%62', '/abc', 2],
    ['a rule that is longer once escapes are decoded', 'Disallow: /ab\nAllow: /%61bc', '/abc', 3],
  ])('is by %s', (_, rules, path, line) => {
    const file = parseRobots(`User-agent: *\n${rules}\n`);
    const first = file.check(path, 'foobot');
    expect(first).toMatchObject({ reason: 'rule', rule: { line } });
    expect(file.check(path, 'foobot')).toEqual(first);
  });

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
