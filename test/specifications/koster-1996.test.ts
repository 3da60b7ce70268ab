import { describe, expect, it } from 'vitest';
import { guardFetch } from '../../src/index.ts';
import { productToken } from '../../src/core/rules/index.ts';
import {
  DAY,
  follower,
  HOUR,
  LEAST_DEADLINE_MS,
  MINUTE,
  reader,
  readerOf,
  site,
  web,
  withoutNames,
} from './follower.ts';

/**
 * M. Koster, "A Method for Robots Exclusion", draft version 1 of 15 November 1996, with the reply on the mailing list
 * that stands above it. The profile `koster-1996` stands for both.
 */
const PROFILE = 'koster-1996';
const RULES = 'User-agent: *\nDisallow: /private';
const unreachable = { allowed: false, reason: 'unreachable', state: 'disallow-all' } as const;

describe('The reply on the list', () => {
  it('"I suggest that the intention was that no match implies that the agent is allowed."', () => {
    const { file } = reader(PROFILE, 'User-agent: *', 'Disallow: /a', 'Allow: /a/b');
    expect(file.check('/c', 'ExampleBot')).toMatchObject({ allowed: true, reason: 'no-rule' });
  });

  it('"Otherwise, a terminal "Allow: /" is needed to allow crawling of the whole site […] by default."', () => {
    const paths = ['/', '/a', '/b'];
    const without = reader(PROFILE, 'User-agent: *', 'Disallow: /a');
    const terminal = reader(PROFILE, 'User-agent: *', 'Disallow: /a', 'Allow: /');
    expect(terminal.excluded(paths)).toEqual(without.excluded(paths));
  });
});

describe('The letter with the draft', () => {
  // The 1994 guide, and the draft; RFC 9309 and Google read "*" as a wildcard.
  it('"(Like, anyone noticed \'*\' is legal in a URL path? :-)"', () => {
    expect(
      reader(PROFILE, 'User-agent: *', 'Disallow: /a*b').excluded(['/ab', '/axb', '/a*b', '/a*bc']),
    ).toEqual(['/a*b', '/a*bc']);
  });
});

describe('3. The Specification', () => {
  it('"Robots must retrieve these instructions before visiting other URLs on the site, and use the instructions to determine if other URLs on the site can be accessed."', async () => {
    const server = await site([RULES]);
    const fetchPolitely = guardFetch(fetch, follower(PROFILE).robots);
    await fetchPolitely(server.url('/page'));
    await expect(fetchPolitely(server.url('/private'))).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/page']);
  });
});

