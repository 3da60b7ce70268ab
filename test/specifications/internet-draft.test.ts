import { describe, expect, it } from 'vitest';
import { guardFetch, profiles, RobotsClient } from '../../src/index.ts';
import { DAY, follower, HOUR, reader, readerOf, rawSite, site, web, withoutNames } from './follower.ts';
import { productToken } from '../../src/core/rules/index.ts';

/**
 * "Robots Exclusion Protocol, Internet Draft": what became RFC 9309. The profile `rfc9309` stands for it; where the
 * RFC changed a sentence, the RFC's holds, and the test says so.
 */
const PROFILE = 'rfc9309';
const RULES = 'User-agent: *\nDisallow: /private';

describe('Introduction', () => {
  it('"This document specifies the rules that crawlers MUST obey when accessing URIs."', async () => {
    const server = await site([RULES]);
    const fetchPolitely = guardFetch(fetch, follower(PROFILE).robots);
    await expect(fetchPolitely(server.url('/private'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect((await fetchPolitely(server.url('/open'))).status).toBe(200);
    expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/open']);
  });
});

describe('Protocol definition', () => {
  it('"Rule: A line with a key value pair that defines how a crawler may access URIs."', () => {
    const { file } = reader(PROFILE, 'User-agent: *', 'Allow: /a', 'Disallow: /b');
    expect(file.groups[0]?.rules).toEqual([
      { directive: 'allow', pattern: '/a', line: 2 },
      { directive: 'disallow', pattern: '/b', line: 3 },
    ]);
  });

  it('"Group: One or more user-agent lines that is followed by one or more rules. The group is terminated by a user-agent line or end of file."', () => {
    const { file } = reader(
      PROFILE,
      'User-agent: a',
      'User-agent: b',
      'Disallow: /1',
      'Disallow: /2',
      'User-agent: c',
      'Disallow: /3',
    );
    expect(
      file.groups.map(({ agentLines, rules }) => [agentLines.flatMap(({ names }) => names), rules.length]),
    ).toEqual([
      [['a', 'b'], 2],
      [['c'], 1],
    ]);
  });

  it('"The last group may have no rules, which means it implicitly allows everything."', () => {
    const { may } = reader(PROFILE, 'User-agent: *', 'Disallow: /', 'User-agent: ExampleBot');
    expect([may('/'), may('/', 'OtherBot')]).toEqual([true, false]);
  });
});

describe('Formal syntax', () => {
  it('"robotstxt = *(group / emptyline)", "*(startgroupline / emptyline)", "*(rule / emptyline)": empty lines may stand anywhere', () => {
    const { excluded } = reader(
      PROFILE,
      '',
      'User-agent: a',
      '',
      'User-agent: b',
      '',
      'Disallow: /1',
      '',
      'Disallow: /2',
      '',
    );
    for (const agent of ['a', 'b']) expect(excluded(['/1', '/2', '/3'], agent)).toEqual(['/1', '/2']);
  });

  it.each([' \tuser-agent \t: \ta', 'USER-AGENT:a', 'User-Agent :a # comment'])(
    '"startgroupline = *WS "user-agent" *WS ":" *WS product-token EOL": %j',
    (line) => {
      const { may } = reader(PROFILE, line, 'Disallow: /');
      expect([may('/', 'a'), may('/', 'b')]).toEqual([false, true]);
    },
  );

  it.each(['\t disallow \t:\t /x', 'DISALLOW:/x', 'Disallow: /x# comment', 'disAllow :/x  '])(
    '"rule = *WS ("allow" / "disallow") *WS ":" *WS (path-pattern / empty-pattern) EOL": %j',
    (line) => {
      expect(reader(PROFILE, 'User-agent: *', line).excluded(['/x', '/y'])).toEqual(['/x']);
      const allow = line.replace(/disallow/i, 'AllOW');
      expect(reader(PROFILE, 'User-agent: *', 'Disallow: /', allow).excluded(['/x', '/y'])).toEqual(['/y']);
    },
  );

  it('"empty-pattern = *WS": a rule that says nothing', () => {
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: \t').may('/')).toBe(true);
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /', 'Allow:').may('/')).toBe(false);
  });

  it('"be lenient when reading lines that don’t conform. Apply Postel’s law."', () => {
    const { excluded, file } = reader(
      PROFILE,
      'User agent: *',
      'Dissallow: /a',
      '<html>',
      ': no key',
      'Sitemap: https://example.com/map.xml',
      'Disallow /b',
    );
    expect(excluded(['/a', '/b', '/c'])).toEqual(['/a', '/b']);
    expect(file.sitemaps).toHaveLength(1);
  });

  it('"product-token = identifier / "*"", "identifier = 1*(%x2d / %x41-5a / %x5f / %x61-7a)"', () => {
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /').may('/', 'AnyBot')).toBe(false);
    const { may } = reader(PROFILE, 'User-agent: Example-Bot_News', 'Disallow: /');
    expect([may('/', 'Example-Bot_News'), may('/', 'Example')]).toEqual([false, true]);
  });

  it('"comment = "#" *(UTF8-char-noctl / WS / "#")": to the end of the line, wherever it starts', () => {
    const { excluded } = reader(
      PROFILE,
      '# a file #1 ツ',
      'User-agent: * # all',
      '  # between',
      'Disallow: /a # x # y',
    );
    expect(excluded(['/a', '/a%20', '/b'])).toEqual(['/a', '/a%20']);
  });

  it('"NL = %x0D / %x0A / %x0D.0A"', () => {
    for (const end of ['\r', '\n', '\r\n']) {
      const { file } = readerOf(PROFILE, ['User-agent: *', 'Disallow: /a', 'Disallow: /b'].join(end));
      expect(file.check('/b', 'x')).toMatchObject({ allowed: false, rule: { line: 3 } });
    }
  });

  it('"path-pattern = "/" *(UTF8-char-noctl)": characters of any length in UTF-8', () => {
    const { may } = reader(PROFILE, 'User-agent: *', 'Disallow: /é/ツ/💩');
    expect(may('/%C3%A9/%E3%83%84/%F0%9F%92%A9')).toBe(false);
    expect(may(new URL('https://example.com/é/ツ/💩').pathname)).toBe(false);
  });
});

describe('The user-agent line', () => {
  it('"The product token MUST contain only `a-zA-Z_-` characters."', () => {
    expect(productToken('Example-Bot_News/1.0')).toBe('Example-Bot_News');
    // More is taken than the sentence asks for: digits and dots are part of tokens that are in use.
    expect(productToken('MJ12bot/v1.4.8')).toBe('MJ12bot');
    expect(reader(PROFILE, 'User-agent: MJ12bot', 'Disallow: /').may('/', 'MJ12bot')).toBe(false);
  });

  const header = 'Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)';

  it('"The product token SHOULD be part of the identification string that the crawler sends to the service"', async () => {
    const server = await site([RULES]);
    const { robots } = follower(PROFILE, { agent: header });
    const { agent } = await robots.check(server.url('/'));
    const sent = server.requests[0]?.headers['user-agent'];
    expect(agent).toBe('ExampleBot');
    expect(sent).toContain(agent);
  });

  it('"user-agent: Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)" goes by "user-agent: ExampleBot"', async () => {
    const server = await site(['user-agent: ExampleBot\ndisallow: /a\nuser-agent: Mozilla\ndisallow: /b']);
    const { robots } = follower(PROFILE, { agent: header });
    expect(await robots.canFetch(server.url('/a'))).toBe(false);
    expect(await robots.canFetch(server.url('/b'))).toBe(true);
    expect(server.requests[0]?.headers['user-agent']).toBe(header);
  });

  it('"Crawlers MUST find the group that matches the product token exactly, and then obey the rules of the group."', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: Example',
      'Disallow: /1',
      'User-agent: ExampleBot-News',
      'Disallow: /2',
      'User-agent: ExampleBot',
      'Disallow: /3',
    );
    expect(excluded(['/1', '/2', '/3'])).toEqual(['/3']);
  });

  it('"If there is more than one group matching the user-agent, the matching groups\' rules MUST be combined into one group."', () => {
    const { excluded, file } = reader(
      PROFILE,
      'User-agent: ExampleBot',
      'Disallow: /1',
      'User-agent: b',
      'Disallow: /2',
      'User-agent: ExampleBot',
      'Disallow: /3',
    );
    expect(excluded(['/1', '/2', '/3'])).toEqual(['/1', '/3']);
    expect(file.check('/3', 'ExampleBot')).toMatchObject({ group: { lines: [1, 5] } });
  });

  it('"The matching MUST be case-insensitive."', () => {
    expect(reader(PROFILE, 'User-agent: EXAMPLEbot', 'Disallow: /').may('/', 'exampleBOT')).toBe(false);
  });

  it('"If no matching group exists, crawlers MUST obey the first group with a user-agent line with a "*" value, if present."', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: a',
      'Disallow: /1',
      'User-agent: *',
      'Disallow: /2',
      'User-agent: *',
      'Disallow: /3',
    );
    // RFC 9309 §2.2.1 has no "first": "the group with a user-agent line with the "*" value". All of them are
    // combined like those of any other value.
    expect(excluded(['/1', '/2', '/3'])).toEqual(['/2', '/3']);
    expect(excluded(['/1', '/2', '/3'], 'a')).toEqual(['/1']);
  });

  it.each([
    ['no group satisfies either condition', 'User-agent: a\nDisallow: /'],
    ['no groups are present at all', 'Sitemap: https://example.com/map.xml'],
  ])('"If %s, […] no rules apply."', (_, body) => {
    expect(readerOf(PROFILE, body).file.check('/x', 'ExampleBot')).toEqual({
      allowed: true,
      reason: 'no-group',
    });
  });
});

