import { describe, expect, it } from 'vitest';
import { guardFetch } from '../../src/index.ts';
import { googleSituations } from '../support/tables.ts';
import { DAY, follower, HOUR, LEAST_DEADLINE_MS, reader, SECOND, site } from './follower.ts';
import * as page from './google-page.ts';

/**
 * "How Google interprets the robots.txt specification", as it stands today. The profile `google` stands for it, and
 * its dialect reads files bit for bit as google/robotstxt does.
 */
const PROFILE = 'google';
const RULES = 'User-agent: *\nDisallow: /private';

describe('What is a robots.txt file', () => {
  it('"All crawlers are disallowed to crawl files in the "includes" directory […], but Google needs them for rendering, so Googlebot is allowed to crawl them."', () => {
    const { file, may } = reader(
      'google',
      '# This robots.txt file controls crawling of URLs under https://example.com.',
      '# All crawlers are disallowed to crawl files in the "includes" directory, such',
      '# as .css, .js, but Google needs them for rendering, so Googlebot is allowed',
      '# to crawl them.',
      'User-agent: *',
      'Disallow: /includes/',
      '',
      'User-agent: Googlebot',
      'Allow: /includes/',
      '',
      'Sitemap: https://example.com/sitemap.xml',
    );
    const url = 'https://example.com/includes/a.css';
    expect([may(url, 'Googlebot'), may(url, 'ExampleBot'), may('/', 'ExampleBot')]).toEqual([
      true,
      false,
      true,
    ]);
    expect(file.sitemaps).toEqual([{ url: 'https://example.com/sitemap.xml', line: 11 }]);
  });
});

describe('File location and range of validity', () => {
  it('"The rules listed in the robots.txt file apply only to the host, protocol, and port number where the robots.txt file is hosted."', () =>
    page.isValidFor(
      PROFILE,
      'https://example.com/robots.txt',
      ['https://example.com/a'],
      ['https://example.org/a', 'http://example.com/a', 'ftp://example.com/a', 'https://example.com:8443/a'],
    ));
});

describe('Examples of valid robots.txt URLs', () => {
  const examples: readonly [sentence: string, file: string, valid: string[], others: string[]][] = [
    [
      "It's valid for all files in all subdirectories on the same host, protocol, and port number.",
      'https://example.com/robots.txt',
      ['https://example.com/', 'https://example.com/folder/file'],
      ['https://other.example.com/', 'http://example.com/', 'https://example.com:8181/'],
    ],
    [
      'A robots.txt on a subdomain is only valid for that subdomain.',
      'https://www.example.com/robots.txt',
      ['https://www.example.com/'],
      ['https://example.com/', 'https://shop.www.example.com/', 'https://www.shop.example.com/'],
    ],
    [
      "Not a valid robots.txt file. Crawlers don't check for robots.txt files in subdirectories.",
      'https://example.com/folder/robots.txt',
      [],
      ['https://example.com/', 'https://example.com/folder/', 'https://example.com/folder/file'],
    ],
    [
      'IDNs are equivalent to their punycode versions.',
      'https://www.exämple.com/robots.txt',
      // The page lists `https://xn--exmple-cua.com/` as valid, without the "www." that a subdomain's file is only
      // valid for two rows above; the punycode of its own example is this.
      ['https://www.exämple.com/', 'https://www.xn--exmple-cua.com/'],
      ['https://www.example.com/', 'https://xn--exmple-cua.com/'],
    ],
    [
      'Valid for: ftp://example.com/',
      'ftp://example.com/robots.txt',
      ['ftp://example.com/'],
      ['https://example.com/'],
    ],
    [
      'A robots.txt with an IP-address as the hostname is only valid for crawling of that IP address as the hostname.',
      'https://212.96.82.21/robots.txt',
      ['https://212.96.82.21/'],
      ['https://example.com/'],
    ],
    [
      'Standard port numbers (`80` for HTTP, `443` for HTTPS, `21` for FTP) are equivalent to their default hostnames.',
      'https://example.com:443/robots.txt',
      ['https://example.com:443/', 'https://example.com/'],
      ['https://example.com:444/'],
    ],
    [
      'Standard port numbers […] `80` for HTTP',
      'http://example.com:80/robots.txt',
      ['http://example.com:80/', 'http://example.com/'],
      ['http://example.com:81/'],
    ],
    [
      'Standard port numbers […] `21` for FTP',
      'ftp://example.com:21/robots.txt',
      ['ftp://example.com:21/', 'ftp://example.com/'],
      ['ftp://example.com:2121/'],
    ],
    [
      'Robots.txt files on non-standard port numbers are only valid for content made available through those port numbers.',
      'https://example.com:8181/robots.txt',
      ['https://example.com:8181/'],
      ['https://example.com/'],
    ],
  ];
  it.each(examples)('"%s": %s', (_, file, valid, others) => page.isValidFor(PROFILE, file, valid, others));
});