describe('3.1 Access method', () => {
  it.each([
    ['http://www.foo.com/welcome.html', 'http://www.foo.com/robots.txt'],
    ['http://www.bar.com:8001/', 'http://www.bar.com:8001/robots.txt'],
  ])(
    '"The instructions must be accessible via HTTP […] under a standard relative path on the server": for %s %s',
    async (url, file) => {
      const { options, asked } = web({ [file]: 'User-agent: *\nDisallow: /' });
      expect(await follower(PROFILE, options).robots.canFetch(url)).toBe(false);
      expect(asked).toEqual([file]);
    },
  );

  it.each([200, 203, 206])(
    '"If the server response indicates Success (HTTP 2xx Status Code,) the robot must read the content, parse it, and follow any instructions applicable to that robot.": %i',
    async (status) => {
      const server = await site([
        { status, body: 'User-agent: examplebot\nDisallow: /a\n\nUser-agent: b\nDisallow: /b' },
      ]);
      const { robots } = follower(PROFILE);
      expect(await robots.check(server.url('/a'))).toMatchObject({ allowed: false, reason: 'rule' });
      expect(await robots.canFetch(server.url('/b'))).toBe(true);
    },
  );

  it('"If the server response indicates the resource does not exist (HTTP Status Code 404), the robot can assume no instructions are available, and that access to the site is unrestricted."', async () => {
    const server = await site([{ status: 404, body: 'User-agent: *\nDisallow: /' }]);
    expect(await follower(PROFILE).robots.check(server.url('/private'))).toMatchObject({
      allowed: true,
      reason: 'unavailable',
    });
  });

  // RFC 9309 and Google open the site on these two.
  it.each([401, 403])(
    '"On server response indicating access restrictions (HTTP Status Code 401 or 403) a robot should regard access to the site completely restricted.": %i',
    async (status) => {
      const server = await site([{ status, body: 'User-agent: *\nAllow: /' }]);
      const { robots } = follower(PROFILE);
      for (const path of ['/', '/a', '/private']) {
        expect(await robots.check(server.url(path))).toMatchObject({ allowed: false, reason: 'restricted' });
      }
      expect(server.robotsCount).toBe(1);
    },
  );

  it('"On the request attempt resulted in temporary failure a robot should defer visits to the site until such time as the resource can be retrieved."', async () => {
    for (const failure of [
      { status: 500 },
      { status: 503 },
      { status: 429 },
      { fault: 'reset' },
      { fault: 'hang' },
    ] as const) {
      const server = await site([failure, failure, RULES]);
      const { robots, clock } = follower(PROFILE, { deadlineMs: LEAST_DEADLINE_MS });
      expect(await robots.check(server.url('/'))).toMatchObject(unreachable);
      // No time is so long that it ends the deferral: that came with the Internet draft.
      await clock.advance(400 * DAY);
      expect(await robots.check(server.url('/'))).toMatchObject(unreachable);
      await clock.advance(HOUR);
      expect(await robots.check(server.url('/'))).toMatchObject({ allowed: true, state: 'rules' });
      expect(await robots.canFetch(server.url('/private'))).toBe(false);
      expect(server.robotsCount).toBe(3);
    }
    const nameless = follower(PROFILE, withoutNames());
    expect(await nameless.robots.check('http://nowhere.example/')).toMatchObject(unreachable);
  });

  it('a good copy does not serve meanwhile: visits are deferred', async () => {
    const server = await site([RULES, { status: 500 }]);
    const { robots, clock } = follower(PROFILE);
    expect(await robots.canFetch(server.url('/'))).toBe(true);
    await clock.advance(7 * DAY);
    expect(await robots.check(server.url('/'))).toMatchObject(unreachable);
  });

  it('"On server response indicating Redirection (HTTP Status Code 3XX) a robot should follow the redirects until a resource can be found."', async () => {
    // No number is given; RFC 9309 has five. Twenty are followed, and a chain that has to be cut has found nothing.
    const chain = (length: number): ReturnType<typeof site> =>
      site(
        [{ redirect: '/hop/1' }],
        Object.fromEntries(
          Array.from({ length }, (_, hop) => [
            `/hop/${hop + 1}`,
            hop === length - 1 ? RULES : { redirect: `/hop/${hop + 2}` },
          ]),
        ),
      );
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await site([{ redirect: '/file', status }], { '/file': RULES });
      expect(await follower(PROFILE).robots.canFetch(server.url('/private'))).toBe(false);
    }
    const { robots } = follower(PROFILE);
    const found = await robots.check((await chain(20)).url('/private'));
    expect(found).toMatchObject({ allowed: false, reason: 'rule', robots: { hops: 20 } });
    expect(await robots.check((await chain(21)).url('/'))).toMatchObject(unreachable);
  });
});