describe('The Allow and Disallow lines', () => {
  it('"To evaluate if access to a URI is allowed, a robot MUST match the paths in allow and disallow lines against the URI."', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /a', 'Allow: /a/b');
    expect(excluded(['/', '/a', '/a/b', '/b/a', '/ab'])).toEqual(['/a', '/ab']);
  });

  it('"The matching SHOULD be case sensitive."', () => {
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /Fish').excluded(['/Fish', '/fish', '/FISH'])).toEqual(
      ['/Fish'],
    );
  });

  it('"The most specific match found MUST be used. The most specific match is the match that has the most octets."', () => {
    for (const rules of [
      ['Allow: /a', 'Disallow: /a/ツ'],
      ['Disallow: /a/ツ', 'Allow: /a'],
    ]) {
      expect(reader(PROFILE, 'User-agent: *', ...rules).excluded(['/a/%E3%83%84', '/a/x'])).toEqual([
        '/a/%E3%83%84',
      ]);
    }
    // Octets, not characters: ツ alone outweighs four stars.
    expect(reader(PROFILE, 'User-agent: *', 'Allow: /****', 'Disallow: /ツ').may('/%E3%83%84')).toBe(false);
  });

  it('"If an allow and disallow rule is equivalent, the allow SHOULD be used."', () => {
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /a', 'Allow: /a').may('/a')).toBe(true);
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /%61', 'Allow: /a').may('/a')).toBe(true);
  });

  it('"If no match is found amongst the rules in a group for a matching user-agent, or there are no rules in the group, the URI is allowed."', () => {
    const { file } = reader(PROFILE, 'User-agent: a', 'Disallow: /x', 'User-agent: b');
    expect(file.check('/y', 'a')).toMatchObject({ allowed: true, reason: 'no-rule' });
    expect(file.check('/x', 'b')).toMatchObject({ allowed: true, reason: 'no-rule' });
  });

  it('"The /robots.txt URI is implicitly allowed."', async () => {
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /').may('/robots.txt')).toBe(true);
    const server = await site([{ status: 503 }]);
    const { robots } = follower(PROFILE);
    expect(await robots.check(server.url('/robots.txt'))).toMatchObject({
      allowed: true,
      reason: 'robots-txt',
    });
    expect(server.requests).toEqual([]);
  });

  it('"Octets in the URI and robots.txt paths outside the range of the US-ASCII coded character set, and those in the reserved range […], MUST be percent-encoded […] prior to comparison."', () => {
    const { may } = reader(PROFILE, 'User-agent: *', 'Disallow: /é', 'Disallow: /q?u=http://x');
    expect(may('/%c3%a9')).toBe(false);
    expect(may('/q?u=http%3A%2F%2Fx')).toBe(false);
    // Taken by the letter this would encode every "/" and "?"; the table below encodes neither the delimiters of
    // the path nor "?" and "=". Within the query, raw and escaped reserved characters are the same here.
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /a/b').may('/a%2Fb')).toBe(true);
  });

  it('"If a percent-encoded US-ASCII octet is encountered in the URI, it MUST be unencoded prior to comparison, unless it is a reserved character in the URI […] or the character is outside the unreserved character range."', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /~a-b');
    expect(excluded(['/~a-b', '/%7Ea%2Db', '/%7e%61-b'])).toEqual(['/~a-b', '/%7Ea%2Db', '/%7e%61-b']);
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /a=b').may('/a%3Db')).toBe(true);
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /a"b').may('/a%22b')).toBe(false);
  });

  it('"The match evaluates positively if and only if the end of the path from the rule is reached before a difference in octets is encountered."', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /abc');
    expect(excluded(['/ab', '/abc', '/abcd', '/abd', '/ab%63d'])).toEqual(['/abc', '/abcd', '/ab%63d']);
  });

  it.each([
    ['/foo/bar?baz=quz', '/foo/bar?baz=quz', '/foo/bar?baz=quz'],
    ['/foo/bar?baz=http://foo.bar', '/foo/bar?baz=http%3A%2F%2Ffoo.bar', '/foo/bar?baz=http%3A%2F%2Ffoo.bar'],
    ['/foo/bar/\u30c4', '/foo/bar/%E3%83%84', '/foo/bar/%E3%83%84'],
    ['/foo/bar/%E3%83%84', '/foo/bar/%E3%83%84', '/foo/bar/%E3%83%84'],
    ['/foo/bar/%62%61%7A', '/foo/bar/%62%61%7A', '/foo/bar/baz'],
  ])('path %s, encoded %s: matches %s', (path, encoded, target) => {
    for (const pattern of [path, encoded]) {
      expect(reader(PROFILE, 'User-agent: *', `Disallow: ${pattern}`).may(target), pattern).toBe(false);
    }
  });

  it('"The crawler SHOULD ignore "disallow" and "allow" rules that are not in any group"', () => {
    expect(reader(PROFILE, 'Disallow: /a', 'User-agent: *', 'Disallow: /b').excluded(['/a', '/b'])).toEqual([
      '/b',
    ]);
    expect(reader(PROFILE, 'Disallow: /').may('/')).toBe(true);
  });

  it('"Implementers MAY bridge encoding mismatches if they detect that the robots.txt file is not UTF8 encoded."', () => {
    const text = 'User-agent: *\nDisallow: /ツ';
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
    expect(readerOf(PROFILE, utf16).may('/%E3%83%84')).toBe(false);
  });
});

