import { describe, expect, it } from 'vitest';
import { type Dialect, explain, parseRobots } from '../../../../src/core/rules/index.ts';
import { googlePathMatches, googleSituations } from '../../../support/tables.ts';

const DIALECTS: readonly Dialect[] = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'];

/** Whether a file whose one rule is `Disallow: pattern` catches `target`. */
function matches(pattern: string, target: string, dialect: Dialect = 'rfc9309'): boolean {
  return !parseRobots(`User-agent: *\nDisallow: ${pattern}\n`, { dialect }).check(target, 'foobot').allowed;
}

describe.each(['rfc9309', 'google'] as const)('%s: wildcards (RFC 9309 §2.2.3)', (dialect) => {
  it.each(googlePathMatches)('$pattern', ({ pattern, matching, others }) => {
    for (const target of matching) expect(matches(pattern, target, dialect), target).toBe(true);
    for (const target of others) expect(matches(pattern, target, dialect), target).toBe(false);
  });

  it('`$` anchors only at the end, `*` before it makes it void', () => {
    expect(matches('/a$b', '/a', dialect)).toBe(false);
    expect(matches('/a$b', '/a$b/c', dialect)).toBe(true);
    expect(matches('/x*$', '/xyz', dialect)).toBe(true);
    expect(matches('/*a*$', '/bab', dialect)).toBe(true);
  });

  it('a pattern that cannot match a leading slash never matches and is no error', () => {
    expect(matches('x', '/x', dialect)).toBe(false);
    expect(matches('$', '/', dialect)).toBe(false);
    expect(matches('*.gif$', '/a.gif', dialect)).toBe(true);
    expect(matches('*', '/', dialect)).toBe(true);
  });
});

describe.each(['rfc9309', 'google'] as const)('%s: which rule wins (RFC 9309 §2.2.2)', (dialect) => {
  const title = '$target under allow: $allow and disallow: $disallow';
  it.each(googleSituations)(title, ({ target, allow, disallow, applicable }) => {
    for (const lines of [
      `Allow: ${allow}\nDisallow: ${disallow}`,
      `Disallow: ${disallow}\nAllow: ${allow}`,
    ]) {
      const verdict = parseRobots(`User-agent: *\n${lines}`, { dialect }).check(target, 'foobot');
      expect(verdict).toMatchObject({ reason: 'rule', rule: { directive: applicable } });
    }
  });

  it('of equal rules the first line is named', () => {
    const file = parseRobots('User-agent: *\nDisallow: /a\nDisallow: /a\nDisallow: /*\nAllow: /*', {
      dialect,
    });
    expect(file.check('/a', 'x')).toMatchObject({ rule: { line: 5 } });
    expect(
      parseRobots('User-agent: *\nDisallow: /a\nDisallow: /a', { dialect }).check('/a', 'x'),
    ).toMatchObject({ rule: { line: 2 } });
  });

  it('the same holds with many rules', () => {
    const filler = Array.from(
      { length: 200 },
      (_, index) => `Disallow: /filler/${index}\nDisallow: /filler*${index}\n`,
    ).join('');
    for (const { target, allow, disallow, applicable } of googleSituations) {
      const file = parseRobots(`User-agent: *\nAllow: ${allow}\n${filler}Disallow: ${disallow}`, { dialect });
      expect(file.check(target, 'foobot')).toMatchObject({ rule: { directive: applicable } });
    }
  });
});

