import { describe, expect, it } from 'vitest';
import { type Dialect, explain, parseRobots, type Verdict } from '../../../src/core/rules/index.ts';
import fc from '../../support/fast-check.ts';
import { generatedFamily, hostileFamilies } from '../../support/hostile-files.ts';
import { runs } from '../../support/thorough.ts';
import { decide } from './reference-matcher.ts';

const DIALECTS: readonly Dialect[] = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'];
const AGENT = 'FooBot';

const lineOf = (verdict: Verdict): number => verdict.rule?.line ?? 0;
const parts = (units: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...units), { maxLength }).map((list) => list.join(''));

/** Holds whatever the matcher says of `targets`, in every way in which it can be asked, to the reference. */
function expectReference(written: string | Uint8Array, targets: readonly string[]): void {
  // A Buffer, whose methods differ from those of Uint8Array, and which must stay as it is.
  const body = Buffer.from(written);
  const before = body.toString('latin1');
  for (const dialect of DIALECTS) {
    const file = parseRobots(body, { dialect });
    for (const target of targets) {
      const expected = decide(body, target, AGENT, dialect);
      const about = `${dialect} ${JSON.stringify(target)} of ${JSON.stringify(before.slice(0, 1_000))}`;
      const first = parseRobots(body, { dialect }).check(target, AGENT);
      expect([first.allowed, lineOf(first)], about).toEqual(expected);
      // The first question about a file compiles nothing, later ones do.
      for (let question = 0; question < 2; question++)
        expect(file.check(target, AGENT), about).toEqual(first);
      expect(explain(file, target, AGENT).verdict, about).toEqual(first);
    }
    expect(body.toString('latin1')).toBe(before);
  }
}

/** What a URL parser leaves as it is. */
const PLAIN = ['a', 'b', 'ab', 'x', '/', '?', '=', '-', '1'];
const ESCAPES = [
  ...'%61 %7e ~ %2F %2f %3F %3a : %40 @ %27 \' %2A %24 %C3 %a9 é % %4 %zz 1 4 A c " [ %5b'.split(' '),
  ...'\\ %5C %00 %25'.split(' '),
];
const WILDCARDS = ['*', '*', '**', '$'];

const target = fc.oneof(
  parts(PLAIN, 12).map((path) => `/${path}`),
  parts([...PLAIN, ...ESCAPES, '*', '$', '#', 'index.html'], 10).map((path) => `/${path}`),
);
const path = fc.oneof(
  parts([...PLAIN, ...WILDCARDS], 9),
  parts([...PLAIN, ...ESCAPES, ...WILDCARDS, 'index.html', '/index.htm'], 8),
);
const pattern = fc.tuple(fc.constantFrom('/', '/', '/', '*', ''), path).map((both) => both.join(''));
const rule = fc.tuple(fc.constantFrom('Allow: ', 'Disallow: '), pattern).map((both) => both.join(''));