describe('Special characters', () => {
  it('"#" "Designates an end of line comment."', () => {
    const { may } = reader(
      PROFILE,
      'User-agent: *',
      'disallow: /',
      'allow: / # comment in line',
      '# comment at the end',
    );
    expect(may('/any')).toBe(true);
  });

  it('"$" "Designates the end of the match pattern.": "allow: /this/path/exactly$"', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /', 'allow: /this/path/exactly$');
    expect(
      excluded(['/this/path/exactly', '/this/path/exactly/', '/this/path/exactly?a', '/this/path']),
    ).toEqual(['/this/path/exactly/', '/this/path/exactly?a', '/this/path']);
  });

  it('"*" "Designates 0 or more instances of any character.": "allow: /this/*/exactly"', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /', 'allow: /this/*/exactly');
    expect(excluded(['/this//exactly', '/this/a/exactly', '/this/a/b/exactly/c', '/this/exactly'])).toEqual([
      '/this/exactly',
    ]);
  });

  it('"If crawlers match special characters verbatim in the URI, crawlers SHOULD use `%` encoding."', () => {
    for (const [pattern, url] of [
      ['/path/file-with-a-%2A.html', 'https://www.example.com/path/file-with-a-*.html'],
      ['/path/foo-%24', 'https://www.example.com/path/foo-$'],
    ] as const) {
      const { may } = reader(PROFILE, 'User-agent: *', `Disallow: ${pattern}`);
      expect(may(url)).toBe(false);
      expect(may(url.replace(/[*$]/, 'x'))).toBe(true);
    }
  });
});

describe('Other lines', () => {
  it('"Clients MAY interpret other lines that are not part of the robots.txt protocol. For example, \'sitemap\'."', () => {
    const { file } = reader(PROFILE, 'User-agent: *', 'Sitemap: https://example.com/a.xml', 'Crawl-delay: 5');
    expect(file.sitemaps).toEqual([{ url: 'https://example.com/a.xml', line: 2 }]);
    expect(file.crawlDelay('ExampleBot')).toBe(5_000);
    expect(file.check('/a', 'ExampleBot').allowed).toBe(true);
  });
});

describe('Access method', () => {
  it.each([
    ['http://www.example.com/a/b?c', 'http://www.example.com/robots.txt'],
    ['https://www.example.com/a/b?c', 'https://www.example.com/robots.txt'],
    ['ftp://ftp.example.com/a/b', 'ftp://ftp.example.com/robots.txt'],
  ])('"scheme:[//authority]/robots.txt": for %s it is %s', async (url, file) => {
    const { options, asked } = web({ [file]: 'User-agent: *\nDisallow: /a' });
    const { robots } = follower(PROFILE, options);
    expect(await robots.canFetch(url)).toBe(false);
    expect(asked).toEqual([file]);
  });

  it('"The rules MUST be accessible in a file named "/robots.txt" (all lower case) in the top level path of the service."', async () => {
    const server = await site([{ status: 404 }], { '/Robots.txt': 'User-agent: *\nDisallow: /' });
    const { robots } = follower(PROFILE);
    expect(await robots.canFetch(server.url('/a/b'))).toBe(true);
    expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt']);
  });
});

describe('Successful access', () => {
  it.each([200, 203, 206, 299])(
    '"If the crawler successfully downloads the robots.txt, the crawler MUST follow the parseable rules.": %i',
    async (status) => {
      const server = await site([{ status, body: `${RULES}\n\0\u0001nonsense` }]);
      const { robots } = follower(PROFILE);
      expect(await robots.check(server.url('/private'))).toMatchObject({ allowed: false, reason: 'rule' });
      expect(await robots.canFetch(server.url('/'))).toBe(true);
    },
  );
});

describe('Redirects', () => {
  /** A chain over that many sites; the last one has the file. */
  async function chain(redirects: number, status = 302): Promise<string> {
    let target = (await site([{ status: 404 }], { '/files/robots': RULES })).url('/files/robots');
    for (let hop = 0; hop < redirects; hop++) {
      const path = hop === redirects - 1 ? '/robots.txt' : `/hop/${hop}`;
      const next = await site([{ redirect: target, status }], { [path]: { redirect: target, status } });
      target = next.url(path);
    }
    return new URL(target).origin;
  }

  it.each([301, 302, 303, 307, 308])(
    '"The server may respond to a robots.txt fetch request with a redirect, such as HTTP 301 and HTTP 302.": %i',
    async (status) => {
      const origin = await chain(1, status);
      expect(await follower(PROFILE).robots.canFetch(`${origin}/private`)).toBe(false);
    },
  );

  it('"The crawlers SHOULD follow at least five consecutive redirects, even across authorities"', async () => {
    const decision = await follower(PROFILE).robots.check(`${await chain(5)}/private`);
    expect(decision).toMatchObject({ allowed: false, reason: 'rule', robots: { hops: 5 } });
  });

  it('"If a robots.txt file is reached within five consecutive redirects, the robots.txt file MUST be fetched, parsed, and its rules followed in the context of the initial authority."', async () => {
    const last = await site([{ status: 404 }], { '/files/robots': RULES });
    const first = await site([{ redirect: last.url('/files/robots') }]);
    const { robots } = follower(PROFILE);
    expect(await robots.check(first.url('/private'))).toMatchObject({ allowed: false, origin: first.origin });
    // It is not the file of the authority that served it.
    expect(await robots.canFetch(last.url('/private'))).toBe(true);
  });

  it('"If there are more than five consecutive redirects, crawlers MAY assume that the robots.txt is unavailable."', async () => {
    const decision = await follower(PROFILE).robots.check(`${await chain(6)}/private`);
    expect(decision).toMatchObject({ allowed: true, reason: 'unavailable' });
  });
});