describe('3.2 File Format Description', () => {
  // The 1994 guide says the same; RFC 9309 and Google read over blank lines.
  it('"The format logically consists of a non-empty set or records, separated by blank lines."', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: a',
      'Disallow: /1',
      '',
      'User-agent: b',
      'Disallow: /2',
      '',
      'Disallow: /3',
    );
    const paths = ['/1', '/2', '/3'];
    expect(excluded(paths, 'a')).toEqual(['/1']);
    expect(excluded(paths, 'b')).toEqual(['/2']);
    expect(reader(PROFILE, 'User-agent: a', '', 'Disallow: /').may('/', 'a')).toBe(true);
  });

  it('"The records consist of a set of lines of the form: <Field> ":" <value>"', () => {
    expect(reader(PROFILE, 'User-agent:a', 'Disallow:/x', 'Disallow /y').excluded(['/x', '/y'], 'a')).toEqual(
      ['/x'],
    );
  });

  it('"The record starts with one or more User-agent lines, specifying which robots the record applies to, followed by "Disallow" and "Allow" instructions to that robot."', () => {
    const { excluded, may } = reader(
      PROFILE,
      'User-agent: webcrawler',
      'User-agent: infoseek',
      'Allow: /tmp/ok.html',
      'Disallow: /tmp',
      'Disallow: /user/foo',
    );
    const paths = ['/tmp/ok.html', '/tmp', '/tmp/a', '/user/foo/b', '/user/bar'];
    for (const agent of ['webcrawler', 'infoseek']) {
      expect(excluded(paths, agent)).toEqual(['/tmp', '/tmp/a', '/user/foo/b']);
    }
    expect(paths.every((path) => may(path, 'otherbot'))).toBe(true);
  });

  it('"Comments are allowed anywhere in the file, and consist of a comment character \'#\' followed by the comment, terminated by the end-of-line."', () => {
    const { excluded } = reader(
      PROFILE,
      '# a file',
      'User-agent: * # all',
      '# in a record: it is no blank line',
      'Disallow: /a # here',
      '  # there',
      'Disallow: /b#c',
    );
    expect(excluded(['/a', '/b', '/b#c', '/c'])).toEqual(['/a', '/b', '/b#c']);
  });
});

describe('3.2.1 The User-agent line', () => {
  it('"The User-agent line indicates to which specific robots the record applies."', () => {
    const { may } = reader(PROFILE, 'User-agent: a', 'Disallow: /');
    expect([may('/', 'a'), may('/', 'b')]).toEqual([false, true]);
  });

  it('"The line either specifies a simple name for a robot, or "*", indicating this record is the default record for robots for which no explicit User-agent line can be found in any of the records."', () => {
    const { excluded } = reader(
      PROFILE,
      'User-agent: *',
      'Disallow: /1',
      '',
      'User-agent: a',
      'Disallow: /2',
    );
    expect(excluded(['/1', '/2'], 'b')).toEqual(['/1']);
    // Wherever it stands: its record is for the others.
    expect(excluded(['/1', '/2'], 'a')).toEqual(['/2']);
  });

  it('"Robots should use the same name in the User-agent field of a HTTP request, minus version information."', async () => {
    const server = await site(['User-agent: ExampleBot\nDisallow: /a']);
    const { robots } = follower(PROFILE, { agent: 'ExampleBot/2.1' });
    expect(await robots.check(server.url('/a'))).toMatchObject({ allowed: false, agent: 'ExampleBot' });
    expect(server.requests[0]?.headers['user-agent']).toBe('ExampleBot/2.1');
  });

  it('"The name comparisons are case-insensitive."', () => {
    expect(reader(PROFILE, 'User-agent: EXAMPLEbot', 'Disallow: /').may('/', 'exampleBOT')).toBe(false);
  });

  it('"User-agent: FigTree/0.1 Robot/1.0 libwww-perl/5.04" "might scan the "/robots.txt" file for records with: User-agent: figtree"', () => {
    const agent = 'FigTree/0.1 Robot/1.0 libwww-perl/5.04';
    expect(productToken(agent)).toBe('FigTree');
    expect(reader(PROFILE, 'User-agent: figtree', 'Disallow: /').may('/', agent)).toBe(false);
    expect(reader(PROFILE, 'User-agent: robot', 'Disallow: /').may('/', agent)).toBe(true);
  });
});

