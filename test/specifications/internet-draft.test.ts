import { expect } from 'vitest';
import { profiles, RobotsClient } from '../../src/index.ts';
import { productToken } from '../../src/core/rules/index.ts';
import {
  allowed,
  DAY,
  disallowed,
  each,
  expired,
  failsByNetworkTrouble,
  followsFiveRedirects,
  followsRedirects,
  HOUR,
  keepsTheFileFor,
  lastGoodAllows,
  lastGoodDisallows,
  LINE_ENDS,
  opensTheSite,
  rawSite,
  readAs,
  readsHalfAMebibyte,
  readsTheFile,
  requestsFileFor,
  requestsOnlyRobotsTxt,
  requestsRobotsFirst,
  robotFor,
  RULES,
  site,
  testSentences,
  unavailable,
  unreachable,
  visitAs,
  visitWith,
} from './specification.ts';

/**
 * "Robots Exclusion Protocol, Internet Draft": what became RFC 9309. The profile `rfc9309` stands for it; where the
 * RFC changed a sentence, the RFC's holds, and the test says so.
 */
const PROFILE = 'rfc9309';
const read = readAs.bind(undefined, PROFILE);
const visit = visitAs.bind(undefined, PROFILE);

const HEADER = 'Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)';
const SIMPLE_EXAMPLE = `User-Agent : foobot
Disallow : /example/page.html
Disallow : /example/disallowed.gif

User-Agent : barbot
User-Agent : bazbot
Allow : /example/page.html
Disallow : /example/disallowed.gif

User-Agent: quxbot

/eof`;