describe('Unavailable status', () => {
  it.each([400, 401, 403, 404, 410, 418, 451, 499])(
    '"If a server status code indicates that the robots.txt file is unavailable to the client, then crawlers MAY access any resources on the server": %i',
    async (status) => {
      const server = await site([{ status, body: 'User-agent: *\nDisallow: /' }]);
      expect(await follower(PROFILE).robots.check(server.url('/private'))).toMatchObject({
        allowed: true,
        reason: 'unavailable',
      });
    },
  );

  it('"in the context of HTTP, unavailable status codes are in the 400-499 range": but for 429', async () => {
    // Whoever asks for fewer requests is not read as one who allows any number: Google's page excepts it as well.
    const server = await site([{ status: 429 }]);
    expect(await follower(PROFILE).robots.check(server.url('/'))).toMatchObject({
      allowed: false,
      reason: 'unreachable',
    });
  });

  it('"or MAY use a cached version of a robots.txt file for up to 24 hours."', async () => {
    const server = await site([RULES, { status: 404 }]);
    // No preset does; whoever likes to, sets it.
    const profile = { ...profiles.rfc9309, name: 'draft', keepCopyOnUnavailableMs: DAY };
    const { robots, clock } = follower(PROFILE, { profile });
    expect(await robots.canFetch(server.url('/private'))).toBe(false);
    await clock.advance(DAY);
    expect(await robots.check(server.url('/private'))).toMatchObject({ allowed: false, state: 'last-good' });
    await clock.advance(DAY);
    expect(await robots.check(server.url('/private'))).toMatchObject({
      allowed: true,
      reason: 'unavailable',
    });
  });
});

