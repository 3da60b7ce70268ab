import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import robotsParser, { type Robot } from '../../../src/extras/robots-parser/robots-parser.ts';
import { robotsParser as peer } from '../../bench/peer.ts';

const TEXT = `User-agent: *
Disallow: /private
Crawl-delay: 2.5
Sitemap: https://example.com/sitemap.xml
Host: Example.COM

User-agent: NamedBot
Disallow: /named
Allow: /named/open
Host: second.example
`;
const robots = robotsParser('https://example.com/robots.txt', TEXT);

describe('the methods of robots-parser', () => {
  it.each([
    'http://example.com/a',
    'https://www.example.com/a',
    'https://example.com:8443/a',
    'http://',
    '/a',
  ])('%s is not of the origin: undefined, which is not allowed', (url) => {
    expect(robots.isAllowed(url)).toBeUndefined();
    expect(robots.isDisallowed(url)).toBe(true);
    expect(robots.isExplicitlyDisallowed?.(url, 'AnyBot')).toBeUndefined();
    expect(robots.getMatchingLineNumber(url)).toBe(-1);
  });

  it('/robots.txt itself is allowed (RFC 9309 §2.2.2)', () => {
    const closed = robotsParser('https://example.com/robots.txt', 'User-agent: *\nDisallow: /');
    expect(closed.isAllowed('https://example.com/robots.txt')).toBe(true);
  });

  it('fits where a test replaces it by an object with the methods of the package', () => {
    const mock = {
      isAllowed: () => true,
      isDisallowed: () => false,
      getMatchingLineNumber: () => -1,
      getCrawlDelay: () => undefined,
      getSitemaps: () => [],
      getPreferredHost: () => null,
    } satisfies Robot;
    const replaced: typeof robotsParser = () => mock;
    expect(replaced('https://example.com/robots.txt', '')).toBe(mock);
  });

  it('trims a sitemap line that begins with U+00A0, as the package does', () => {
    const text = 'Sitemap:\u00A0https://example.com/a.xml\u00A0';
    const read = robotsParser('https://example.com/robots.txt', text);
    expect(read.getSitemaps()).toEqual(peer('https://example.com/robots.txt', text).getSitemaps());
    expect(read.getSitemaps()).toEqual(['https://example.com/a.xml']);
  });

  it('isExplicitlyDisallowed counts the group that names the agent alone', () => {
    expect(robots.isExplicitlyDisallowed?.('https://example.com/named', 'NamedBot')).toBe(true);
    expect(robots.isExplicitlyDisallowed?.('https://example.com/named/open', 'NamedBot')).toBe(false);
    expect(robots.isExplicitlyDisallowed?.('https://example.com/private', 'AnyBot')).toBe(false);
  });
});

describe('beside robots-parser itself', () => {
  it('gives the same verdicts for ASCII rules without escapes', () => {
    const path = fc.string({ unit: fc.constantFrom('/', 'a', 'b', '*'), minLength: 1, maxLength: 8 });
    const rule = fc.tuple(fc.constantFrom('Allow', 'Disallow'), path);
    const file = fc.array(rule, { maxLength: 8 });
    const target = fc.string({ unit: fc.constantFrom('/', 'a', 'b'), maxLength: 10 });
    fc.assert(
      fc.property(file, target, (rules, rest) => {
        const text = ['User-agent: *', ...rules.map(([key, pattern]) => `${key}: /${pattern}`)].join('\n');
        const base = 'https://example.com/robots.txt';
        const url = `https://example.com/${rest}`;
        const [ours, theirs] = [robotsParser(base, text), peer(base, text)];
        const verdict = theirs.isAllowed(url, 'AnyBot');
        expect(ours.isAllowed(url, 'AnyBot')).toBe(verdict);
        // The first answer is found without compiled rules, the others with them.
        expect(ours.isAllowed(url, 'AnyBot')).toBe(verdict);
      }),
    );
  });
});

describe('a value that is no string, as a program without types may pass it,', () => {
  const base = 'https://example.com/robots.txt';
  const text = 'User-agent: *\nDisallow: /private\nDisallow: /undefined\nDisallow: /null\nDisallow: /4';
  const page = new URL('https://example.com/private');
  const noText = {
    toString() {
      throw new Error('no text');
    },
  };
  const values = [page, new URL('https://example.com/a'), new URL('https://other.example/a')];

  it.each([...values, undefined, null, 4, {}, [page], Object.create(null), Symbol('url'), noText])(
    'counts as URL by its text, as in the package: case %#',
    (value) => {
      for (const own of [base, '/robots.txt', new URL(base), undefined, null]) {
        const [ours, theirs] = [robotsParser, peer].map((parser) => {
          const read: Robot = Reflect.apply(parser, undefined, [own, text]);
          return [read.isAllowed, read.isDisallowed, read.getMatchingLineNumber].map((method): unknown =>
            Reflect.apply(method, read, [value]),
          );
        });
        expect(ours).toEqual(theirs);
      }
    },
  );
});

describe('the differences that the guide lists', () => {
  it.each([
    ['User-agent: ExampleBot\nCrawl-delay: 1\nUser-agent: b\nDisallow: /', '/a', 'ExampleBot'],
    ['User-agent: *\nDisallow: /a?', '/a?', 'ExampleBot'],
    ['User-agent: *\nDisallow: /%61', '/a', 'ExampleBot'],
    ['User-agent: *\nDissallow: /a', '/a', 'ExampleBot'],
    ['User-agent: *\nDisallow /a', '/a', 'ExampleBot'],
    ['User-agent: x, ExampleBot\nDisallow: /a', '/a', 'ExampleBot'],
    ['User-agent: ExampleBot 2\nDisallow: /a', '/a', 'ExampleBot'],
    ['User-agent: ExampleBot\nDisallow: /', '/a', 'Mozilla/5.0 (compatible; ExampleBot/1.0)'],
  ])('%j disallows %s', (text, path, agent) => {
    const verdicts = [robotsParser, peer].map((parser) =>
      parser('https://example.com/robots.txt', text).isAllowed(`https://example.com${path}`, agent),
    );
    expect(verdicts).toEqual([false, true]);
  });
});