describe('Handling of errors and HTTP status codes', () => {
  it('"Google\'s crawlers treat all `4xx` errors, except `429`, as if a valid robots.txt file didn\'t exist. This means that Google assumes that there are no crawl restrictions."', async () => {
    await page.opensTheSite(PROFILE, [400, 401, 403, 404, 410, 418, 451, 499]);
    // What 429 means the page leaves unsaid; it is no 404, so it is taken for a server error.
    const server = await site([{ status: 429 }]);
    expect(await follower(PROFILE).robots.check(server.url('/'))).toMatchObject(page.unreachable);
  });

  it('"The `4xx` status codes, except `429`, have no effect on crawl rate."', async () => {
    const headers = { 'retry-after': '60' };
    const server = await site([RULES], {
      '/gone': { status: 410, headers },
      '/closed': { status: 403, headers },
      '/busy': { status: 429, headers },
    });
    const { robots, clock } = follower(PROFILE);
    const fetchSlowly = guardFetch(fetch, robots, {
      pacing: { defaultDelayMs: 0, maxDelayMs: 30 * SECOND },
    });
    for (const path of ['/gone', '/closed', '/busy']) await fetchSlowly(server.url(path));
    await expect(fetchSlowly(server.url('/'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DEFERRED',
      retryAt: clock.now() + 60 * SECOND,
    });
    expect(server.pageCount).toBe(3);
  });

  it('"1. For the first 12 hours, Google stops crawling the site but keeps trying to fetch the robots.txt file."', async () => {
    const server = await site([RULES, { status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(DAY);
    // Also with a good copy at hand.
    expect(await robots.check(server.url('/'))).toMatchObject(page.unreachable);
    await clock.advance(12 * HOUR - 1);
    expect(await robots.check(server.url('/'))).toMatchObject(page.unreachable);
    expect(server.robotsCount).toBeGreaterThan(2);
  });

  it('"2. If Google can\'t fetch a new version, for the next 30 days Google will use the last good version, while still trying to fetch a new version."', async () => {
    const server = await site([RULES, { status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(DAY);
    await robots.check(server.url('/'));
    // Counted from the first failure: the page does not say whether its 30 days begin with the 12 hours or behind.
    for (const ms of [12 * HOUR, 29.5 * DAY - 1]) {
      await clock.advance(ms);
      expect(await robots.check(server.url('/'))).toMatchObject({ allowed: true, state: 'last-good' });
      expect(await robots.check(server.url('/private'))).toMatchObject({
        allowed: false,
        state: 'last-good',
      });
    }
    expect(server.robotsCount).toBe(4);
  });

  it('"If there\'s no cached version available Google assumes there\'s no crawl restrictions."', async () => {
    // RFC 9309 §2.3.1.4 says otherwise: "the crawler MUST assume complete disallow".
    const server = await site([{ status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    expect(await robots.check(server.url('/private'))).toMatchObject(page.unreachable);
    await clock.advance(12 * HOUR);
    expect(await robots.check(server.url('/private'))).toMatchObject({
      allowed: true,
      reason: 'unreachable-expired',
    });
  });

  describe('"3. If the errors are still not fixed after 30 days"', () => {
    async function afterThirtyDays(): Promise<
      ReturnType<typeof follower> & { server: Awaited<ReturnType<typeof site>> }
    > {
      const server = await site([RULES, { status: 500 }]);
      const { robots, clock } = follower(PROFILE);
      await robots.check(server.url('/'));
      await clock.advance(DAY);
      await robots.check(server.url('/'));
      await clock.advance(30 * DAY);
      return { server, robots, clock };
    }

    it('"If the site is generally available to Google, Google will behave as if there is no robots.txt file (but still keep checking for a new version)."', async () => {
      const { server, robots, clock } = await afterThirtyDays();
      robots.report(server.url('/page'), { reachable: true });
      expect(await robots.check(server.url('/private'))).toMatchObject({
        allowed: true,
        reason: 'unreachable-expired',
      });
      const before = server.robotsCount;
      await clock.advance(HOUR);
      await robots.check(server.url('/private'));
      expect(server.robotsCount).toBe(before + 1);
    });

    it('"If the site has general availability problems, Google will stop crawling the site, while still periodically requesting a robots.txt file."', async () => {
      const { server, robots, clock } = await afterThirtyDays();
      robots.report(server.url('/page'), { reachable: false });
      expect(await robots.check(server.url('/'))).toMatchObject(page.unreachable);
      const before = server.robotsCount;
      await clock.advance(HOUR);
      expect(await robots.check(server.url('/'))).toMatchObject(page.unreachable);
      expect(server.robotsCount).toBe(before + 1);
    });
  });
});

describe('Caching', () => {
  it('"but may cache it longer in situations where refreshing the cached version isn\'t possible (for example, due to timeouts or `5xx` errors)."', async () => {
    for (const failure of [{ status: 500 }, { fault: 'hang' }] as const) {
      const server = await site([RULES, failure]);
      const { robots, clock } = follower(PROFILE, { deadlineMs: LEAST_DEADLINE_MS });
      await robots.check(server.url('/'));
      await clock.advance(DAY);
      await robots.check(server.url('/'));
      // The first 12 hours are those in which Google "stops crawling the site".
      await clock.advance(12 * HOUR);
      expect(await robots.check(server.url('/private'))).toMatchObject({
        allowed: false,
        state: 'last-good',
      });
    }
  });
});

describe('Syntax', () => {
  it('"(other fields such as `crawl-delay` aren\'t supported)"', () => {
    const { may, file } = reader(
      'google',
      'user-agent: a',
      'crawl-delay: 3600',
      'noindex: /x',
      'user-agent: b',
      'disallow: /y',
    );
    expect([may('/x', 'a'), may('/y', 'a'), may('/y', 'b')]).toEqual([true, false, false]);
    // It is still reported, and decides nothing.
    expect(file.crawlDelay('a')).toBe(3_600_000);
  });
});

describe('Order of precedence for user agents', () => {
  it.each([
    ['`googlebot-news` follows group 1, because group 1 is the most specific group.', 'googlebot-news', 1],
    ['`googlebot` follows group 3.', 'googlebot', 3],
    [
      '`Storebot-Google` follows group 2, because there is no specific `Storebot-Google` group.',
      'Storebot-Google',
      2,
    ],
    ['When crawling images, `googlebot-news` follows group 1.', 'Googlebot-News', 1],
    ['Other Google crawlers follow group 2.', 'Otherbot', 2],
    [
      "Even if there is an entry for a related crawler, it is only valid if it's specifically matching.",
      'Googlebot-Image',
      2,
    ],
  ] as const)('"%s"', (_, agent, group) => page.follows(agent, group));
});

describe('URL matching based on path values', () => {
  it('"`*` designates 0 or more instances of any valid character." "`$` designates the end of the URL."', () => {
    const { excluded } = reader('google', 'user-agent: *', 'disallow: /a*c', 'disallow: /d$');
    expect(excluded(['/ac', '/abc', '/ab/c?', '/ab', '/d', '/d/', '/d?'])).toEqual([
      '/ac',
      '/abc',
      '/ab/c?',
      '/d',
    ]);
  });

  it.each([
    ['/', 'Matches the root and any lower level URL.'],
    ['/*', 'Equivalent to `/`. The trailing wildcard is ignored.'],
    ['/$', 'Matches only the root. Any lower level URL is allowed for crawling.'],
    ['/fish', 'Matches any path that starts with `/fish`. Note that the matching is case-sensitive.'],
    ['/fish*', 'Equivalent to `/fish`. The trailing wildcard is ignored.'],
    ['/fish/', 'Matches anything in the `/fish/` folder.'],
    ['/*.php', 'Matches any path that contains `.php`.'],
    ['/*.php$', 'Matches any path that ends with `.php`.'],
    ['/fish*.php', 'Matches any path that contains `/fish` and `.php`, in that order.'],
  ])('%s: "%s"', (pattern) => page.matchesAsInTheTable(pattern));
});

describe('Order of precedence for rules', () => {
  it('"When matching robots.txt rules to URLs, crawlers use the most specific rule based on the length of the rule path."', () => {
    const { file } = reader('google', 'user-agent: *', 'disallow: /a', 'allow: /a/b', 'disallow: /a/b/c');
    expect(['/a/x', '/a/b', '/a/b/c'].map((target) => file.check(target, 'x'))).toMatchObject([
      { rule: { line: 2 } },
      { rule: { line: 3 } },
      { rule: { line: 4 } },
    ]);
  });

  it('"In case of conflicting rules, including those with wildcards, Google uses the least restrictive rule."', () => {
    expect(reader('google', 'user-agent: *', 'disallow: /a*c', 'allow: /abc').may('/abc')).toBe(true);
    expect(reader('google', 'user-agent: *', 'disallow: /abc', 'allow: /a*c').may('/abc')).toBe(true);
  });

  const reasons = [
    "because it's more specific",
    'because in case of conflicting rules, Google uses the least restrictive rule',
    "because the rule path is longer and it matches more characters in the URL, so it's more specific",
    'because in case of conflicting rules, Google uses the least restrictive rule',
    "because it's more specific",
    'because the allow rule only applies on the root URL',
  ];
  it.each(googleSituations.map((situation, at) => ({ ...situation, at: at + 1, reason: reasons[at] })))(
    'situation $at, $target under allow: $allow, disallow: $disallow: "Applicable rule" is the $applicable rule, "$reason"',
    (situation) => page.appliesTo(situation),
  );
});

/*
 * What a client cannot obey: which crawlers the protocol is not for (feed subscriptions, malware analysis), advice to
 * site owners (not to limit the crawl rate by 401 and 403, how to make files smaller), and what becomes of disallowed
 * URLs in the index.
 *
 * Where sentences contradict each other: the first 12 hours of an outage "stop crawling the site" even though the
 * section on caching lets a copy serve longer "in situations where refreshing the cached version isn't possible"; the
 * profile keeps to the timeline. `max-age` "may increase" the lifetime, which RFC 9309 §2.4 limits to 24 hours; the
 * profile keeps to the RFC.
 */
