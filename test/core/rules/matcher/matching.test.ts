import { describe, expect, it } from 'vitest';
import { type Dialect, explain, parseRobots } from '../../../../src/core/rules/index.ts';

const DIALECTS: readonly Dialect[] = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'];

/** Whether a file whose one rule is `Disallow: pattern` catches `target`. */
function matches(pattern: string, target: string, dialect: Dialect = 'rfc9309'): boolean {
  return !parseRobots(`User-agent: *\nDisallow: ${pattern}\n`, { dialect }).check(target, 'foobot').allowed;
}

describe('rfc9309: escapes (RFC 9309 §2.2.2, figure 4 and §2.2.3)', () => {
  it.each([
    ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'],
    ['/a b"|', '/a%20b%22%7C'],
    ['/*url=http://', '/?url=http%3A%2F%2F'],
    ['/*%2F', '/?x=%2F'],
    // URL parsers write an apostrophe in a query as %27.
    ["/?q='a'", "https://example.com/?q='a'"],
    ['/*%27', "/?q='"],
    // Escapes are read once, left to right: what is decoded forms no new escape.
    ['/%%433%a9x', '/%%433%A9x'],
    ['/%%43', '/%C'],
    ['/?%3%46', '/?%3%46'],
  ])('%s matches %s', (pattern, target) => {
    expect(matches(pattern, target)).toBe(true);
  });

  it.each([
    ['/*%2F', '/a/b'],
    ['/a?b', '/a%3Fb'],
    ['/*%3F', '/a?b'],
    ['/%25', '/%'],
    ['/é', '/e%CC%81'],
    ["/o'neil", '/o%27neil'],
    ['/%%433%a9x', '/%C3%A9x'],
  ])('%s does not match %s', (pattern, target) => {
    expect(matches(pattern, target)).toBe(false);
  });

  it('counts the bytes of the normal form', () => {
    const tie = (allow: string, disallow: string, target: string): string => {
      const verdict = parseRobots(`User-agent: *\nDisallow: ${disallow}\nAllow: ${allow}`).check(target, 'x');
      return verdict.reason === 'rule' ? verdict.rule.directive : verdict.reason;
    };
    // %7E is one byte, ~; é is six, %C3%A9; the wildcards count one each.
    expect(tie('/~ab', '/%7Eab', '/~ab')).toBe('allow');
    expect(tie('/~a', '/%7Eab', '/~ab')).toBe('disallow');
    expect(tie('/******', '/é', '/é')).toBe('allow');
    expect(tie('/*****', '/é', '/é')).toBe('disallow');
    expect(tie('/a', '/a$', '/a')).toBe('disallow');
  });
});

describe('google: the directory of an index file', () => {
  it.each([
    ['/index.htm', '/', true],
    ['/a/index.html/', '/a/', false],
    ['/d/index.html?x', '/d/', true],
    ['/d/e/index.htm', '/d/', false],
    ['/d/myindex.htm', '/d/', false],
    ['/d/index.htm', '/d/e', false],
  ])('Allow: %s allows %s: %s', (pattern, target, allowed) => {
    const file = parseRobots(`User-agent: *\nAllow: ${pattern}\nDisallow: /`, { dialect: 'google' });
    expect(file.check(target, 'x').allowed).toBe(allowed);
  });

  it('is not allowed by a disallow rule, and not disallowed either', () => {
    const file = parseRobots('User-agent: *\nDisallow: /d/index.htm', { dialect: 'google' });
    expect(file.check('/d/', 'x').allowed).toBe(true);
  });
});

describe('/robots.txt itself', () => {
  it('"is implicitly allowed" (RFC 9309 §2.2.2), except by google/robotstxt', () => {
    for (const dialect of DIALECTS) {
      const file = parseRobots('User-agent: *\nDisallow: /', { dialect });
      expect(file.check('/robots.txt', 'x').allowed, dialect).toBe(dialect !== 'google');
      expect(file.check('/robots.txt?a', 'x').allowed, dialect).toBe(false);
      expect(file.check('/robots.txtx', 'x').allowed, dialect).toBe(false);
    }
  });
});

describe('explain', () => {
  const rules = 'User-agent: *\nDisallow: /\nAllow: /a\nDisallow: /a\nAllow: /ab*\n';

  it('names the rule that came closest, and why it lost', () => {
    const file = parseRobots(rules);
    expect(explain(file, '/ab', 'x')).toMatchObject({
      verdict: { allowed: true, rule: { line: 5 } },
      runnerUp: { rule: { directive: 'allow', pattern: '/a', line: 3 }, lost: 'shorter' },
    });
    expect(explain(file, 'https://example.com/ac', 'x')).toMatchObject({
      verdict: { rule: { line: 3 } },
      runnerUp: { rule: { directive: 'disallow', line: 4 }, lost: 'tie' },
    });
    expect(explain(file, '/b', 'x')).toEqual({ verdict: file.check('/b', 'x') });
    expect(explain(file, '/robots.txt', 'x')).toEqual({ verdict: { allowed: true, reason: 'robots-txt' } });
  });

  it.each([
    ['Disallow: /Admin', '/admin', 'case'],
    ['Disallow: /admin/', '/admin', 'slash'],
    ['Disallow: /admin', '/en/admin', 'start'],
    ['Disallow: /a/b', '/blog', undefined],
    ['Disallow: /a/shop', '/other', undefined],
  ])('a near miss: %s of %s by its %s', (rule, target, differs) => {
    const { nearMiss } = explain(parseRobots(`User-agent: *\n${rule}`), target, 'x');
    expect(nearMiss?.differs).toBe(differs);
    expect(nearMiss?.rule.line).toBe(differs && 2);
  });

  it('also of rules that the compiled form leaves out', () => {
    const filler = Array.from({ length: 300 }, (_, index) => `Disallow: /filler/${index}\n`).join('');
    expect(explain(parseRobots(rules + filler), '/ac', 'x')).toMatchObject({
      runnerUp: { rule: { line: 4 }, lost: 'tie' },
    });
  });

  it('in file order where the first match decides; a derived pattern is no rival', () => {
    expect(explain(parseRobots(rules, { dialect: 'koster-1996' }), '/a', 'x')).toMatchObject({
      verdict: { allowed: false, rule: { line: 2 } },
      runnerUp: { rule: { line: 3 }, lost: 'later' },
    });
    const google = parseRobots('User-agent: *\nAllow: /*/index.htm', { dialect: 'google' });
    expect(explain(google, '/a/index.htm/', 'x')).toEqual({ verdict: google.check('/a/index.htm/', 'x') });
  });
});

describe('targets', () => {
  it.each(DIALECTS)('%s: a path ends before its first #', (dialect) => {
    expect(matches('/a$', '/a#b', dialect)).toBe(dialect === 'rfc9309' || dialect === 'google');
    expect(matches('/b', '/a#/b#c', dialect)).toBe(false);
    const file = parseRobots('User-agent: *\nDisallow: /', { dialect });
    expect(file.check('/robots.txt#a', 'x').allowed).toBe(dialect !== 'google');
    expect(explain(file, '/a#b', 'x')).toEqual({ verdict: file.check('/a', 'x') });
  });

  it('may be absolute URLs', () => {
    const file = parseRobots('User-agent: *\nDisallow: /a?$');
    expect(file.check('https://example.com/a?#f', 'x').allowed).toBe(false);
    expect(file.check('https://example.com/a#f', 'x').allowed).toBe(true);
    expect(() => file.check('a', 'x')).toThrow(expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_URL' }));
  });
});