describe('the matcher decides as the reference does', () => {
  it.each([
    ['a few rules', 1, 8, 400],
    ['some rules', 9, 120, 60],
    // From 257 on literal rules are sorted.
    ['many rules', 260, 500, 15],
  ])('%s', (_, minLength, maxLength, numRuns) => {
    fc.assert(
      fc.property(
        fc.array(rule, { minLength, maxLength }),
        fc.array(target, { minLength: 1, maxLength: 4 }),
        (rules, targets) => expectReference(`User-agent: *\n${rules.join('\n')}`, targets),
      ),
      { numRuns: runs(numRuns) },
    );
  });

  it('patterns that are too long for the words of a rule, which keep 12 bits of a length', () => {
    const length = fc.oneof(
      fc.constantFrom(1_999, 2_000, 2_001, 4_090, 4_094, 4_095, 4_096, 4_097, 8_192),
      fc.integer({ min: 1, max: 9_000 }),
    );
    const text = fc
      .tuple(fc.constantFrom('/', '/b', '/*b'), length, fc.constantFrom('', 'b', '$', '*', '*b', '%61'))
      .map(([start, count, end]) => start + 'a'.repeat(count) + end);
    const long = fc.tuple(fc.constantFrom('Allow: ', 'Disallow: '), text).map((both) => both.join(''));
    const rules = fc.oneof(
      fc.array(long, { minLength: 1, maxLength: 5 }),
      // From 257 on literal rules are sorted.
      fc
        .array(long, { minLength: 1, maxLength: 3 })
        .map((list) => [...list, ...Array.from({ length: 260 }, (_, index) => `Disallow: /x${index}`)]),
    );
    const each = text.map((written) => written.replaceAll(/[*$]/g, ''));
    fc.assert(
      fc.property(rules, fc.array(each, { minLength: 1, maxLength: 3 }), (list, targets) => {
        expectReference(`User-agent: *\n${list.join('\n')}`, targets);
      }),
      { numRuns: runs(40) },
    );
  });

  it('lines of any kind', () => {
    const key = fc.constantFrom(
      ...['User-agent', 'user agent', 'USERAGENT', 'Disallow', 'DISALLOW', 'Allow', 'aLLOW', 'Dissallow'],
      ...['Disalow', 'Disallow-x', 'Allowed', 'd', 'a', 'x', '', 'Crawl-delay', 'Sitemap'],
    );
    const separator = fc.constantFrom(': ', ':', ' : ', ':\t', ':\v ', '::', ' ', ' # ', ':#', ':\0');
    const value = fc.oneof(
      fc.constantFrom('foobot', '*', 'barbot, foobot', 'foobot *', '* foobot', 'foo', 'FOOBOT/1.0', 'oo', ''),
      parts(['a', 'b', '/', '*', '$', '%61', '#', ' ', '\0', '\v', '\x7f', '\t', 'é', '\xa0'], 6).map(
        (text) => `/${text}`,
      ),
    );
    const end = fc.constantFrom('\n', '\n', '\r\n', '\r', '\n\n', ' \n', ' # c\n');
    const line = fc.tuple(fc.constantFrom('', '', ' ', '\t\f'), key, separator, value, end);
    const start = fc.constantFrom('', '', '\ufeff', 'User-agent: foobot\n', 'User-agent: *\n');
    const body = fc.tuple(
      start,
      fc.array(line, { maxLength: 14 }).map((list) => list.flat().join('')),
    );
    fc.assert(
      fc.property(body, fc.array(target, { minLength: 1, maxLength: 3 }), (texts, targets) => {
        expectReference(texts.join(''), targets);
      }),
      { numRuns: runs(400) },
    );
  });

  it('UTF-16, and bytes that are no text', () => {
    const text = fc.array(rule, { maxLength: 4 }).map((rules) => `\ufeffUser-agent: *\n${rules.join('\n')}`);
    const utf16 = fc
      .tuple(text, fc.boolean())
      .map(([each, isBig]) => (isBig ? Buffer.from(each, 'utf16le').swap16() : Buffer.from(each, 'utf16le')));
    const start = Buffer.from('User-agent: *\nDisallow: /');
    const any = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.concat([start, bytes]));
    fc.assert(
      fc.property(fc.oneof(utf16, any), target, (bytes, each) => {
        expectReference(Uint8Array.from(bytes), [each]);
      }),
      { numRuns: runs(100) },
    );
  });
});

/**
 * Parts of files that a hostile site could write. They are short here, and what they mean is held to the reference.
 */
const repeated = (units: readonly string[], most: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...units), fc.integer({ min: 1, max: most }))
    .map(([unit, times]) => unit.repeat(times));
const several = (one: fc.Arbitrary<string>, most: number, between = ''): fc.Arbitrary<string> =>
  fc.array(one, { minLength: 1, maxLength: most }).map((list) => list.join(between));
const ending = fc.constantFrom('', '', '$', '*', '*$', 'c', '%', '%4');
const families: Readonly<
  Record<string, readonly [patterns: fc.Arbitrary<string>, target: fc.Arbitrary<string>]>