describe('3.2.2 The Allow and Disallow lines', () => {
  it('"These lines indicate whether accessing a URL that matches the corresponding path is allowed or disallowed."', () => {
    const { file } = reader(PROFILE, 'User-agent: *', 'Allow: /a', 'Disallow: /b');
    expect(file.check('/a', 'x')).toMatchObject({ allowed: true, rule: { directive: 'allow' } });
    expect(file.check('/b', 'x')).toMatchObject({ allowed: false, rule: { directive: 'disallow' } });
  });

  it('"Note that these instructions apply to any HTTP method on a URL."', async () => {
    const server = await site([RULES]);
    const fetchPolitely = guardFetch(fetch, follower(PROFILE).robots);
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      await expect(fetchPolitely(server.url('/private'), { method })).rejects.toMatchObject({
        code: 'ERR_ROBOTS_DISALLOWED',
      });
    }
    expect(server.pageCount).toBe(0);
  });

  // RFC 9309 and Google take the longest match, whatever the order.
  it('"a robot must attempt to match the paths in Allow and Disallow lines against the URL, in the order they occur in the record. The first match found is used."', () => {
    const { file } = reader(
      PROFILE,
      'User-agent: *',
      'Allow: /a',
      'Disallow: /a/b',
      'Disallow: /',
      'Allow: /c',
    );
    expect(file.check('/a/b', 'x')).toMatchObject({ allowed: true, rule: { line: 2 } });
    expect(file.check('/c', 'x')).toMatchObject({ allowed: false, rule: { line: 4 } });
  });

  // RFC 9309 and Google hold the query against the rules too.
  it('"The matching process compares every octet in the path portion of the URL and the path from the record."', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /a', 'Disallow: /b?c');
    expect(excluded(['/a', '/A', '/a?b', '/b?c', '/x?/a'])).toEqual(['/a', '/a?b']);
  });

  it('"If a %xx encoded octet is encountered it is unencoded prior to comparison, unless it is the "/" character, which has special meaning in a path."', () => {
    const { excluded } = reader(PROFILE, 'User-agent: *', 'Disallow: /%61%3d', 'Disallow: /b%2Fc');
    expect(excluded(['/a=', '/%61=', '/a%3D', '/b/c', '/b%2fc'])).toEqual([
      '/a=',
      '/%61=',
      '/a%3D',
      '/b%2fc',
    ]);
  });

  it('"The match evaluates positively if and only if the end of the path from the record is reached before a difference in octets is encountered."', () => {
    expect(
      reader(PROFILE, 'User-agent: *', 'Disallow: /abc').excluded(['/ab', '/abc', '/abcd', '/abd']),
    ).toEqual(['/abc', '/abcd']);
  });

  it.each([
    ['/tmp', '/tmp', 'yes'],
    ['/tmp', '/tmp.html', 'yes'],
    ['/tmp', '/tmp/a.html', 'yes'],
    ['/tmp/', '/tmp', 'no'],
    ['/tmp/', '/tmp/', 'yes'],
    ['/tmp/', '/tmp/a.html', 'yes'],
    ['/a%3cd.html', '/a%3cd.html', 'yes'],
    ['/a%3Cd.html', '/a%3cd.html', 'yes'],
    ['/a%3cd.html', '/a%3Cd.html', 'yes'],
    ['/a%3cd.html', '/a%3cd.html', 'yes'],
    ['/a%2fb.html', '/a%2fb.html', 'yes'],
    ['/a%2fb.html', '/a%2Fb.html', 'yes'],
    ['/a%2fb.html', '/a/b.html', 'no'],
    ['/%7ejoe/index.html', '/~joe/index.html', 'yes'],
    ['/~joe/index.html', '/%7Ejoe/index.html', 'yes'],
  ])(
    '"This table illustrates some examples": record path %s, URL path %s: %s',
    (recordPath, urlPath, matches) => {
      expect(reader(PROFILE, 'User-agent: *', `Disallow: ${recordPath}`).may(urlPath)).toBe(matches === 'no');
    },
  );
});