describe('Unreachable status', () => {
  const unreachable = { allowed: false, reason: 'unreachable', state: 'disallow-all' };

  it.each([500, 502, 503, 599])(
    '"in the context of HTTP, an unreachable robots.txt has a response code in the 500-599 range": %i',
    async (status) => {
      const server = await site([{ status, body: 'User-agent: *\nAllow: /' }]);
      expect(await follower(PROFILE).robots.check(server.url('/'))).toMatchObject(unreachable);
    },
  );

  it('"If the robots.txt is unreachable due to server or network errors, this means the robots.txt is undefined and the crawler MUST assume complete disallow."', async () => {
    const reset = await site([{ fault: 'reset' }]);
    const silent = await site([{ fault: 'hang' }]);
    const { robots } = follower(PROFILE, { deadlineMs: 100 });
    for (const server of [reset, silent]) {
      for (const path of ['/', '/a', '/private'])
        expect(await robots.check(server.url(path))).toMatchObject(unreachable);
    }
    const nameless = follower(PROFILE, withoutNames());
    expect(await nameless.robots.check('http://nowhere.example/')).toMatchObject(unreachable);
  });

  it('a good copy is no exception to be found in that sentence, but in that on caching: "unless the robots.txt is unreachable"', async () => {
    const server = await site([RULES, { status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    expect(await robots.canFetch(server.url('/'))).toBe(true);
    await clock.advance(DAY);
    expect(await robots.check(server.url('/'))).toMatchObject({ allowed: true, state: 'last-good' });
    expect(await robots.check(server.url('/private'))).toMatchObject({ allowed: false, state: 'last-good' });
  });

  it.each([300, 304, 305, 306, 399, 600, 999])(
    '"For other undefined status codes, the crawler MUST assume the robots.txt is unreachable.": %i',
    async (status) => {
      const server = await rawSite((socket) =>
        socket.end(`HTTP/1.1 ${status} So\r\ncontent-length: 0\r\n\r\n`),
      );
      expect(await follower(PROFILE).robots.check(server.url('/'))).toMatchObject(unreachable);
    },
  );

  it('"If the robots.txt is undefined for a reasonably long period of time (for example, 30 days), clients MAY assume the robots.txt is unavailable or continue to use a cached copy."', async () => {
    const never = await site([{ status: 500 }]);
    const once = await site([RULES, { status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(never.url('/'));
    await robots.check(once.url('/'));
    await clock.advance(30 * DAY - 1);
    expect(await robots.canFetch(never.url('/'))).toBe(false);
    await clock.advance(1);
    expect(await robots.check(never.url('/'))).toMatchObject({
      allowed: true,
      reason: 'unreachable-expired',
    });
    await robots.check(once.url('/'));
    await clock.advance(60 * DAY);
    expect(await robots.check(once.url('/private'))).toMatchObject({ allowed: false, state: 'last-good' });
  });
});

describe('Parsing errors', () => {
  it('"Crawlers SHOULD try to parse each line of the robots.txt file. Crawlers MUST use the parseable rules."', () => {
    const { excluded } = readerOf(
      PROFILE,
      Buffer.concat([
        Buffer.from('<p>\nUser-agent: *\nDisallow: /a\n\xff\xfe\xfd\n', 'latin1'),
        Buffer.from(`${'x'.repeat(100_000)}\nDisallow\n:::\nDisallow: /b\n\0\nDisallow: /c`),
      ]),
    );
    expect(excluded(['/a', '/b', '/c', '/d'])).toEqual(['/a', '/b', '/c']);
  });
});

describe('Caching', () => {
  it('"Crawlers MAY cache the fetched robots.txt file\'s contents."', async () => {
    const server = await site([RULES]);
    const { robots, clock } = follower(PROFILE);
    for (let hour = 0; hour < 20; hour++) {
      await robots.canFetch(server.url(`/${hour}`));
      await clock.advance(HOUR);
    }
    expect(server.robotsCount).toBe(1);
  });

  it('"Crawlers MAY use standard cache control as defined in RFC2616."', async () => {
    const server = await site([
      { body: RULES, headers: { 'cache-control': 'max-age=3600', etag: '"1"' } },
      { status: 304 },
    ]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(HOUR);
    expect(robots.peek(server.url('/private'))).toBeUndefined();
    expect(await robots.canFetch(server.url('/private'))).toBe(false);
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
  });

  it('"Crawlers SHOULD NOT use the cached version for more than 24 hours"', async () => {
    const long = { 'cache-control': 'max-age=31536000', expires: 'Fri, 01 Jan 2038 00:00:00 GMT' };
    const server = await site([{ body: RULES, headers: long }, 'User-agent: *\nAllow: /']);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(DAY - 1);
    expect(robots.peek(server.url('/private'))).toMatchObject({ allowed: false });
    await clock.advance(1);
    expect(robots.peek(server.url('/private'))).toBeUndefined();
    expect(await robots.canFetch(server.url('/private'))).toBe(true);
  });

  it('"unless the robots.txt is unreachable."', async () => {
    const server = await site([RULES, { fault: 'reset' }]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(10 * DAY);
    expect(await robots.check(server.url('/private'))).toMatchObject({ allowed: false, state: 'last-good' });
  });
});

describe('Limits', () => {
  it('"Crawlers MAY impose a parsing limit that MUST be at least 500 kibibytes (KiB)."', async () => {
    const filler = '#'.repeat(500 * 1_024 - 'User-agent: *\n\nDisallow: /a\n'.length);
    const server = await site([`User-agent: *\n${filler}\nDisallow: /a\nDisallow: /b\n`]);
    const { robots } = follower(PROFILE);
    expect(await robots.canFetch(server.url('/a'))).toBe(false);
    expect(await robots.canFetch(server.url('/b'))).toBe(true);
    expect(() => new RobotsClient({ maxBodyBytes: 500 * 1_024 - 1 })).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
    );
  });
});

describe('Simple example', () => {
  const { file, may, excluded } = reader(
    PROFILE,
    'User-Agent : foobot',
    'Disallow : /example/page.html',
    'Disallow : /example/disallowed.gif',
    '',
    'User-Agent : barbot',
    'User-Agent : bazbot',
    'Allow : /example/page.html',
    'Disallow : /example/disallowed.gif',
    '',
    'User-Agent: quxbot',
    '',
    '/eof',
  );
  const paths = ['/example/page.html', '/example/disallowed.gif', '/example/'];

  it('"foobot: A regular case. A single user-agent token followed by rules."', () => {
    expect(excluded(paths, 'foobot')).toEqual(['/example/page.html', '/example/disallowed.gif']);
  });

  it('"barbot and bazbot: A group that\'s relevant for more than one user-agent."', () => {
    for (const agent of ['barbot', 'bazbot']) {
      expect(excluded(paths, agent)).toEqual(['/example/disallowed.gif']);
      expect(file.check('/example/page.html', agent)).toMatchObject({
        reason: 'rule',
        group: { agent },
      });
    }
  });

  it('"quxbot: Empty group at end of file."', () => {
    expect(paths.every((path) => may(path, 'quxbot'))).toBe(true);
    expect(file.check('/example/', 'quxbot')).toMatchObject({
      reason: 'no-rule',
      group: { agent: 'quxbot' },
    });
  });
});

describe('Longest Match', () => {
  it('"in the case of a two rules, the longest one MUST be used for matching."', () => {
    const { file } = reader(
      PROFILE,
      'User-Agent : foobot',
      'Allow : /example/page/',
      'Disallow : /example/page/disallowed.gif',
    );
    expect(file.check('https://example.com/example/page/disallowed.gif', 'foobot')).toMatchObject({
      allowed: false,
      rule: { line: 3 },
    });
    // The draft names "example.com/example/page/disallow.gif", which only the first rule matches; RFC 9309 §5.2 has
    // "disallowed.gif".
    expect(file.check('https://example.com/example/page/disallow.gif', 'foobot')).toMatchObject({
      allowed: true,
      rule: { line: 2 },
    });
  });
});

/*
 * What a client cannot obey: "These rules are not a form of access authorization" and the media type and encoding of
 * the file are for service owners; that "the identification string SHOULD describe the purpose of the crawler" is for
 * whoever names the crawler, and `agent` takes what they say.
 */