> = {
  'pieces that nearly fit': [
    several(repeated(['a', 'b', 'ab', 'aab', 'ba', 'aaaaaaab'], 12), 3, '*').map((pieces) => `*${pieces}`),
    several(repeated(['a', 'ab', 'aab', 'abba'], 40), 9),
  ],
  'prefixes of each other': [
    several(fc.constantFrom('a', 'b', 'a/', 'aa'), 30),
    several(fc.constantFrom('a', 'b', 'a/', 'aa'), 30),
  ],
  'escapes that fold': [
    several(fc.constantFrom('%2F', '%3a', '%3F', '%40', '%27', '/', ':', '?', '*', 'a', 'b'), 9),
    several(fc.constantFrom('%2F', '%3A', '%3F', '@', '%40', '/', ':', '?', 'a', 'b'), 60),
  ],
  'bare percent signs': [
    several(fc.constantFrom('%', '%4', '*', '%zz', '1', '%31', '%40', '%2F', 'a'), 9),
    several(fc.constantFrom('%', '%4', '%31', '%41', '1', '%40', '%2F', '%zz', 'a', '?'), 40),
  ],
  // A `%` before a `*` matches every kind of `%`, and the leftmost place of either kind leaves the most space.
  'a percent sign before a star': [
    fc
      .tuple(
        fc.constantFrom('*', '*', 'a', '*a*', '%*'),
        fc.constantFrom('%', '%', '%4', '%%'),
        several(fc.constantFrom('x', '1', '1x', '%40', 'a'), 2, '*'),
      )
      .map(([start, percent, end]) => `${start}${percent}*${end}`),
    several(fc.constantFrom('%%311', '%%31', 'x', 'x', '%40', '%', 'a', '1'), 5),
  ],
  'rules to be rewritten': [
    several(fc.constantFrom('%61', '%7E', 'é', '%c3', '%2f', 'a', '*'), 9),
    several(fc.constantFrom('a', '~', '%C3', '%A9', '%2F', '/'), 30),
  ],
  'stars in a row': [
    several(repeated(['*a', '*b', '*ab', '**'], 9), 5),
    several(repeated(['a', 'ab', 'b'], 30), 9),
  ],
};

describe.each(Object.entries(families))('hostile files, %s', (_, [patterns, rest]) => {
  const lines = fc
    .tuple(fc.constantFrom('Allow: /', 'Disallow: /'), patterns, ending)
    .map((line) => line.join(''));
  const long = rest.map((path) => `/Q${'a'.repeat(600)}${path}`);

  it('decide as the reference does', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(lines, { maxLength: 9 }), fc.array(lines, { minLength: 260, maxLength: 300 })),
        rest.map((path) => `/${path}`),
        (rules, each) => expectReference(`User-agent: *\n${rules.join('\n')}`, [each]),
      ),
      { numRuns: runs(20) },
    );
  });

  it('decide as the reference does about targets that make plain search slow', () => {
    // Longer than the others, so tried first. It nearly matches in hundreds of places, and in none: `Q` is before all `a`.
    const inVain = `Disallow: /*${'a'.repeat(300)}Q\n`;
    fc.assert(
      fc.property(fc.array(lines, { minLength: 1, maxLength: 12 }), long, (rules, each) => {
        expectReference(
          `User-agent: *\n${inVain}${rules.map((line) => line.replace(': /', ': /*')).join('\n')}`,
          [each],
        );
      }),
      { numRuns: runs(4) },
    );
  });
});

describe('files that a hostile site could write, which `npm run bench -- hostile` measures at 500 KB', () => {
  it.each(Object.entries(hostileFamilies))('%s', (_, { file, path }) => {
    expectReference(file(3_000), [`/${path.slice(0, 300)}`, `/${path.slice(0, 30)}?${path.slice(30, 90)}`]);
  });

  it('made at random', () => {
    for (let seed = 1; seed <= runs(40); seed++) {
      const { file, path } = generatedFamily(seed);
      expectReference(file(1_000), [`/${path.slice(0, 200)}`, `/${path.slice(0, 40)}?${path.slice(40, 80)}`]);
    }
  });
});
