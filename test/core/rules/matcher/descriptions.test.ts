import { describe, expect, it } from 'vitest';
import { parseRobots } from '../../../../src/core/rules/index.ts';

const AGENT = 'ExampleBot';
const LONG = 'x'.repeat(3_000);

/** The first answer, which compiles nothing, and later ones about the URL and about its path. */
function verdicts(body: string, path: string): readonly unknown[] {
  const first = parseRobots(body).check(path, AGENT);
  const file = parseRobots(body);
  file.check('/', AGENT);
  return [first, file.check(`https://example.com${path}`, AGENT), file.check(path, AGENT)];
}

describe('the description of the rule that decides', () => {
  it.each([
    ['a pattern', '/private', '/private/page'],
    ['a pattern that is the whole target', '/private', '/private'],
    ['an anchored pattern', '/page$', '/page'],
    ['a final star', '/fish*', '/fishing'],
    ['several final stars', '/fish**', '/fishing'],
    ['a final star and an anchor', '/fish*$', '/fishing'],
    ['a star alone', '*', '/anything'],
    ['a slash', '/', '/'],
    ['a wild pattern', '/*.php$', '/index.php'],
    ['an escape', '/%61bc', '/abcd'],
    ['a pattern that is escaped in the target', '/abc', '/%61bcd'],
    ['a pattern longer than is shown', `/${LONG}`, `/${LONG}/y`],
    ['a wild pattern longer than is shown', `/*${LONG}`, `/a/${LONG}`],
  ])('is the same for the first question, for a URL and for a path: %s', (_, pattern, path) => {
    const body = `# a comment\nUser-agent: *\nAllow: /nothing\n\nDisallow: ${pattern}\n`;
    const verdict = {
      allowed: false,
      reason: 'rule',
      rule: { directive: 'disallow', pattern: pattern.slice(0, 2_000), line: 5 },
      group: { agent: '*', lines: [2] },
    };
    expect(verdicts(body, path)).toEqual([verdict, verdict, verdict]);
  });

  it.each([10, 300])('names the line after a mebibyte, among %d rules', (count) => {
    const rules = Array.from({ length: count }, (_, index) => `Disallow: /${index}/\n`).join('');
    const body = `User-agent: *\n${rules}${`${'#'.repeat(1_023)}\n`.repeat(1_100)}Allow: /far$\nDisallow: /*far-away\n`;
    const line = 1 + count + 1_100 + 1;
    for (const verdict of verdicts(body, '/far'))
      expect(verdict).toMatchObject({ rule: { directive: 'allow', pattern: '/far$', line } });
    for (const verdict of verdicts(body, '/b/far-away'))
      expect(verdict).toMatchObject({ rule: { pattern: '/*far-away', line: line + 1 } });
    for (const verdict of verdicts(body, '/7/'))
      expect(verdict).toMatchObject({ rule: { pattern: '/7/', line: 9 } });
  });

  it('counts lines that end with CR, LF or both', () => {
    const body = 'User-agent: *\rAllow: /a\r\nAllow: /b\n\r\nAllow: /c\r\r\nDisallow: /d\n';
    for (const verdict of verdicts(body, '/d')) expect(verdict).toMatchObject({ rule: { line: 7 } });
  });

  it('cannot be changed for other files through the one that shares it', () => {
    const { group } = parseRobots('User-agent: *\nDisallow: /').check('/', AGENT);
    expect(Object.isFrozen(group) && Object.isFrozen(group?.lines)).toBe(true);
  });
});