describe('rfc9309: escapes (RFC 9309 §2.2.2, figure 4 and §2.2.3)', () => {
  it.each([
    ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'],
    ['/foo/bar?baz=https%3A%2F%2Ffoo.bar', '/foo/bar?baz=https://foo.bar'],
    ['/foo/bar/%e3%83%84', '/foo/bar/%E3%83%84'],
    ['/foo/bar/baz', '/foo/bar/%62%61%7a'],
    ['/a b"|', '/a%20b%22%7C'],
    ['/*url=http://', '/?url=http%3A%2F%2F'],
    ['/*%2F', '/?x=%2F'],
    ['/*%2F', '/?x=/'],
    ['/💩', '/%F0%9F%92%A9'],
    ['/100%', '/100%'],
    // URL parsers write an apostrophe in a query as %27.
    ["/?q='a'", "https://example.com/?q='a'"],
    ['/?q=%27', "/?q='"],
    ["/*q='a", 'https://example.com/?q=%27a'],
    ['/*%27', "/?q='"],
    ["/o'neil", "https://example.com/o'neil"],
    // Escapes are read once, left to right: what is decoded forms no new escape.
    ['/%%433%a9x', '/%%433%A9x'],
    ['/%%43', '/%C'],
    ['/?%3%46', '/?%3%46'],
    ['/%4', '/%40'],
  ])('%s matches %s', (pattern, target) => {
    expect(matches(pattern, target)).toBe(true);
  });

  it.each([
    ['/a%2Fb', '/a/b'],
    ['/*%2F', '/a/b'],
    ['/a?b', '/a%3Fb'],
    ['/*%3F', '/a?b'],
    ['/%2A', '/x'],
    ['/a%24', '/a'],
    ['/%25', '/%'],
    ['/é', '/e%CC%81'],
    ["/o'neil", '/o%27neil'],
    ['/*%27', "/a'"],
    ['/%C3%A9x', '/%%433%a9x'],
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

  it('compares bytes that are no UTF-8 as they are', () => {
    const file = parseRobots(new Uint8Array([...Buffer.from('User-agent: *\nDisallow: /caf'), 0xe9]));
    expect(file.check('/caf%E9', 'x').allowed).toBe(false);
    expect(file.check('/caf%EF%BF%BD', 'x').allowed).toBe(true);
  });
});

describe('google: the directory of an index file', () => {
  it.each([
    ['/index.htm', '/', true],
    ['/d/index.htm', '/d/', true],
    ['/a/index.html/', '/a/', false],
    ['/d/index.html?x', '/d/', true],
    ['/d/e/index.htm', '/d/', false],
    ['/d/index.ht', '/d/', false],
    ['/d/index.Htm', '/d/', false],
    ['/d/myindex.htm', '/d/', false],
    ['index.htm', '/', false],
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

describe('koster-1996: escapes beyond the draft’s table', () => {
  it.each([
    ['/a%2fb.html', '/a%2Fb.html', true],
    ['/a/b.html', '/a%2fb.html', false],
    ['/tmp/*', '/tmp/a', false],
    ['/tmp$', '/tmp$', true],
  ])('%s, %s: %j', (pattern, target, expected) => {
    expect(matches(pattern, target, 'koster-1996')).toBe(expected);
  });

  it('"The first match found is used", in file order, of the path alone', () => {
    const file = parseRobots('User-agent: *\nAllow: /a\nDisallow: /a/b\nDisallow: /', {
      dialect: 'koster-1996',
    });
    expect(file.check('/a/b', 'x')).toMatchObject({ allowed: true, rule: { line: 2 } });
    expect(file.check('/c?d', 'x')).toMatchObject({ allowed: false, rule: { line: 4 } });
    expect(matches('/?x', '/?x', 'koster-1996')).toBe(false);
  });

  it('the example of the draft of December 1996', () => {
    const file = parseRobots(
      [
        'User-agent: unhipbot\nDisallow: /\n\nUser-agent: webcrawler\nUser-agent: excite',
        'Disallow:\n\nUser-agent: *\nDisallow: /org/plans.html\nAllow: /org/\nAllow: /serv',
        'Allow: /~mak\nDisallow: /',
      ].join('\n'),
      { dialect: 'koster-1996' },
    );
    const others: readonly [target: string, allowed: boolean][] = [
      ['/', false],
      ['/index.html', false],
      ['/robots.txt', true],
      ['/server.html', true],
      ['/services/fast.html', true],
      ['/orgo.gif', false],
      ['/org/about.html', true],
      ['/org/plans.html', false],
      ['/%7Ejim/jim.html', false],
      ['/%7Emak/mak.html', true],
    ];
    for (const [target, allowed] of others) {
      expect(file.check(target, 'OtherBot').allowed, target).toBe(allowed);
      expect(file.check(target, 'unhipbot/0.1').allowed, target).toBe(target === '/robots.txt');
      expect(file.check(target, 'Excite/1.0').allowed, target).toBe(true);
    }
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
