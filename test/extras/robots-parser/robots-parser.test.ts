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
  it('isAllowed and isDisallowed distinguish a rule from none', () => {
    expect(robots.isAllowed('https://example.com/private/a', 'AnyBot')).toBe(false);
    expect(robots.isDisallowed('https://example.com/private/a', 'AnyBot')).toBe(true);
    expect(robots.isAllowed('https://example.com/a')).toBe(true);
    expect(robots.isAllowed('https://example.com/named/open', 'NamedBot/1.0')).toBe(true);
  });

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

  it('a default port or another case of the host is the same origin', () => {
    expect(robots.isAllowed('https://EXAMPLE.com:443/private')).toBe(false);
  });

  it('a relative robots.txt answers relative URLs', () => {
    const relative = robotsParser('/robots.txt', TEXT);
    expect(relative.isAllowed('/private')).toBe(false);
    expect(relative.isAllowed('/a')).toBe(true);
    expect(relative.isAllowed('https://example.com/a')).toBeUndefined();
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

  it('getMatchingLineNumber is 1-based, -1 without a rule', () => {
    expect(robots.getMatchingLineNumber('https://example.com/private')).toBe(2);
    expect(robots.getMatchingLineNumber('https://example.com/named/open', 'NamedBot')).toBe(9);
    expect(robots.getMatchingLineNumber('https://example.com/')).toBe(-1);
  });

  it('getCrawlDelay is in seconds, getSitemaps as written, getPreferredHost the last one in lower case', () => {
    expect(robots.getCrawlDelay('AnyBot')).toBe(2.5);
    expect(robots.getCrawlDelay('NamedBot')).toBeUndefined();
    expect(robots.getSitemaps()).toEqual(['https://example.com/sitemap.xml']);
    expect(robots.getPreferredHost()).toBe('second.example');
    expect(robotsParser('https://example.com/robots.txt', '').getPreferredHost()).toBeNull();
  });
});

describe('records outside groups', () => {
  it.each([
    ['empty values', 'Sitemap:\nHost:\nSitemap: a\nHost: b\nHost:  \n'],
    ['comments, other cases and spellings', 'SITEMAP : a # c\nhOsT: B # c\nHostess: c\nghost: d\n'],
    ['a byte order mark and lone CR', '\uFEFFSitemap: a\rHost: b\r'],
    ['groups in between', 'User-agent: *\nDisallow: /\nSitemap: a\nUser-agent: b\nHost: b'],
  ])('are found beside %s', (_name, text) => {
    const read = robotsParser('https://example.com/robots.txt', text);
    expect([read.getSitemaps(), read.getPreferredHost()]).toEqual([['a'], 'b']);
    expect(read.getSitemaps()).toBe(read.getSitemaps());
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

  it('is of the origin when it is a URL object of it', () => {
    expect(Reflect.apply(robots.isAllowed, robots, [page])).toBe(false);
    expect(Reflect.apply(robots.isAllowed, robots, [undefined])).toBeUndefined();
  });
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