testSentences({
  Introduction: {
    '"This document specifies the rules that crawlers MUST obey when accessing URIs."': () =>
      requestsRobotsFirst(PROFILE),
  },
  'Protocol definition': {
    '"Rule: A line with a key value pair that defines how a crawler may access URIs."': () => {
      expect(read('User-agent: *\nAllow: /a\nDisallow: /b').groups[0]?.rules).toEqual([
        { directive: 'allow', pattern: '/a', line: 2 },
        { directive: 'disallow', pattern: '/b', line: 3 },
      ]);
    },
    '"Group: One or more user-agent lines that is followed by one or more rules. The group is terminated by a user-agent line or end of file."':
      () => {
        const { groups } = read(
          'User-agent: a\nUser-agent: b\nDisallow: /1\nDisallow: /2\nUser-agent: c\nDisallow: /3',
        );
        const named = groups.map(({ agentLines, rules }) => [
          agentLines.flatMap(({ names }) => names),
          rules.length,
        ]);
        expect(named).toEqual([
          [['a', 'b'], 2],
          [['c'], 1],
        ]);
      },
    '"The last group may have no rules, which means it implicitly allows everything."': () =>
      read('User-agent: *\nDisallow: /\nUser-agent: ExampleBot', '+/', 'OtherBot: -/'),
  },
  'Formal syntax': {
    '"robotstxt = *(group / emptyline)", "*(startgroupline / emptyline)", "*(rule / emptyline)": empty lines may stand anywhere':
      () =>
        read(
          '\nUser-agent: a\n\nUser-agent: b\n\nDisallow: /1\n\nDisallow: /2\n',
          'a: -/1 -/2 +/3',
          'b: -/1 -/2 +/3',
        ),
    '"startgroupline = *WS "user-agent" *WS ":" *WS product-token EOL"': () =>
      each([' \tuser-agent \t: \ta', 'USER-AGENT:a', 'User-Agent :a # comment'], (line) =>
        read(`${line}\nDisallow: /`, 'a: -/', 'b: +/'),
      ),
    '"rule = *WS ("allow" / "disallow") *WS ":" *WS (path-pattern / empty-pattern) EOL"': () =>
      each(['\t disallow \t:\t /x', 'DISALLOW:/x', 'Disallow: /x# comment', 'disAllow :/x  '], (line) => {
        read(`User-agent: *\n${line}`, '-/x +/y');
        read(`User-agent: *\nDisallow: /\n${line.replace(/disallow/i, 'AllOW')}`, '+/x -/y');
      }),
    '"empty-pattern = *WS": a rule that says nothing': () => {
      read('User-agent: *\nDisallow: \t', '+/');
      read('User-agent: *\nDisallow: /\nAllow:', '-/');
    },
    '"be lenient when reading lines that don’t conform. Apply Postel’s law."': () => {
      const lines =
        'User agent: *\nDissallow: /a\n<html>\n: no key\nSitemap: https://example.com/map.xml\nDisallow /b';
      expect(read(lines, '-/a -/b +/c').sitemaps).toHaveLength(1);
    },
    '"product-token = identifier / "*"", "identifier = 1*(%x2d / %x41-5a / %x5f / %x61-7a)"': () => {
      read('User-agent: *\nDisallow: /', 'AnyBot: -/');
      read('User-agent: Example-Bot_News\nDisallow: /', 'Example-Bot_News: -/', 'Example: +/');
    },
    '"comment = "#" *(UTF8-char-noctl / WS / "#")": to the end of the line, wherever it starts': () =>
      read('# a file #1 ツ\nUser-agent: * # all\n  # between\nDisallow: /a # x # y', '-/a -/a%20 +/b'),
    '"NL = %x0D / %x0A / %x0D.0A"': () =>
      each(LINE_ENDS, (end) => read(`User-agent: *${end}Disallow: /a${end}Disallow: /b`, 'x: -/b@3')),
    '"path-pattern = "/" *(UTF8-char-noctl)": characters of any length in UTF-8': () =>
      read(
        'User-agent: *\nDisallow: /é/ツ/💩',
        `-/%C3%A9/%E3%83%84/%F0%9F%92%A9 -${new URL('https://example.com/é/ツ/💩').pathname}`,
      ),
  },
  'The user-agent line': {
    '"The product token MUST contain only `a-zA-Z_-` characters."': () => {
      expect(productToken('Example-Bot_News/1.0')).toBe('Example-Bot_News');
      // More is taken than the sentence asks for: digits and dots are part of tokens that are in use.
      expect(productToken('MJ12bot/v1.4.8')).toBe('MJ12bot');
      read('User-agent: MJ12bot\nDisallow: /', 'MJ12bot: -/');
    },
    '"The product token SHOULD be part of the identification string that the crawler sends to the service"':
      async () => {
        const asNamed = ['/', { agent: 'ExampleBot' }] as const;
        const { server } = await visitWith({ agent: HEADER }, PROFILE, [RULES], asNamed);
        expect(server.requests[0]?.headers['user-agent']).toContain('ExampleBot');
      },
    '"user-agent: Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)" goes by "user-agent: ExampleBot"':
      async () => {
        const file = 'user-agent: ExampleBot\ndisallow: /a\nuser-agent: Mozilla\ndisallow: /b';
        const { server } = await visitWith(
          { agent: HEADER },
          PROFILE,
          [file],
          ['/a', disallowed],
          ['/b', allowed],
        );
        expect(server.requests[0]?.headers['user-agent']).toBe(HEADER);
      },
    '"Crawlers MUST find the group that matches the product token exactly, and then obey the rules of the group."':
      () =>
        read(
          'User-agent: Example\nDisallow: /1\nUser-agent: ExampleBot-News\nDisallow: /2\nUser-agent: ExampleBot\nDisallow: /3',
          '+/1 +/2 -/3',
        ),
    '"If there is more than one group matching the user-agent, the matching groups\' rules MUST be combined into one group."':
      () => {
        const lines =
          'User-agent: ExampleBot\nDisallow: /1\nUser-agent: b\nDisallow: /2\nUser-agent: ExampleBot\nDisallow: /3';
        expect(read(lines, '-/1 +/2 -/3').check('/3', 'ExampleBot')).toMatchObject({
          group: { lines: [1, 5] },
        });
      },
    '"The matching MUST be case-insensitive."': () =>
      read('User-agent: EXAMPLEbot\nDisallow: /', 'exampleBOT: -/'),
    // RFC 9309 §2.2.1 has no "first": "the group with a user-agent line with the "*" value". All of them are combined
    // like those of any other value.
    '"If no matching group exists, crawlers MUST obey the first group with a user-agent line with a "*" value, if present."':
      () =>
        read(
          'User-agent: a\nDisallow: /1\nUser-agent: *\nDisallow: /2\nUser-agent: *\nDisallow: /3',
          '+/1 -/2 -/3',
          'a: -/1 +/2 +/3',
        ),
    '"If no group satisfies either condition, or no groups are present at all, no rules apply."': () =>
      each(['User-agent: a\nDisallow: /', 'Sitemap: https://example.com/map.xml'], (body) => {
        expect(read(body).check('/x', 'ExampleBot')).toEqual({ allowed: true, reason: 'no-group' });
      }),
  },
  'The Allow and Disallow lines': {
    '"To evaluate if access to a URI is allowed, a robot MUST match the paths in allow and disallow lines against the URI."':
      () => read('User-agent: *\nDisallow: /a\nAllow: /a/b', '+/ -/a +/a/b +/b/a -/ab'),
    '"The matching SHOULD be case sensitive."': () =>
      read('User-agent: *\nDisallow: /Fish', '-/Fish +/fish +/FISH'),
    '"The most specific match found MUST be used. The most specific match is the match that has the most octets."':
      () => {
        read('User-agent: *\nAllow: /a\nDisallow: /a/ツ', '-/a/%E3%83%84 +/a/x');
        read('User-agent: *\nDisallow: /a/ツ\nAllow: /a', '-/a/%E3%83%84 +/a/x');
        // Octets, not characters: ツ alone outweighs four stars.
        read('User-agent: *\nAllow: /****\nDisallow: /ツ', '-/%E3%83%84');
      },
    '"If an allow and disallow rule is equivalent, the allow SHOULD be used."': () => {
      read('User-agent: *\nDisallow: /a\nAllow: /a', '+/a');
      read('User-agent: *\nDisallow: /%61\nAllow: /a', '+/a');
    },
    '"If no match is found amongst the rules in a group for a matching user-agent, or there are no rules in the group, the URI is allowed."':
      () => read('User-agent: a\nDisallow: /x\nUser-agent: b', 'a: +/y@no-rule', 'b: +/x@no-rule'),
    '"The /robots.txt URI is implicitly allowed."': async () => {
      read('User-agent: *\nDisallow: /', '+/robots.txt');
      const itself = { allowed: true, reason: 'robots-txt' };
      const { server } = await visit([{ status: 503 }], ['/robots.txt', itself]);
      expect(server.requests).toEqual([]);
    },
    '"Octets in the URI and robots.txt paths outside the range of the US-ASCII coded character set, and those in the reserved range […], MUST be percent-encoded […] prior to comparison."':
      () => {
        read('User-agent: *\nDisallow: /é\nDisallow: /q?u=http://x', '-/%c3%a9 -/q?u=http%3A%2F%2Fx');
        // Taken by the letter this would encode every "/" and "?"; the table below encodes neither the delimiters of
        // the path nor "?" and "=". Within the query, raw and escaped reserved characters are the same here.
        read('User-agent: *\nDisallow: /a/b', '+/a%2Fb');
      },
    '"If a percent-encoded US-ASCII octet is encountered in the URI, it MUST be unencoded prior to comparison, unless it is a reserved character in the URI […] or the character is outside the unreserved character range."':
      () => {
        read('User-agent: *\nDisallow: /~a-b', '-/~a-b -/%7Ea%2Db -/%7e%61-b');
        read('User-agent: *\nDisallow: /a=b', '+/a%3Db');
        read('User-agent: *\nDisallow: /a"b', '-/a%22b');
      },
    '"The match evaluates positively if and only if the end of the path from the rule is reached before a difference in octets is encountered."':
      () => read('User-agent: *\nDisallow: /abc', '+/ab -/abc -/abcd +/abd -/ab%63d'),
    'the table of paths: each, and its encoded form, matches': () => {
      for (const [path, encoded, target] of [
        ['/foo/bar?baz=quz', '/foo/bar?baz=quz', '/foo/bar?baz=quz'],
        [
          '/foo/bar?baz=http://foo.bar',
          '/foo/bar?baz=http%3A%2F%2Ffoo.bar',
          '/foo/bar?baz=http%3A%2F%2Ffoo.bar',
        ],
        ['/foo/bar/\u30c4', '/foo/bar/%E3%83%84', '/foo/bar/%E3%83%84'],
        ['/foo/bar/%E3%83%84', '/foo/bar/%E3%83%84', '/foo/bar/%E3%83%84'],
        ['/foo/bar/%62%61%7A', '/foo/bar/%62%61%7A', '/foo/bar/baz'],
      ] as const) {
        for (const pattern of [path, encoded]) read(`User-agent: *\nDisallow: ${pattern}`, `-${target}`);
      }
    },
    '"The crawler SHOULD ignore "disallow" and "allow" rules that are not in any group"': () => {
      read('Disallow: /a\nUser-agent: *\nDisallow: /b', '+/a -/b');
      read('Disallow: /', '+/');
    },
    '"Implementers MAY bridge encoding mismatches if they detect that the robots.txt file is not UTF8 encoded."':
      () => {
        const utf16 = Buffer.from('\ufeffUser-agent: *\nDisallow: /ツ', 'utf16le');
        read(utf16, '-/%E3%83%84');
      },
  },
  'Special characters': {
    '"#" "Designates an end of line comment."': () =>
      read('User-agent: *\ndisallow: /\nallow: / # comment in line\n# comment at the end', '+/any'),
    '"$" "Designates the end of the match pattern.": "allow: /this/path/exactly$"': () =>
      read(
        'User-agent: *\nDisallow: /\nallow: /this/path/exactly$',
        '+/this/path/exactly -/this/path/exactly/ -/this/path/exactly?a -/this/path',
      ),
    '"*" "Designates 0 or more instances of any character.": "allow: /this/*/exactly"': () =>
      read(
        'User-agent: *\nDisallow: /\nallow: /this/*/exactly',
        '+/this//exactly +/this/a/exactly +/this/a/b/exactly/c -/this/exactly',
      ),
    '"If crawlers match special characters verbatim in the URI, crawlers SHOULD use `%` encoding."': () => {
      const site = 'https://www.example.com';
      const [star, dollar] = ['/path/file-with-a-%2A.html', '/path/foo-%24'];
      read(
        `User-agent: *\nDisallow: ${star}`,
        `-${site}/path/file-with-a-*.html +${site}/path/file-with-a-x.html`,
      );
      read(`User-agent: *\nDisallow: ${dollar}`, `-${site}/path/foo-$ +${site}/path/foo-x`);
    },
  },
  'Other lines': {
    '"Clients MAY interpret other lines that are not part of the robots.txt protocol. For example, \'sitemap\'."':
      () => {
        const file = read('User-agent: *\nSitemap: https://example.com/a.xml\nCrawl-delay: 5', '+/a');
        expect(file.sitemaps).toEqual([{ url: 'https://example.com/a.xml', line: 2 }]);
        expect(file.crawlDelay('ExampleBot')).toBe(5_000);
      },
  },
  'Access method': {
    '"scheme:[//authority]/robots.txt"': () =>
      requestsFileFor(
        PROFILE,
        ['http://www.example.com/a/b?c', 'http://www.example.com/robots.txt'],
        ['https://www.example.com/a/b?c', 'https://www.example.com/robots.txt'],
        ['ftp://ftp.example.com/a/b', 'ftp://ftp.example.com/robots.txt'],
      ),
    '"The rules MUST be accessible in a file named "/robots.txt" (all lower case) in the top level path of the service."':
      () => requestsOnlyRobotsTxt(PROFILE, '/Robots.txt'),
  },
  'Successful access': {
    '"If the crawler successfully downloads the robots.txt, the crawler MUST follow the parseable rules."':
      () => readsTheFile(PROFILE, [200, 203, 206, 299]),
  },
  Redirects: {
    '"The server may respond to a robots.txt fetch request with a redirect, such as HTTP 301 and HTTP 302."':
      () => followsRedirects(PROFILE),
    '"The crawlers SHOULD follow at least five consecutive redirects, even across authorities" / "If there are more than five consecutive redirects, crawlers MAY assume that the robots.txt is unavailable."':
      () => followsFiveRedirects(PROFILE),
    '"If a robots.txt file is reached within five consecutive redirects, the robots.txt file MUST be fetched, parsed, and its rules followed in the context of the initial authority."':
      async () => {
        const last = await site([{ status: 404 }], { '/files/robots': RULES });
        const first = await site([{ redirect: last.url('/files/robots') }]);
        const { robots } = robotFor(PROFILE);
        expect(await robots.check(first.url('/private'))).toMatchObject({
          allowed: false,
          origin: first.origin,
        });
        // It is not the file of the authority that served it.
        expect(await robots.canFetch(last.url('/private'))).toBe(true);
      },
  },
  'Unavailable status': {
    '"If a server status code indicates that the robots.txt file is unavailable to the client, then crawlers MAY access any resources on the server"':
      () => opensTheSite(PROFILE, [400, 401, 403, 404, 410, 418, 451, 499]),
    // A request for fewer requests is not read as leave to send any number: Google's page excepts 429 as well.
    '"in the context of HTTP, unavailable status codes are in the 400-499 range": but for 429': () =>
      visit([{ status: 429 }], ['/', unreachable]),
    '"or MAY use a cached version of a robots.txt file for up to 24 hours."': () => {
      // A setting, which no preset has.
      const profile = { ...profiles.rfc9309, name: 'draft', keepCopyOnUnavailableMs: DAY };
      return visitWith(
        { profile },
        PROFILE,
        [RULES, { status: 404 }],
        ['/private', disallowed],
        ['/private', lastGoodDisallows, DAY],
        ['/private', unavailable, DAY],
      );
    },
  },
  'Unreachable status': {
    '"in the context of HTTP, an unreachable robots.txt has a response code in the 500-599 range"': () =>
      each([500, 502, 503, 599], (status) =>
        visit([{ status, body: 'User-agent: *\nAllow: /' }], ['/', unreachable]),
      ),
    '"If the robots.txt is unreachable due to server or network errors, this means the robots.txt is undefined and the crawler MUST assume complete disallow."':
      () => failsByNetworkTrouble(PROFILE),
    'a good copy is no exception to be found in that sentence, but in that on caching: "unless the robots.txt is unreachable"':
      () =>
        visit(
          [RULES, { status: 500 }],
          ['/', allowed],
          ['/', lastGoodAllows, DAY],
          ['/private', lastGoodDisallows],
        ),
    '"For other undefined status codes, the crawler MUST assume the robots.txt is unreachable."': () =>
      each([300, 304, 305, 306, 399, 600, 999], async (status) => {
        const server = await rawSite((socket) =>
          socket.end(`HTTP/1.1 ${status} So\r\ncontent-length: 0\r\n\r\n`),
        );
        const decision = await robotFor(PROFILE).robots.check(server.url('/'));
        expect(decision, String(status)).toMatchObject(unreachable);
      }),
    '"If the robots.txt is undefined for a reasonably long period of time (for example, 30 days), clients MAY assume the robots.txt is unavailable or continue to use a cached copy."':
      async () => {
        await visit(
          [{ status: 500 }],
          ['/', unreachable],
          ['/', disallowed, 30 * DAY - 1],
          ['/', expired, 1],
        );
        await visit(
          [RULES, { status: 500 }],
          ['/', allowed],
          ['/', allowed, 30 * DAY],
          ['/private', lastGoodDisallows, 60 * DAY],
        );
      },
  },
  'Parsing errors': {
    '"Crawlers SHOULD try to parse each line of the robots.txt file. Crawlers MUST use the parseable rules."':
      () => {
        const latin1 = Buffer.from('<p>\nUser-agent: *\nDisallow: /a\n\xff\xfe\xfd\n', 'latin1');
        const rest = Buffer.from(`${'x'.repeat(100_000)}\nDisallow\n:::\nDisallow: /b\n\0\nDisallow: /c`);
        read(Buffer.concat([latin1, rest]), '-/a -/b -/c +/d');
      },
  },
  Caching: {
    '"Crawlers MAY cache the fetched robots.txt file\'s contents."': async () => {
      const visits = Array.from({ length: 20 }, (_, hour) => [`/${hour}`, allowed, HOUR] as const);
      expect((await visit([RULES], ...visits)).server.robotsCount).toBe(1);
    },
    '"Crawlers MAY use standard cache control as defined in RFC2616."': async () => {
      const headers = { 'cache-control': 'max-age=3600', etag: '"1"' };
      const { server, robots, clock } = await visit(
        [{ body: RULES, headers }, { status: 304 }],
        ['/', allowed],
      );
      await clock.advance(HOUR);
      expect(robots.peek(server.url('/private'))).toBeUndefined();
      expect(await robots.canFetch(server.url('/private'))).toBe(false);
      expect(server.requests.map((request) => request.headers['if-none-match'])).toEqual([undefined, '"1"']);
    },
    '"Crawlers SHOULD NOT use the cached version for more than 24 hours"': () =>
      keepsTheFileFor(PROFILE, DAY, () => ({
        'cache-control': 'max-age=31536000',
        expires: 'Fri, 01 Jan 2038 00:00:00 GMT',
      })),
    '"unless the robots.txt is unreachable."': () =>
      visit([RULES, { fault: 'reset' }], ['/', allowed], ['/private', lastGoodDisallows, 10 * DAY]),
  },
  Limits: {
    '"Crawlers MAY impose a parsing limit that MUST be at least 500 kibibytes (KiB)."': async () => {
      await readsHalfAMebibyte(PROFILE);
      expect(() => new RobotsClient({ maxBodyBytes: 500 * 1_024 - 1 })).toThrow(
        expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
      );
    },
  },
  'Simple example': {
    '"foobot: A regular case. A single user-agent token followed by rules."': () =>
      read(SIMPLE_EXAMPLE, 'foobot: -/example/page.html -/example/disallowed.gif +/example/'),
    '"barbot and bazbot: A group that\'s relevant for more than one user-agent."': () =>
      each(['barbot', 'bazbot'], (agent) => {
        const file = read(
          SIMPLE_EXAMPLE,
          `${agent}: +/example/page.html@7 -/example/disallowed.gif +/example/`,
        );
        expect(file.check('/example/page.html', agent)).toMatchObject({ group: { agent } });
      }),
    '"quxbot: Empty group at end of file."': () => {
      const file = read(
        SIMPLE_EXAMPLE,
        'quxbot: +/example/page.html +/example/disallowed.gif +/example/@no-rule',
      );
      expect(file.check('/example/', 'quxbot')).toMatchObject({ group: { agent: 'quxbot' } });
    },
  },
  'Longest Match': {
    // The draft names "example.com/example/page/disallow.gif", which only the first rule matches; RFC 9309 §5.2 has
    // "disallowed.gif".
    '"in the case of a two rules, the longest one MUST be used for matching."': () =>
      read(
        'User-Agent : foobot\nAllow : /example/page/\nDisallow : /example/page/disallowed.gif',
        'foobot: -https://example.com/example/page/disallowed.gif@3',
        'foobot: +https://example.com/example/page/disallow.gif@2',
      ),
  },
});

/*
 * What a client cannot obey: "These rules are not a form of access authorization" and the media type and encoding of
 * the file are for service owners; that "the identification string SHOULD describe the purpose of the crawler" is for
 * the operator, and `agent` takes it.
 */
