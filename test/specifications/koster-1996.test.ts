import { expect } from 'vitest';
import { guardFetch } from '../../src/index.ts';
import { productToken } from '../../src/core/rules/index.ts';
import {
  allowed,
  DAY,
  disallowed,
  disallowedByRule,
  each,
  failsByNetworkTrouble,
  followsRedirects,
  HOUR,
  keepsTheFileFor,
  LEAST_DEADLINE_MS,
  LINE_ENDS,
  MINUTE,
  readAs,
  readsHalfAMebibyte,
  readsTheFile,
  redirectChain,
  requestsFileFor,
  requestsRobotsFirst,
  robotFor,
  RULES,
  SECOND,
  site,
  testSentences,
  unavailable,
  unreachable,
  visitAs,
  visitWith,
} from './specification.ts';

/**
 * M. Koster, "A Method for Robots Exclusion", draft version 1 of 15 November 1996, with the reply on the mailing list
 * that stands above it. The profile `koster-1996` stands for both.
 */
const PROFILE = 'koster-1996';
const read = readAs.bind(undefined, PROFILE);
const visit = visitAs.bind(undefined, PROFILE);

/** The rows of the table in 3.2.2: record path, URL path, whether they match. */
const MATCHES = [
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
] as const;

testSentences({
  'The reply on the list': {
    '"I suggest that the intention was that no match implies that the agent is allowed."': () =>
      read('User-agent: *\nDisallow: /a\nAllow: /a/b', '+/c@no-rule'),
    '"Otherwise, a terminal "Allow: /" is needed to allow crawling of the whole site […] by default."':
      () => {
        read('User-agent: *\nDisallow: /a', '+/ -/a +/b');
        read('User-agent: *\nDisallow: /a\nAllow: /', '+/ -/a +/b');
      },
  },
  'The letter with the draft': {
    // The 1994 guide, and the draft; RFC 9309 and Google read "*" as a wildcard.
    '"(Like, anyone noticed \'*\' is legal in a URL path? :-)"': () =>
      read('User-agent: *\nDisallow: /a*b', '+/ab +/axb -/a*b -/a*bc'),
  },
  '3. The Specification': {
    '"Robots must retrieve these instructions before visiting other URLs on the site, and use the instructions to determine if other URLs on the site can be accessed."':
      () => requestsRobotsFirst(PROFILE),
  },
  '3.1 Access method': {
    '"The instructions must be accessible via HTTP […] under a standard relative path on the server"': () =>
      requestsFileFor(
        PROFILE,
        ['http://www.foo.com/welcome.html', 'http://www.foo.com/robots.txt'],
        ['http://www.bar.com:8001/', 'http://www.bar.com:8001/robots.txt'],
      ),
    '"If the server response indicates Success (HTTP 2xx Status Code,) the robot must read the content, parse it, and follow any instructions applicable to that robot."':
      () => readsTheFile(PROFILE, [200, 203, 206]),
    '"If the server response indicates the resource does not exist (HTTP Status Code 404), the robot can assume no instructions are available, and that access to the site is unrestricted."':
      () => visit([{ status: 404, body: 'User-agent: *\nDisallow: /' }], ['/private', unavailable]),
    // RFC 9309 and Google open the site on these two.
    '"On server response indicating access restrictions (HTTP Status Code 401 or 403) a robot should regard access to the site completely restricted."':
      () =>
        each([401, 403], async (status) => {
          const restricted = { allowed: false, reason: 'restricted' };
          const { server } = await visit(
            [{ status, body: 'User-agent: *\nAllow: /' }],
            ['/', restricted],
            ['/a', restricted],
            ['/private', restricted],
          );
          expect(server.robotsCount).toBe(1);
        }),
    '"On the request attempt resulted in temporary failure a robot should defer visits to the site until such time as the resource can be retrieved."':
      async () => {
        const failures = [
          ...[500, 503, 429].map((status) => ({ status })),
          ...(['reset', 'hang'] as const).map((fault) => ({ fault })),
        ];
        await each(failures, async (failure) => {
          const visits = [
            ['/', unreachable],
            // No time is so long that it ends the deferral: that came with the Internet draft.
            ['/', unreachable, 400 * DAY],
            ['/', { allowed: true, state: 'rules' }, HOUR],
            ['/private', disallowed],
          ] as const;
          const limits = { deadlineMs: LEAST_DEADLINE_MS };
          const { server } = await visitWith(limits, PROFILE, [failure, failure, RULES], ...visits);
          expect(server.robotsCount).toBe(3);
        });
        await failsByNetworkTrouble(PROFILE);
      },
    'a good copy does not serve meanwhile: visits are deferred': () =>
      visit([RULES, { status: 500 }], ['/', allowed], ['/', unreachable, 7 * DAY]),
    '"On server response indicating Redirection (HTTP Status Code 3XX) a robot should follow the redirects until a resource can be found."':
      async () => {
        // No number is given; RFC 9309 has five. Twenty are followed, and a chain that has to be cut has found nothing.
        await followsRedirects(PROFILE);
        const { robots } = robotFor(PROFILE);
        const found = await robots.check(`${await redirectChain(20)}/private`);
        expect(found).toMatchObject({ ...disallowedByRule, robots: { hops: 20 } });
        expect(await robots.check(await redirectChain(21))).toMatchObject(unreachable);
      },
  },
  '3.2 File Format Description': {
    // The 1994 guide says the same; RFC 9309 and Google read over blank lines.
    '"The format logically consists of a non-empty set or records, separated by blank lines."': () => {
      const records = 'User-agent: a\nDisallow: /1\n\nUser-agent: b\nDisallow: /2\n\nDisallow: /3';
      read(records, 'a: -/1 +/2 +/3', 'b: +/1 -/2 +/3');
      read('User-agent: a\n\nDisallow: /', 'a: +/');
    },
    '"The records consist of a set of lines of the form: <Field> ":" <value>"': () =>
      read('User-agent:a\nDisallow:/x\nDisallow /y', 'a: -/x +/y'),
    '"The record starts with one or more User-agent lines, specifying which robots the record applies to, followed by "Disallow" and "Allow" instructions to that robot."':
      () =>
        read(
          'User-agent: webcrawler\nUser-agent: infoseek\nAllow: /tmp/ok.html\nDisallow: /tmp\nDisallow: /user/foo',
          'webcrawler: +/tmp/ok.html -/tmp -/tmp/a -/user/foo/b +/user/bar',
          'infoseek: +/tmp/ok.html -/tmp -/tmp/a -/user/foo/b +/user/bar',
          'otherbot: +/tmp/ok.html +/tmp +/tmp/a +/user/foo/b +/user/bar',
        ),
    '"Comments are allowed anywhere in the file, and consist of a comment character \'#\' followed by the comment, terminated by the end-of-line."':
      () =>
        read(
          '# a file\nUser-agent: * # all\n# in a record: it is no blank line\nDisallow: /a # here\n  # there\nDisallow: /b#c',
          '-/a -/b -/b#c +/c',
        ),
  },
  '3.2.1 The User-agent line': {
    '"The User-agent line indicates to which specific robots the record applies."': () =>
      read('User-agent: a\nDisallow: /', 'a: -/', 'b: +/'),
    // Wherever "*" stands: its record is for the others.
    '"The line either specifies a simple name for a robot, or "*", indicating this record is the default record for robots for which no explicit User-agent line can be found in any of the records."':
      () => read('User-agent: *\nDisallow: /1\n\nUser-agent: a\nDisallow: /2', 'b: -/1 +/2', 'a: +/1 -/2'),
    '"Robots should use the same name in the User-agent field of a HTTP request, minus version information."':
      async () => {
        const ofExampleBot = [['/a', { allowed: false, agent: 'ExampleBot' }]] as const;
        const file = 'User-agent: ExampleBot\nDisallow: /a';
        const { server } = await visitWith({ agent: 'ExampleBot/2.1' }, PROFILE, [file], ...ofExampleBot);
        expect(server.requests[0]?.headers['user-agent']).toBe('ExampleBot/2.1');
      },
    '"The name comparisons are case-insensitive."': () =>
      read('User-agent: EXAMPLEbot\nDisallow: /', 'exampleBOT: -/'),
    '"User-agent: FigTree/0.1 Robot/1.0 libwww-perl/5.04" "might scan the "/robots.txt" file for records with: User-agent: figtree"':
      () => {
        expect(productToken('FigTree/0.1 Robot/1.0 libwww-perl/5.04')).toBe('FigTree');
        read('User-agent: figtree\nDisallow: /', 'FigTree/0.1 Robot/1.0 libwww-perl/5.04: -/');
        read('User-agent: robot\nDisallow: /', 'FigTree/0.1 Robot/1.0 libwww-perl/5.04: +/');
      },
  },
  '3.2.2 The Allow and Disallow lines': {
    '"These lines indicate whether accessing a URL that matches the corresponding path is allowed or disallowed."':
      () => read('User-agent: *\nAllow: /a\nDisallow: /b', 'x: +/a@2 -/b@3'),
    '"Note that these instructions apply to any HTTP method on a URL."': async () => {
      const server = await site([RULES]);
      const fetchPolitely = guardFetch(fetch, robotFor(PROFILE).robots);
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const refused = fetchPolitely(server.url('/private'), { method });
        await expect(refused, method).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
      }
      expect(server.pageCount).toBe(0);
    },
    // RFC 9309 and Google take the longest match, whatever the order.
    '"a robot must attempt to match the paths in Allow and Disallow lines against the URL, in the order they occur in the record. The first match found is used."':
      () => read('User-agent: *\nAllow: /a\nDisallow: /a/b\nDisallow: /\nAllow: /c', 'x: +/a/b@2 -/c@4'),
    // RFC 9309 and Google hold the query against the rules too.
    '"The matching process compares every octet in the path portion of the URL and the path from the record."':
      () => read('User-agent: *\nDisallow: /a\nDisallow: /b?c', '-/a +/A -/a?b +/b?c +/x?/a'),
    '"If a %xx encoded octet is encountered it is unencoded prior to comparison, unless it is the "/" character, which has special meaning in a path."':
      () => read('User-agent: *\nDisallow: /%61%3d\nDisallow: /b%2Fc', '-/a= -/%61= -/a%3D +/b/c -/b%2fc'),
    '"The match evaluates positively if and only if the end of the path from the record is reached before a difference in octets is encountered."':
      () => read('User-agent: *\nDisallow: /abc', '+/ab -/abc -/abcd +/abd'),
    '"This table illustrates some examples"': () => {
      for (const [recordPath, urlPath, matches] of MATCHES) {
        read(`User-agent: *\nDisallow: ${recordPath}`, `${matches === 'yes' ? '-' : '+'}${urlPath}`);
      }
    },
  },
  '3.3 File Format Syntax': {
    '"blank = *space CRLF", "commentblank = *commentline blank *(blankcomment)": a line of white space ends a record':
      () =>
        each(['', ' ', '\t \t'], (blank) =>
          read(`User-agent: *\nDisallow: /a\n${blank}\nDisallow: /b`, '-/a +/b'),
        ),
    '"record = *commentline agentline *(commentline | agentline) 1*ruleline *(commentline | ruleline)": comment lines do not end a record':
      () => {
        const record = '# c\nUser-agent: a\n# c\nUser-agent: b\n# c\nDisallow: /1\n# c\nDisallow: /2';
        read(record, 'a: -/1 -/2', 'b: -/1 -/2');
        // The grammar has no agent line after a rule; there one starts the next record, as in every other system.
        read('User-agent: a\nDisallow: /\nUser-agent: b\nAllow: /', 'a: -/', 'b: +/');
      },
    '"agentline = "User-agent:" *space agent *space [comment] CRLF": in any case, as RFC 822 has it': () =>
      each(['User-agent:a', 'USER-AGENT: \t a \t # x', 'user-agent: a'], (line) =>
        read(`${line}\nDISALLOW: /`, 'a: -/'),
      ),
    '"disallowline = "Disallow:" *space path": an empty one is not in the grammar, and says nothing': () =>
      read('User-agent: *\nDisallow:', '+/'),
    '"allowline = "Allow:" *space rpath *space [comment] CRLF"': () =>
      read('User-agent: *\nAllow: \t/a # x\nDisallow: /', '+/a -/b'),
    '"token = 1*<any CHAR except CTLs or tspecials>"': () => {
      // Less is read: tokens of RFC 1945 may also hold "!", "+" and the like, which no robot's name is known to do.
      read('User-agent: a.b-c_d\nDisallow: /', 'a.b-c_d: -/');
      read('User-agent: x1\nDisallow: /', 'x1: -/');
      // "/" is a tspecial and ends the name: what follows is a version.
      read('User-agent: FigTree/0.1\nDisallow: /', 'figtree: -/');
    },
    '"safe = "$" | "-" | "_" | "." | "+"", "extra = "!" | "*" | "\'" | "(" | ")" | ","": characters like others':
      () => {
        read("User-agent: *\nDisallow: /$-_.+!*'(),", "-/$-_.+!*'(), -/$-_.+!*'(),x +/-_.+!");
        read('User-agent: *\nDisallow: /a$', '+/a -/a$ -/a$b');
      },
  },
  '3.4 Expiration': {
    '"Robots should cache /robots.txt files, but if they do they must periodically verify the cached copy is fresh before using its contents."':
      async () => {
        const headers = { etag: '"1"', expires: 'Thu, 15 Jan 2026 13:00:00 GMT' };
        const server = await site([
          { body: RULES, headers },
          { status: 304 },
          { body: 'User-agent: *\nDisallow: /new' },
        ]);
        const { robots, clock } = robotFor(PROFILE);
        for (let question = 0; question < 10; question++) await robots.check(server.url(`/${question}`));
        expect(server.robotsCount).toBe(1);
        await clock.advance(HOUR);
        expect(robots.peek(server.url('/private'))).toBeUndefined();
        expect(await robots.canFetch(server.url('/private'))).toBe(false);
        expect(server.requests[1]?.headers['if-none-match']).toBe('"1"');
        await clock.advance(7 * DAY);
        expect(await robots.canFetch(server.url('/private'))).toBe(true);
        expect(server.robotsCount).toBe(3);
      },
    '"Standard HTTP cache-control mechanisms can be used by both origin server and robots"': () =>
      each([10 * MINUTE, 2 * DAY], (ms) =>
        keepsTheFileFor(PROFILE, ms, () => ({ 'cache-control': `max-age=${ms / SECOND}` })),
      ),
    '"Specifically robots should take note of Expires header set by the origin server."': () =>
      keepsTheFileFor(PROFILE, 3 * DAY, (now) => ({
        date: new Date(now).toUTCString(),
        expires: new Date(now + 3 * DAY).toUTCString(),
      })),
    // RFC 9309 and Google: 24 hours.
    '"If no cache-control directives are present robots should default to an expiry of 7 days."': () =>
      keepsTheFileFor(PROFILE, 7 * DAY),
  },
  '4.1 Backwards Compatibility': {
    '"If a /robots.txt contains an Allow which overrides a later occurring Disallow, a robot ignoring Allow lines will not retrieve those parts."':
      () => {
        read('User-agent: *\nAllow: /a/b\nDisallow: /a', '+/a/b');
        readAs('robotstxt-1994', 'User-agent: *\nAllow: /a/b\nDisallow: /a', '-/a/b');
      },
    // A robot of 1996 may fetch all that a robot of 1994 may.
    '"no URLs a Web site administrator wants to Disallow are be allowed."': () => {
      const lines = 'User-agent: *\nDisallow: /a\nAllow: /a/b\nAllow: /c\nDisallow: /c';
      readAs('robotstxt-1994', lines, '-/a -/a/b -/c +/d');
      read(lines, '-/a -/a/b +/c +/d');
    },
  },
  '4.2 Interoperability': {
    '"Web site administrators […] react by putting up pages asking "What are you looking for?"."': () => {
      const body = '<html>\n<title>What are you looking for?</title>\n<a href="/">Home</a>\n</html>';
      const page = { body, headers: { 'content-type': 'text/html' } };
      return visit([page], ['/a', { allowed: true, reason: 'no-group' }]);
    },
    '"robots should be liberal in accepting files with different end-of-line conventions, specifically CR and LF in addition to CRLF."':
      () =>
        each(LINE_ENDS, (end) =>
          read(`User-agent: *${end}Disallow: /a${end}Disallow: /b${end}${end}Disallow: /c`, '-/a -/b +/c'),
        ),
  },
  '5. Security Considerations': {
    '"To prevent denial-of-service attacks, robots are therefore encouraged to place limits on the resources spent on processing of /robots.txt."':
      async () => {
        const deadline = { deadlineMs: LEAST_DEADLINE_MS };
        const endless = { fault: 'drip', body: RULES.repeat(1_000), everyMs: 5 } as const;
        const cut = { ...unreachable, robots: { error: 'ERR_ROBOTS_DEADLINE' } };
        await visitWith(deadline, PROFILE, [endless], ['/', cut]);
        await readsHalfAMebibyte(PROFILE);
      },
  },
});

/*
 * What a client cannot obey: the media type and the place of the file, and what its paths may give away, are for
 * administrators; the choice of a simple and documented name is up to the operator. Memory and introduction
 * define terms.
 */