describe('3.3 File Format Syntax', () => {
  it('"blank = *space CRLF", "commentblank = *commentline blank *(blankcomment)": a line of white space ends a record', () => {
    for (const blank of ['', ' ', '\t \t']) {
      expect(
        reader(PROFILE, 'User-agent: *', 'Disallow: /a', blank, 'Disallow: /b').excluded(['/a', '/b']),
      ).toEqual(['/a']);
    }
  });

  it('"record = *commentline agentline *(commentline | agentline) 1*ruleline *(commentline | ruleline)": comment lines do not end a record', () => {
    const { excluded } = reader(
      PROFILE,
      '# c',
      'User-agent: a',
      '# c',
      'User-agent: b',
      '# c',
      'Disallow: /1',
      '# c',
      'Disallow: /2',
    );
    for (const agent of ['a', 'b']) expect(excluded(['/1', '/2'], agent)).toEqual(['/1', '/2']);
    // The grammar has no agent line behind a rule; there one starts the next record, as in every other system.
    const { may } = reader(PROFILE, 'User-agent: a', 'Disallow: /', 'User-agent: b', 'Allow: /');
    expect([may('/', 'a'), may('/', 'b')]).toEqual([false, true]);
  });

  it('"agentline = "User-agent:" *space agent *space [comment] CRLF": in any case, as RFC 822 has it', () => {
    for (const line of ['User-agent:a', 'USER-AGENT: \t a \t # x', 'user-agent: a']) {
      expect(reader(PROFILE, line, 'DISALLOW: /').may('/', 'a'), line).toBe(false);
    }
  });

  it('"disallowline = "Disallow:" *space path": an empty one is not in the grammar, and says nothing', () => {
    expect(reader(PROFILE, 'User-agent: *', 'Disallow:').may('/')).toBe(true);
  });

  it('"allowline = "Allow:" *space rpath *space [comment] CRLF"', () => {
    expect(reader(PROFILE, 'User-agent: *', 'Allow: \t/a # x', 'Disallow: /').excluded(['/a', '/b'])).toEqual(
      ['/b'],
    );
  });

  it('"token = 1*<any CHAR except CTLs or tspecials>"', () => {
    // Less is read: tokens of RFC 1945 may also hold "!", "+" and the like, which no robot's name is known to do.
    for (const name of ['a.b-c_d', 'x1']) {
      expect(reader(PROFILE, `User-agent: ${name}`, 'Disallow: /').may('/', name)).toBe(false);
    }
    // "/" is a tspecial and ends the name: what follows is a version.
    expect(reader(PROFILE, 'User-agent: FigTree/0.1', 'Disallow: /').may('/', 'figtree')).toBe(false);
  });

  it('"safe = "$" | "-" | "_" | "." | "+"", "extra = "!" | "*" | "\'" | "(" | ")" | ","": characters like others', () => {
    const path = "/$-_.+!*'(),";
    expect(
      reader(PROFILE, 'User-agent: *', `Disallow: ${path}`).excluded([path, `${path}x`, '/-_.+!']),
    ).toEqual([path, `${path}x`]);
    expect(reader(PROFILE, 'User-agent: *', 'Disallow: /a$').excluded(['/a', '/a$', '/a$b'])).toEqual([
      '/a$',
      '/a$b',
    ]);
  });
});

describe('3.4 Expiration', () => {
  it('"Robots should cache /robots.txt files, but if they do they must periodically verify the cached copy is fresh before using its contents."', async () => {
    const headers = { etag: '"1"', expires: 'Thu, 15 Jan 2026 13:00:00 GMT' };
    const server = await site([
      { body: RULES, headers },
      { status: 304 },
      { body: 'User-agent: *\nDisallow: /new' },
    ]);
    const { robots, clock } = follower(PROFILE);
    for (let question = 0; question < 10; question++) await robots.check(server.url(`/${question}`));
    expect(server.robotsCount).toBe(1);
    await clock.advance(HOUR);
    expect(robots.peek(server.url('/private'))).toBeUndefined();
    expect(await robots.canFetch(server.url('/private'))).toBe(false);
    expect(server.requests[1]?.headers['if-none-match']).toBe('"1"');
    await clock.advance(7 * DAY);
    expect(await robots.canFetch(server.url('/private'))).toBe(true);
    expect(server.robotsCount).toBe(3);
  });

  it.each([
    ['max-age=600', 10 * MINUTE],
    ['max-age=172800', 2 * DAY],
  ])(
    '"Standard HTTP cache-control mechanisms can be used by both origin server and robots": %s',
    async (value, forMs) => {
      const server = await site([{ body: RULES, headers: { 'cache-control': value } }]);
      const { robots, clock } = follower(PROFILE);
      const { robots: source } = await robots.check(server.url('/'));
      expect(source.staleAt).toBe(clock.now() + forMs);
    },
  );

  it('"Specifically robots should take note of Expires header set by the origin server."', async () => {
    const { robots, clock } = follower(PROFILE);
    const inThreeDays = new Date(clock.now() + 3 * DAY).toUTCString();
    const date = new Date(clock.now()).toUTCString();
    const server = await site([{ body: RULES, headers: { date, expires: inThreeDays } }]);
    const { robots: source } = await robots.check(server.url('/'));
    expect(source.staleAt).toBe(clock.now() + 3 * DAY);
  });

  // RFC 9309 and Google: 24 hours.
  it('"If no cache-control directives are present robots should default to an expiry of 7 days."', async () => {
    const server = await site([RULES]);
    const { robots, clock } = follower(PROFILE);
    await robots.check(server.url('/'));
    await clock.advance(7 * DAY - 1);
    expect(robots.peek(server.url('/private'))).toMatchObject({ allowed: false });
    await clock.advance(1);
    expect(robots.peek(server.url('/private'))).toBeUndefined();
    await robots.check(server.url('/'));
    expect(server.robotsCount).toBe(2);
  });
});

describe('4.1 Backwards Compatibility', () => {
  it('"If a /robots.txt contains an Allow which overrides a later occurring Disallow, a robot ignoring Allow lines will not retrieve those parts."', () => {
    const lines = ['User-agent: *', 'Allow: /a/b', 'Disallow: /a'];
    expect(reader(PROFILE, ...lines).may('/a/b')).toBe(true);
    expect(reader('robotstxt-1994', ...lines).may('/a/b')).toBe(false);
  });

  it('"no URLs a Web site administrator wants to Disallow are be allowed."', () => {
    const lines = ['User-agent: *', 'Disallow: /a', 'Allow: /a/b', 'Allow: /c', 'Disallow: /c'];
    for (const target of ['/a', '/a/b', '/c', '/d']) {
      // Whatever a robot of 1994 may fetch, one of 1996 may.
      const [old, present] = [reader('robotstxt-1994', ...lines), reader(PROFILE, ...lines)];
      expect(present.may(target) || !old.may(target), target).toBe(true);
    }
  });
});

describe('4.2 Interoperability', () => {
  it('"Web site administrators […] react by putting up pages asking "What are you looking for?"."', async () => {
    const body = '<html>\n<title>What are you looking for?</title>\n<a href="/">Home</a>\n</html>';
    const server = await site([{ body, headers: { 'content-type': 'text/html' } }]);
    expect(await follower(PROFILE).robots.check(server.url('/a'))).toMatchObject({
      allowed: true,
      reason: 'no-group',
    });
  });

  it('"robots should be liberal in accepting files with different end-of-line conventions, specifically CR and LF in addition to CRLF."', () => {
    for (const end of ['\r', '\n', '\r\n']) {
      const { excluded } = readerOf(
        PROFILE,
        ['User-agent: *', 'Disallow: /a', 'Disallow: /b', '', 'Disallow: /c'].join(end),
      );
      expect(excluded(['/a', '/b', '/c'])).toEqual(['/a', '/b']);
    }
  });
});

describe('5. Security Considerations', () => {
  it('"To prevent denial-of-service attacks, robots are therefore encouraged to place limits on the resources spent on processing of /robots.txt."', async () => {
    const endless = await site([{ fault: 'drip', body: RULES.repeat(1_000), everyMs: 5 }]);
    const large = await site([`${RULES}\n${'#'.repeat(600_000)}\nDisallow: /late`]);
    const { robots } = follower(PROFILE, { deadlineMs: LEAST_DEADLINE_MS });
    expect(await robots.check(endless.url('/'))).toMatchObject({
      ...unreachable,
      robots: { error: 'ERR_ROBOTS_DEADLINE' },
    });
    expect(await robots.canFetch(large.url('/private'))).toBe(false);
    expect(await robots.canFetch(large.url('/late'))).toBe(true);
    expect((await robots.policy(large.origin)).file?.sizeBytes).toBeLessThanOrEqual(512_000);
  });
});

/*
 * What a client cannot obey: the media type and the place of the file, and what its paths may give away, are for
 * administrators; the choice of a simple and documented name is for whoever names the robot. Memory and introduction
 * define terms.
 */
