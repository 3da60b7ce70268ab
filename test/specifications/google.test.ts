import { expect } from 'vitest';
import { guardFetch, profiles } from '../../src/index.ts';
import { ftpTransport } from '../../src/extras/ftp/ftp.ts';
import type { FakeResponse } from '../../src/extras/testing/index.ts';
import { startFtpSite } from '../support/ftp-site.ts';
import { opened } from '../support/opened.ts';
import { googlePathMatches, googleSituations, type Situation } from '../support/tables.ts';
import {
  allowed,
  DAY,
  DISALLOW_ALL,
  each,
  expired,
  failsByNetworkTrouble,
  followsFiveRedirects,
  HOUR,
  keepsTheFileFor,
  lastGoodAllows,
  lastGoodDisallows,
  LEAST_DEADLINE_MS,
  LINE_ENDS,
  MINUTE,
  opensTheSite,
  readAs,
  readsHalfAMebibyte,
  readsTheFile,
  requestsFileFor,
  requestsOnlyRobotsTxt,
  requestsRobotsFirst,
  robotFor,
  RULES,
  SECOND,
  site,
  type SpecificationTable,
  testSentences,
  unavailable,
  unreachable,
  visitAs,
  visitWith,
  web,
} from './specification.ts';

/**
 * "How Google interprets the robots.txt specification" in two editions: the current one, for which the profile `google`
 * stands, and an older one in Hindi, for which `google-legacy` does. A sentence that both have is one case, which names
 * both and holds for both profiles. Both read files as google/robotstxt does, bit for bit.
 */
type Profile = 'google' | 'google-legacy';
const EDITIONS: readonly Profile[] = ['google', 'google-legacy'];
const read = readAs.bind(undefined, 'google');

const both = (holds: (profile: Profile) => unknown) => () => each(EDITIONS, holds);

async function decidesFor(profile: Profile, file: string, valid: string, others: string): Promise<void> {
  const { robots } = robotFor(profile, web({ [new URL(file).href]: DISALLOW_ALL }).options);
  for (const url of valid.split(' ')) if (url !== '') expect(await robots.canFetch(url), url).toBe(false);
  for (const url of others.split(' ')) expect(await robots.canFetch(url), url).toBe(true);
}

/** The file decides for the URLs `valid`, and for none of `others`. The older edition has http for https. */
function isValidFor(file: string, valid: string, others: string): () => Promise<void> {
  const older = (urls: string): string =>
    urls.replaceAll(/\bhttps?:/g, (scheme) => (scheme === 'http:' ? 'https:' : 'http:'));
  return async () => {
    await decidesFor('google', file, valid, others);
    await decidesFor('google-legacy', older(file), older(valid), older(others));
  };
}

/** Which of the three groups of the page's example an agent follows. Their order is irrelevant. */
function follows(agent: string, group: 1 | 2 | 3): void {
  const groups = ['googlebot-news\ndisallow: /1\n', '*\ndisallow: /2\n', 'googlebot\ndisallow: /3\n'];
  const expected = [1, 2, 3].map((one) => `${one === group ? '-' : '+'}/${one}`).join(' ');
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
    [2, 0, 1],
  ]) {
    read(order.map((at) => `user-agent: ${groups[at]}`).join(''), `${agent}: ${expected}`);
  }
}

/** Rows of the page's table of path matches: the pattern, and what the page says of it. */
function rowsOfTheTable(sentences: readonly string[]): Readonly<Record<string, () => void>> {
  const rows = sentences.map((sentence) => {
    const [pattern = ''] = sentence.split(': ', 1);
    const { matching, others } =
      googlePathMatches.find((row) => row.pattern === pattern) ?? expect.fail(`The table has no ${pattern}`);
    const targets = [...matching.map((target) => `-${target}`), ...others.map((target) => `+${target}`)];
    return [sentence, () => void read(`user-agent: *\ndisallow: ${pattern}`, targets.join(' '))] as const;
  });
  return Object.fromEntries(rows);
}

/** The rule that is "applicable" by the page, in either order of lines. */
function appliesTo({ target, allow, disallow, applicable }: Situation): void {
  const lines = [`allow: ${allow}`, `disallow: ${disallow}`];
  for (const rules of [lines, [...lines].reverse()]) {
    const line = rules.findIndex((rule) => rule.startsWith(applicable)) + 2;
    const sign = applicable === 'allow' ? '+' : '-';
    read(['user-agent: *', ...rules].join('\n'), `Googlebot: ${sign}https://example.com${target}@${line}`);
  }
}

const beginning: SpecificationTable = {
  'How Google interprets the robots.txt specification': {
    '"before crawling a site, Google\'s crawlers download and parse the site\'s robots.txt file to extract information about which parts of the site may be crawled." / "साइट को क्रॉल करने से पहले Google के क्रॉलर, साइट की robots.txt फ़ाइल को डाउनलोड और पार्स करते हैं." (before crawling, the file is downloaded and parsed)':
      both(requestsRobotsFirst),
  },
  'What is a robots.txt file': {
    '"All crawlers are disallowed to crawl files in the "includes" directory […], but Google needs them for rendering, so Googlebot is allowed to crawl them."':
      () => {
        const lines = [
          '# This robots.txt file controls crawling of URLs under https://example.com.',
          '# All crawlers are disallowed to crawl files in the "includes" directory, such',
          '# as .css, .js, but Google needs them for rendering, so Googlebot is allowed',
          '# to crawl them.',
          'User-agent: *\nDisallow: /includes/\n\nUser-agent: Googlebot\nAllow: /includes/\n',
          'Sitemap: https://example.com/sitemap.xml',
        ];
        const url = 'https://example.com/includes/a.css';
        const { sitemaps } = read(lines.join('\n'), `Googlebot: +${url}`, `-${url} +/`);
        expect(sitemaps).toEqual([{ url: 'https://example.com/sitemap.xml', line: 11 }]);
      },
  },
  'File location and range of validity': {
    '"You must place the robots.txt file in the top-level directory of a site, on a supported protocol. The URL for the robots.txt file is (like other URLs) case-sensitive." / "आपको robots.txt फ़ाइल को साइट की टॉप लेवल वाली डायरेक्ट्री में रखना होगा." (in the top-level directory)':
      both((profile) => requestsOnlyRobotsTxt(profile, '/folder/robots.txt', '/Robots.txt')),
    '"the supported protocols are HTTP, HTTPS, and FTP." / "Google Search के साथ ये प्रोटोकॉल काम करते हैं: एचटीटीपी, एचटीटीपीएस, और एफ़टीपी." (HTTP, HTTPS and FTP)':
      both((profile) =>
        requestsFileFor(
          profile,
          ...['http', 'https', 'ftp'].map(
            (scheme) => [`${scheme}://example.com/private`, `${scheme}://example.com/robots.txt`] as const,
          ),
        ),
      ),
    '"On HTTP and HTTPS, crawlers fetch the robots.txt file with an HTTP non-conditional `GET` request" / "क्रॉलर बिना शर्तों वाले एचटीटीपी GET अनुरोध से robots.txt फ़ाइल फ़ेच करते हैं." (an unconditional GET)':
      both(async (profile) => {
        // Also where the server gave validators.
        const headers = { etag: '"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
        const { server } = await visitAs(
          profile,
          [{ body: RULES, headers }],
          ['/', allowed],
          ['/', allowed, DAY],
        );
        expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
        const sent = server.requests.flatMap((request) => Object.keys(request.headers));
        expect(sent.filter((name) => name.startsWith('if-'))).toEqual([]);
      }),
    '"on FTP, crawlers use a standard `RETR (RETRIEVE)` command, using anonymous login." / "एफ़टीपी प्रोटोकॉल पर, क्रॉलर पहचान ज़ाहिर किए बिना लॉग इन करके आम तौर पर इस्तेमाल होने वाले RETR (RETRIEVE) कमांड का इस्तेमाल करते हैं." (on FTP, RETR with an anonymous login)':
      both(async (profile) => {
        const server = opened(await startFtpSite());
        const { robots } = robotFor(profile, { ftp: ftpTransport() });
        expect(await robots.canFetch(`${server.origin}/private`)).toBe(false);
        expect(server.commands).toContain('USER anonymous');
        expect(server.commands.filter((command) => command.startsWith('RETR'))).toEqual(['RETR /robots.txt']);
      }),
    '"The rules listed in the robots.txt file apply only to the host, protocol, and port number where the robots.txt file is hosted." / "robots.txt फ़ाइल में दिए गए नियम सिर्फ़ उन होस्ट, प्रोटोकॉल, और पोर्ट नंबर पर लागू होते हैं जहां robots.txt फ़ाइल होस्ट की गई हो." (only for that host, protocol and port)':
      isValidFor(
        'https://example.com/robots.txt',
        'https://example.com/a',
        'https://example.org/a http://example.com/a ftp://example.com/a https://example.com:8443/a https://example.com:8080/a',
      ),
  },
  'Examples of valid robots.txt URLs / Robots.txt के यूआरएल के उदाहरण: "मान्य यूआरएल" and "अमान्य यूआरएल" (valid and not valid for)':
    {
      '"It\'s valid for all files in all subdirectories on the same host, protocol, and port number."':
        isValidFor(
          'https://example.com/robots.txt',
          'https://example.com/ https://example.com/folder/file',
          'https://other.example.com/ http://example.com/ https://example.com:8181/',
        ),
      'A robots.txt on a subdomain is only valid for that subdomain.': isValidFor(
        'https://www.example.com/robots.txt',
        'https://www.example.com/',
        'https://example.com/ https://shop.www.example.com/ https://www.shop.example.com/',
      ),
      '"Not a valid robots.txt file. Crawlers don\'t check for robots.txt files in subdirectories." / "क्रॉलर, सबडायरेक्ट्री में robots.txt फ़ाइलें नहीं खोजते हैं."':
        isValidFor(
          'https://example.com/folder/robots.txt',
          '',
          'https://example.com/ https://example.com/folder/ https://example.com/folder/file',
        ),
      // Both editions list `https://xn--exmple-cua.com/` as valid, without the "www." that a subdomain's file is only
      // valid for two rows above; the punycode of their own example is this.
      'IDNs are equivalent to their punycode versions.': isValidFor(
        'https://www.exämple.com/robots.txt',
        'https://www.exämple.com/ https://www.xn--exmple-cua.com/',
        'https://www.example.com/ https://xn--exmple-cua.com/',
      ),
      'Valid for: ftp://example.com/': isValidFor(
        'ftp://example.com/robots.txt',
        'ftp://example.com/',
        'https://example.com/',
      ),
      'A robots.txt with an IP-address as the hostname is only valid for crawling of that IP address as the hostname.':
        isValidFor('https://212.96.82.21/robots.txt', 'https://212.96.82.21/', 'https://example.com/'),
      'Standard port numbers (`80` for HTTP, `443` for HTTPS, `21` for FTP) are equivalent to their default hostnames.':
        both((profile) =>
          each(
            [
              ['http', '80', '81'],
              ['https', '443', '444'],
              ['ftp', '21', '2121'],
            ] as const,
            ([scheme, port, other]) => {
              const host = `${scheme}://example.com`;
              return decidesFor(
                profile,
                `${host}:${port}/robots.txt`,
                `${host}:${port}/ ${host}/`,
                `${host}:${other}/`,
              );
            },
          ),
        ),
      'Robots.txt files on non-standard port numbers are only valid for content made available through those port numbers.':
        isValidFor(
          'https://example.com:8181/robots.txt',
          'https://example.com:8181/',
          'https://example.com/',
        ),
    },
};

/** A failing file is requested again, at growing pauses of an hour at most, until it is there. */
const keepsTrying = async (profile: Profile): Promise<void> => {
  const server = await site([...Array.from({ length: 10 }, (): FakeResponse => ({ status: 503 })), RULES]);
  const { robots, clock } = robotFor(profile);
  const pauses: number[] = [];
  let decision = await robots.check(server.url('/'));
  while (decision.reason === 'unreachable') {
    const pause = (decision.retryAt ?? 0) - clock.now();
    pauses.push(pause);
    await clock.advance(pause);
    decision = await robots.check(server.url('/'));
  }
  expect(decision).toMatchObject({ allowed: true, state: 'rules' });
  expect(server.robotsCount).toBe(11);
  expect(pauses[0]).toBe(30 * SECOND);
  expect(Math.max(...pauses)).toBe(HOUR);
};

const responses: SpecificationTable = {
  'Handling of errors and HTTP status codes': {
    '"HTTP status codes that signal success prompt Google\'s crawlers to process the robots.txt file as provided by the server." / "कार्रवाई सफल होने का सिग्नल देने वाला एचटीटीपी स्टेटस कोड, Google के क्रॉलर को, सर्वर से उपलब्ध कराई गई robots.txt फ़ाइल को प्रोसेस करने का सिग्नल देता है." (2xx: the file is processed)':
      both((profile) => readsTheFile(profile, [200, 203, 206])),
    '"Google follows at least five redirect hops […] and then stops and treats it as a `404` for the robots.txt file." / "कम से कम पांच बार रीडायरेक्ट होकर आगे बढ़ने का तरीका अपनाता है. इसके बाद, वह रुकता है और इसे robots.txt फ़ाइल के लिए 404 मानकर इसका इस्तेमाल करता है." (five redirects, then a 404)':
      both(followsFiveRedirects),
    '"This also applies to any disallowed URLs in the redirect chain, since the crawler couldn\'t fetch rules due to the redirects." / "यह तरीका, रीडायरेक्ट चेन के किसी ऐसे यूआरएल पर भी लागू होता है जिसे क्रॉल करने की अनुमति न हो." (also for disallowed URLs in the chain)':
      both(async (profile) => {
        const other = await site(['User-agent: *\nDisallow: /files'], { '/files/robots': RULES });
        const server = await site([{ redirect: other.url('/files/robots') }]);
        const { robots } = robotFor(profile);
        await robots.check(other.url('/'));
        expect(await robots.check(server.url('/private'))).toMatchObject(unavailable);
        expect(other.count('/files/robots')).toBe(0);
      }),
    '"Google doesn\'t follow logical redirects in robots.txt files (frames, JavaScript, or meta refresh-type redirects)." / "Google, robots.txt फ़ाइलों में लॉजिकल रीडायरेक्ट के मुताबिक काम नहीं करता (फ़्रेम, JavaScript या मेटा रीफ़्रेश-टाइप रीडायरेक्ट)." (no logical redirects)':
      both(async (profile) => {
        const other = await site([RULES]);
        const target = other.url('/robots.txt');
        const headers = { 'content-type': 'text/html', refresh: `0; url=${target}` };
        const pages = [
          `<meta http-equiv="refresh" content="0; url=${target}">`,
          `<script>location = ${JSON.stringify(target)}</script>`,
          `<frameset><frame src="${target}"></frameset>`,
        ];
        const open = { allowed: true, reason: 'no-group' };
        for (const body of pages) await visitAs(profile, [{ body, headers }], ['/private', open]);
        expect(other.requests).toEqual([]);
      }),
    // What 429 means the current edition leaves unsaid; it is no 404, so it is taken for a server error.
    '"Google\'s crawlers treat all `4xx` errors, except `429`, as if a valid robots.txt file didn\'t exist. This means that Google assumes that there are no crawl restrictions."':
      async () => {
        await opensTheSite('google', [400, 401, 403, 404, 410, 418, 451, 499]);
        await visitAs('google', [{ status: 429 }], ['/', unreachable]);
      },
    // Unlike the current edition, which excepts 429.
    '"4xx गड़बड़ियां मिलने पर, Google के क्रॉलर यह मानते हैं कि मान्य robots.txt फ़ाइल मौजूद नहीं है. इसका मतलब है कि वे बिना किसी पाबंदी के क्रॉल कर सकते हैं." (on 4xx there is no file: no restrictions)':
      () => opensTheSite('google-legacy', [400, 401, 403, 404, 410, 418, 429, 451, 499]),
    '"The `4xx` status codes, except `429`, have no effect on crawl rate."': async () => {
      const headers = { 'retry-after': '60' };
      const pages = Object.entries({ '/gone': 410, '/closed': 403, '/busy': 429 });
      const server = await site(
        [RULES],
        Object.fromEntries(pages.map(([path, status]) => [path, { status, headers }])),
      );
      const { robots, clock } = robotFor('google');
      const fetchSlowly = guardFetch(fetch, robots, {
        pacing: { defaultDelayMs: 0, maxDelayMs: 30 * SECOND },
      });
      for (const [path] of pages) await fetchSlowly(server.url(path));
      await expect(fetchSlowly(server.url('/'))).rejects.toMatchObject({
        code: 'ERR_ROBOTS_DEFERRED',
        retryAt: clock.now() + 60 * SECOND,
      });
      expect(server.pageCount).toBe(3);
    },
    // Also with a good copy at hand.
    '"1. For the first 12 hours, Google stops crawling the site but keeps trying to fetch the robots.txt file."':
      async () => {
        const { server } = await visitAs(
          'google',
          [RULES, { status: 500 }],
          ['/', allowed],
          ['/', unreachable, DAY],
          ['/', unreachable, 12 * HOUR - 1],
        );
        expect(server.robotsCount).toBeGreaterThan(2);
      },
    // Counted from the first failure: the page does not say whether its 30 days begin with the 12 hours or after.
    '"2. If Google can\'t fetch a new version, for the next 30 days Google will use the last good version, while still trying to fetch a new version."':
      async () => {
        const { server } = await visitAs(
          'google',
          [RULES, { status: 500 }],
          ['/', allowed],
          ['/', unreachable, DAY],
          ['/', lastGoodAllows, 12 * HOUR],
          ['/private', lastGoodDisallows],
          ['/', lastGoodAllows, 29.5 * DAY - 1],
          ['/private', lastGoodDisallows],
        );
        expect(server.robotsCount).toBe(4);
      },
    // RFC 9309 §2.3.1.4 says otherwise: "the crawler MUST assume complete disallow".
    '"If there\'s no cached version available Google assumes there\'s no crawl restrictions."': () =>
      visitAs('google', [{ status: 500 }], ['/private', unreachable], ['/private', expired, 12 * HOUR]),
    '"If the site is generally available to Google, Google will behave as if there is no robots.txt file (but still keep checking for a new version)." / "If the site has general availability problems, Google will stop crawling the site, while still periodically requesting a robots.txt file."':
      () =>
        each([true, false], async (reachable) => {
          const visits = [
            ['/', allowed],
            ['/', unreachable, DAY],
          ] as const;
          const { server, robots, clock } = await visitAs('google', [RULES, { status: 500 }], ...visits);
          await clock.advance(30 * DAY);
          robots.report(server.url('/page'), { reachable });
          expect(await robots.check(server.url('/private'))).toMatchObject(reachable ? expired : unreachable);
          const before = server.robotsCount;
          await clock.advance(HOUR);
          expect(await robots.check(server.url('/private'))).toMatchObject(reachable ? expired : unreachable);
          expect(server.robotsCount).toBe(before + 1);
        }),
    // For all of the 30 days, even with a copy: in the current edition the copy serves after 12 hours.
    '"Google, सर्वर की गड़बड़ियों को कुछ समय के लिए ऐसे देखता है, जैसे कि पूरी साइट के लिए अनुमति न मिली हो." (server errors disallow the whole site for some time)':
      async () => {
        await each([500, 502, 503, 599], (status) =>
          visitAs(
            'google-legacy',
            [{ status, body: 'User-agent: *\nAllow: /' }],
            ['/', unreachable],
            ['/a', unreachable],
          ),
        );
        await visitAs(
          'google-legacy',
          [RULES, { status: 500 }],
          ['/', allowed],
          ['/', unreachable, DAY],
          ['/', unreachable, 12 * HOUR],
          ['/', unreachable, 29 * DAY],
        );
      },
    '"अगर robots.txt फ़ाइल को 30 से ज़्यादा दिनों से ऐक्सेस नहीं किया जा सका है, तो Google पिछली बार कैश की गई मेमोरी का इस्तेमाल करता है." (after 30 days the last cached copy is used)':
      () =>
        visitAs(
          'google-legacy',
          [RULES, { status: 500 }],
          ['/', allowed],
          ['/', unreachable, DAY],
          ['/', unreachable, 30 * DAY - 1],
          ['/', lastGoodAllows, 1],
          ['/private', lastGoodDisallows],
        ),
    '"अगर robots.txt की पिछली कॉपी उपलब्ध नहीं है, तो Google यह मानकर चलता है कि क्रॉल करने की कोई पाबंदी नहीं है." (without a copy: no restrictions)':
      async () => {
        const { robots, server } = await visitAs(
          'google-legacy',
          [{ status: 500 }],
          ['/', unreachable],
          ['/private', unreachable, 30 * DAY - 1],
          ['/private', expired, 1],
        );
        // Whether the site is reachable otherwise plays no part: that test came with the current edition.
        robots.report(server.url('/'), { reachable: false });
        expect(await robots.check(server.url('/private'))).toMatchObject(expired);
      },
    // "We know" is the caller's to say, for one site: no body is read for what it looks like.
    '"अगर हमें यह पता चलता है कि किसी साइट को 404 स्टेटस कोड की जगह 5xx दिखाने के लिए गलत तरीके से कॉन्फ़िगर किया गया है, तो हम उस साइट की 5xx गड़बड़ी को 404 के रूप में देखते हैं." (where a site is known to say 5xx for 404, its 5xx is a 404)':
      async () => {
        const [wrong, other] = [
          await site([{ status: 500, body: 'पेज नहीं मिला' }]),
          await site([{ status: 500, body: 'पेज नहीं मिला' }]),
        ];
        const profile = {
          ...profiles['google-legacy'],
          name: 'says-5xx',
          status: { '5xx': 'unavailable' },
        } as const;
        const { robots } = robotFor('google-legacy', { overrides: { [wrong.origin]: { profile } } });
        expect(await robots.check(wrong.url('/'))).toMatchObject(unavailable);
        expect(await robots.check(other.url('/'))).toMatchObject(unreachable);
      },
    '"Google, robots.txt फ़ाइल को क्रॉल करने की कोशिश तब तक करता रहता है, जब तक उसे बिना किसी सर्वर की गड़बड़ी वाला एचटीटीपी स्टेटस कोड नहीं मिल जाता." (it keeps trying until there is no server error) / "A `503 (service unavailable)` error results in fairly frequent retrying." / "503 (service unavailable) गड़बड़ी की वजह से कई बार कोशिश करनी पड़ती है." (503 is tried again often)':
      both(keepsTrying),
    '"A robots.txt file which cannot be fetched due to DNS or networking issues, such as timeouts, invalid responses, reset or interrupted connections, and HTTP chunking errors, is treated as a server error." / "अगर डीएनएस या नेटवर्क से जुड़ी समस्याओं की वजह से robots.txt फ़ाइल फ़ेच नहीं हो पाती है, तो इसे सर्वर की गड़बड़ी माना जाता है." (DNS and network trouble is a server error)':
      both(failsByNetworkTrouble),
  },
  Caching: {
    '"Google generally caches the contents of robots.txt file for up to 24 hours" / "Google आम तौर पर robots.txt फ़ाइल के कॉन्टेंट को 24 घंटों तक कैश मेमोरी में रखता है." (24 hours)':
      both((profile) => keepsTheFileFor(profile, DAY)),
    // In the first hours of an outage the section on server errors has the word.
    '"but may cache it longer in situations where refreshing the cached version isn\'t possible (for example, due to timeouts or `5xx` errors)." / "ऐसी स्थितियों में इसे ज़्यादा समय के लिए रखा जा सकता है जब कैश मेमोरी में मौजूद वर्शन को रीफ़्रेश करना मुमकिन न हो." (longer where it cannot be refreshed)':
      both((profile) =>
        each([{ status: 500 }, { fault: 'hang' }] as const, (failure) =>
          visitWith(
            { deadlineMs: LEAST_DEADLINE_MS },
            profile,
            [RULES, failure],
            ['/', allowed],
            ['/', unreachable, DAY],
            ['/private', lastGoodDisallows, profile === 'google' ? 12 * HOUR : 30 * DAY],
          ),
        ),
      ),
    '"The cached response may be shared by different crawlers." / "कैश मेमोरी में रखे गए रिस्पॉन्स को कई क्रॉलर शेयर कर सकते हैं." (shared by several crawlers)':
      both(async (profile) => {
        const server = await site([
          'User-agent: Googlebot-News\nDisallow: /news\nUser-agent: *\nDisallow: /web',
        ]);
        const { robots } = robotFor(profile);
        const ask = (path: string, agent: string): Promise<boolean> =>
          robots.canFetch(server.url(path), agent);
        const news = [ask('/news', 'Googlebot-News'), ask('/web', 'Googlebot-News')];
        const others = [ask('/news', 'Googlebot'), ask('/web', 'Storebot-Google')];
        expect(await Promise.all([...news, ...others])).toEqual([false, true, true, false]);
        expect(server.robotsCount).toBe(1);
      }),
    '"Google may increase or decrease the cache lifetime based on max-age Cache-Control HTTP headers." / "मैक्स-एज कैश कंट्रोल वाले एचटीटीपी हेडर के आधार पर Google, कॉन्टेंट के कैश में बने रहने का समय घटा या बढ़ा सकता है." (max-age may shorten or lengthen it)':
      both((profile) =>
        // No origin is asked before every page, and no copy outlives the day that RFC 9309 §2.4 gives it.
        each(
          [
            [HOUR, HOUR],
            [DAY, DAY],
            [0, 10 * MINUTE],
            [30 * DAY, DAY],
          ] as const,
          ([maxAgeMs, ms]) =>
            keepsTheFileFor(profile, ms, () => ({ 'cache-control': `max-age=${maxAgeMs / SECOND}` })),
        ),
      ),
  },
};

const reading: SpecificationTable = {
  'File format': {
    '"The robots.txt file must be a UTF-8 encoded plain text file and the lines must be separated by `CR`, `CR/LF`, or `LF`." / "robots.txt फ़ाइल, UTF-8 एन्कोडिंग वाली सादी टेक्स्ट फ़ाइल होनी चाहिए और इसकी हर लाइन CR, CR/LF या LF से अलग की गई होनी चाहिए." (UTF-8; CR, CR/LF or LF)':
      () =>
        each(LINE_ENDS, (end) =>
          read(`user-agent: *${end}disallow: /a${end}disallow: /ツ`, '-/%E3%83%84 -/a@2'),
        ),
    '"Google ignores invalid lines in robots.txt files, including the Unicode Byte Order Mark (BOM) at the beginning of the robots.txt file, and use only valid lines. For example, if the content downloaded is HTML instead of robots.txt rules, Google will try to parse the content and extract rules, and ignore everything else." / "Google, robots.txt फ़ाइलों में अमान्य लाइनों को अनदेखा करता है और सिर्फ़ मान्य लाइनें इस्तेमाल करता है." (invalid lines are ignored; the BOM; HTML)':
      () => {
        read('\ufeffuser-agent: *\nnonsense\n=\ndisallow: /a\n\x00\u0001\ndisallow: /b', '-/a -/b +/c');
        const mark = Buffer.from('\ufeffuser-agent: *\nnonsense\n=\ndisallow: /a\n\x00\u0001\ndisallow: /b');
        read(mark, '-/a -/b +/c');
        read(
          '<!DOCTYPE html>\n<html><body>\n<pre>\nuser-agent: *\ndisallow: /a\n</pre>\n</body></html>',
          '-/a +/b',
        );
      },
    // A rule in Latin-1 may catch nothing; those around it stand.
    '"if the character encoding of the robots.txt file isn\'t UTF-8, Google may ignore characters that are not part of the UTF-8 range, potentially rendering robots.txt rules invalid." / "अगर robots.txt फ़ाइल की कैरेक्टर एन्कोडिंग UTF-8 नहीं है, तो Google उन वर्णों को अनदेखा कर सकता है जो UTF-8 रेंज का हिस्सा नहीं हैं." (characters that are not UTF-8 may be ignored)':
      () =>
        read(
          Buffer.from('user-agent: *\ndisallow: /a\ndisallow: /é\ndisallow: /b', 'latin1'),
          '-/a +/%C3%A9 -/b',
        ),
    // "कॉन्टेंट के लिए तय साइज़ से बड़ी फ़ाइल को अनदेखा किया जाता है" can be read as "a file larger than the size is
    // ignored"; the current edition says that the content after the size is, and so it is read here: a file that was
    // ignored as a whole would open the site.
    '"Google enforces a robots.txt file size limit of 500 kibibytes (KiB). Content which is after the maximum file size is ignored." / "Google ने robots.txt फ़ाइल की सीमा 500 किबीबाइट (केआईबी) तय की है." (a limit of 500 KiB)':
      both(readsHalfAMebibyte),
  },
  Syntax: {
    '"Valid robots.txt lines consists of a field, a colon, and a value. Spaces are optional […]. Space at the beginning and at the end of the line is ignored. […] everything after the `#` character will be ignored." / "मान्य robots.txt फ़ाइल की लाइनों में, एक फ़ील्ड, एक कोलन, और एक वैल्यू होती है. खाली जगहें ज़रूरी नहीं हैं." (field, colon, value; spaces are optional; comments)':
      () => {
        for (const line of [
          'disallow:/a',
          'disallow: /a',
          '  disallow :  /a\t ',
          'disallow: /a# why',
          'disallow:/a # x # y',
        ]) {
          read(`user-agent:*\n# a comment\n${line}`, '-/a +/b');
        }
        read('user-agent: *\n#disallow: /a', '+/a');
      },
    '"Google supports the following fields": user-agent, allow, disallow, sitemap / "Google पर ये फ़ील्ड काम करते हैं" (user-agent, allow, disallow, sitemap)':
      () => {
        const file = read('user-agent: a\nallow: /b\ndisallow: /c\nsitemap: https://example.com/sitemap.xml');
        expect(file.groups).toMatchObject([
          {
            agentLines: [{ names: ['a'] }],
            rules: [
              { directive: 'allow', pattern: '/b', line: 2 },
              { directive: 'disallow', pattern: '/c', line: 3 },
            ],
          },
        ]);
        expect(file.sitemaps).toEqual([{ url: 'https://example.com/sitemap.xml', line: 4 }]);
      },
    // The field is still reported, and decides nothing.
    '"(other fields such as `crawl-delay` aren\'t supported)"': () => {
      const lines = 'user-agent: a\ncrawl-delay: 3600\nnoindex: /x\nuser-agent: b\ndisallow: /y';
      expect(read(lines, 'a: +/x -/y', 'b: -/y').crawlDelay('a')).toBe(3_600_000);
    },
    // The older edition says "paths without a directive are ignored", the wrong way round; the same section has it
    // right above. Unlike a line that is none of the two, such a rule ends a run of user-agent lines.
    '"These rules are always specified in the form of `rule: [path]` where `[path]` is optional. […] Crawlers ignore rules without a `[path]`." / "क्रॉलर, बिना [path] वाले डायरेक्टिव को अनदेखा करते हैं." (directives without a path are ignored) / "Crawlers ignore the rule without a path." / "क्रॉलर, बिना डायरेक्टिव वाले पाथ को अनदेखा कर देते हैं." (a directive without a path is ignored)':
      () => {
        read('user-agent: *\ndisallow:', '+/');
        read('user-agent: *\nallow:\ndisallow: /', '-/');
        read('user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /', 'a: +/');
      },
    '"By default, there are no restrictions for crawling for the designated crawlers." / "डिफ़ॉल्ट रूप से, तय किए गए क्रॉलर के लिए क्रॉल करने पर कोई प्रतिबंध नहीं है." (no restrictions by default)':
      () =>
        read(
          'user-agent: a\ndisallow: /x\nuser-agent: b',
          'a: +/y@no-rule',
          'b: +/x@no-rule',
          'c: +/x@no-group',
        ),
    '"The `[path]` value, if specified, is relative to the root of the website […]. The path value must start with `/` to designate the root and the value is case-sensitive." / "रूट तय करने के लिए पाथ की वैल्यू / से शुरू होनी चाहिए और यह वैल्यू केस-सेंसिटिव होती है." (paths start with / and are case-sensitive)':
      () => {
        read('user-agent: *\ndisallow: /a\ndisallow: c', '-/a +/A +/b/a +/c +/');
        read('user-agent: *\ndisallow: https://example.com/a', '+/a +/A +/b/a +/c +/');
      },
    '"The value of the `user-agent` line is case-insensitive." / "user-agent लाइन की वैल्यू केस-इनसेंसिटिव होती है." (user-agent is case-insensitive)':
      () => read('user-agent: GoogleBOT\ndisallow: /', 'Googlebot: -/', 'googlebot: -/', 'otherbot: +/'),
    '"The `disallow` rule specifies paths that must not be accessed by the crawlers identified by the `user-agent` line the `disallow` rule is grouped with." / "disallow डायरेक्टिव उन पाथ के बारे में बताता है जिन्हें क्रॉलर को ऐक्सेस नहीं करना चाहिए." (disallow: paths not to be accessed) / "कौनसे क्रॉलर आपकी साइट के किन हिस्सों को क्रॉल कर सकते हैं." (which crawlers may crawl which parts)':
      () => read('user-agent: a\ndisallow: /x\nuser-agent: b\ndisallow: /y', 'a: -/x +/y', 'b: +/x -/y'),
    '"The value of the `disallow` rule is case-sensitive." / "disallow डायरेक्टिव की वैल्यू केस-सेंसिटिव होती है." (disallow is case-sensitive)':
      () => read('user-agent: *\ndisallow: /Fish', '-/Fish +/fish'),
    '"The `allow` rule specifies paths that may be accessed by the designated crawlers. When no path is specified, the rule is ignored." / "allow डायरेक्टिव ऐसे पाथ के बारे में बताता है जिन्हें तय क्रॉलर ऐक्सेस कर सकते हैं. जब कोई पाथ न बताया गया हो, तो डायरेक्टिव को अनदेखा कर दिया जाता है." (allow: paths that may be accessed; ignored without one)':
      () => {
        read('user-agent: *\ndisallow: /\nuser-agent: a\ndisallow: /\nallow: /x', 'a: +/x -/y', 'b: -/x');
        read('user-agent: *\nallow:\ndisallow: /', '-/');
      },
    '"The value of the `allow` rule is case-sensitive." / "allow डायरेक्टिव की वैल्यू केस-सेंसिटिव होती है." (allow is case-sensitive)':
      () => read('user-agent: *\ndisallow: /\nallow: /Fish', '+/Fish -/fish'),
    '"The value of the `sitemap` field is case-sensitive." "doesn\'t have to be URL-encoded. The URL doesn\'t have to be on the same host as the robots.txt file. You can specify multiple `sitemap` fields. The sitemap field isn\'t tied to any specific user agent" / "sitemap फ़ील्ड की वैल्यू केस-सेंसिटिव होती है." "एक से ज़्यादा sitemap फ़ील्ड तय किए जा सकते हैं. साइटमैप फ़ील्ड, किसी खास उपयोगकर्ता एजेंट से नहीं जुड़ा होता है." (sitemap: case-sensitive, several, of any host, tied to no agent)':
      () => {
        const urls = [
          'https://example.com/sitemap.xml',
          'https://cdn.example.org/other-sitemap.xml',
          'https://ja.example.org/テスト-サイトマップ.xml',
          'https://example.com/SiteMap.XML?A=b',
        ];
        const lines = urls.map((url) => `sitemap: ${url}`).join('\n');
        const { sitemaps } = read(`user-agent: otherbot\ndisallow: /kale\n\n${lines}`);
        expect(sitemaps).toEqual(urls.map((url, at) => ({ url, line: at + 4 })));
        const url = 'https://example.com/SiteMap.XML?A=b';
        expect(read(`Sitemap: ${url}`).sitemaps).toEqual([{ url, line: 1 }]);
      },
    '"may be followed by all crawlers, provided it isn\'t disallowed for crawling." / "हालांकि, अगर इसे क्रॉल करने पर रोक लगी है, तो वे इसे क्रॉल नहीं कर पाएंगे." (where a sitemap is disallowed it cannot be crawled)':
      both(async (profile) => {
        const server = await site(['user-agent: *\ndisallow: /maps/\nsitemap: /maps/1.xml\nsitemap: /2.xml']);
        const { robots } = robotFor(profile);
        const { sitemaps } = await robots.policy(server.origin);
        const may = sitemaps.map(({ url }) => robots.canFetch(new URL(url, server.origin)));
        expect(await Promise.all(may)).toEqual([false, true]);
      }),
  },
  'Grouping of lines and rules': {
    '"You can group together rules that apply to multiple user agents by repeating `user-agent` lines for each crawler." "In this example there are four distinct rule groups" / "आप हर क्रॉलर के लिए user-agent लाइनें दोहराकर, एक से ज़्यादा उपयोगकर्ता एजेंट पर लागू होने वाले नियमों को एक ही ग्रुप में रख सकते हैं." "इस उदाहरण में नियमों के चार अलग-अलग ग्रुप दिए गए हैं" (user-agent lines are repeated; four groups)':
      () => {
        const file = read(
          'user-agent: a\ndisallow: /c\n\nuser-agent: b\ndisallow: /d\n\nuser-agent: e\nuser-agent: f\ndisallow: /g\n\nuser-agent: h',
          'a: -/c +/d +/g',
          'b: +/c -/d +/g',
          'e: +/c +/d -/g',
          'f: +/c +/d -/g',
          'h: +/c +/d +/g',
        );
        const names = file.groups.map(({ agentLines }) => agentLines.flatMap((line) => line.names));
        expect(names).toEqual([['a'], ['b'], ['e', 'f'], ['h']]);
      },
  },
  'Order of precedence for user agents': {
    '"Google\'s crawlers determine the correct group of rules by finding in the robots.txt file the group with the most specific user agent that matches the crawler\'s user agent. Other groups are ignored." "The order of the groups within the robots.txt file is irrelevant." / "हर क्रॉलर के लिए सिर्फ़ एक ग्रुप मान्य होता है." "robots.txt फ़ाइल में, ग्रुप किस क्रम में शामिल किए गए हैं, इसका क्रॉलिंग पर कोई असर नहीं पड़ता है." (one group for each; their order does not matter)':
      () => {
        follows('googlebot-news', 1);
        follows('googlebot', 3);
      },
    '"All non-matching text is ignored (for example, both `googlebot/1.2` and `googlebot*` are equivalent to `googlebot`)." / "मेल न खाने वाले हर टेक्स्ट को भी अनदेखा कर दिया जाता है. जैसे कि googlebot/1.2 और googlebot*, दोनों googlebot की तरह ही काम करते हैं." (non-matching text is ignored)':
      () =>
        each(['googlebot/1.2', 'googlebot*'], (value) =>
          read(`user-agent: ${value}\ndisallow: /`, 'googlebot: -/', 'googlebot-news: +/'),
        ),
    '"all the rules from the groups applicable to the specific user agent are combined internally into a single group. User agent specific groups and global groups (`*`) are not combined." / "उपयोगकर्ता एजेंट के खास ग्रुप और ग्लोबल ग्रुप (*) के नियमों को मिलाया नहीं जाता है." (groups of one agent are combined, never with *) / "If there are multiple groups in a robots.txt file that are relevant to a specific user agent, Google\'s crawlers internally merge the groups." / "Google के क्रॉलर उन सभी ग्रुप को अंदरूनी तौर पर मर्ज कर देते हैं." (groups are merged)':
      () => {
        const news = 'user-agent: googlebot-news\ndisallow:';
        const file = read(
          `${news} /fish\n\nuser-agent: *\ndisallow: /carrots\n\n${news} /shrimp`,
          'googlebot-news: -/fish +/carrots -/shrimp',
          'otherbot: +/fish -/carrots +/shrimp',
        );
        expect(file.check('/shrimp', 'googlebot-news')).toMatchObject({ group: { lines: [1, 7] } });
      },
    // A sitemap line between two user-agent lines does not part them.
    '"Rules other than `allow`, `disallow`, and `user-agent` are ignored by the robots.txt parser. […] thus both `user-agent` `a` and `b` are affected by the `disallow: /` rule" / "allow, disallow, और user-agent के अलावा, दूसरे नियमों को robots.txt पार्सर अनदेखा कर देता है." (other lines are ignored)':
      () => {
        const affected = ['a: -/', 'b: -/', 'c: +/'];
        read(
          'user-agent: a\nsitemap: https://example.com/sitemap.xml\n\nuser-agent: b\ndisallow: /',
          ...affected,
        );
        read('user-agent: a\nuser-agent: b\ndisallow: /', ...affected);
      },
    '`googlebot-news` follows group 1, because group 1 is the most specific group. / googlebot-news, ग्रुप 1 को फ़ॉलो करता है':
      () => follows('googlebot-news', 1),
    '`googlebot` follows group 3. / googlebot, ग्रुप 3 को फ़ॉलो करता है.': () => follows('googlebot', 3),
    '`Storebot-Google` follows group 2, because there is no specific `Storebot-Google` group.': () =>
      follows('Storebot-Google', 2),
    // In the current edition this row is about Storebot-Google.
    'googlebot-images, ग्रुप 2 को फ़ॉलो करता है, क्योंकि googlebot-images के लिए कोई खास ग्रुप नहीं बनाया गया है.': () =>
      follows('googlebot-images', 2),
    'When crawling images, `googlebot-news` follows group 1. / इमेज क्रॉल करते समय googlebot-news, ग्रुप 1 को फ़ॉलो करता है.':
      () => follows('Googlebot-News', 1),
    'Other Google crawlers follow group 2. / अन्य Google क्रॉलर, ग्रुप 2 को फ़ॉलो करते हैं.': () =>
      follows('Otherbot', 2),
    '"Even if there is an entry for a related crawler, it is only valid if it\'s specifically matching." / किसी मिलते-जुलते क्रॉलर के लिए कोई एंट्री होने पर, यह सिर्फ़ तब ही मान्य होगा, जब यह खास तौर पर मेल खाता हो.':
      () => follows('Googlebot-Image', 2),
  },
  'URL matching based on path values': {
    // The path, with parameters and query; neither host nor fragment.
    '"This works by comparing the rule to the path component of the URL that the crawler is trying to fetch." / "इसके लिए, नियम की तुलना यूआरएल के उस पाथ कॉम्पोनेंट से की जाती है जिसे क्रॉलर फ़ेच करने की कोशिश कर रहा हो." (the rule is compared to the path of the URL)':
      () =>
        read(
          'user-agent: *\ndisallow: /fish\ndisallow: /a?b=c',
          '-https://example.com/fish#/a -https://example.com/a?b=c&d +https://fish.example/a#/fish',
        ),
    '"Non-7-bit ASCII characters in a path may be included as UTF-8 characters or as percent-escaped UTF-8 encoded characters" / "गैर 7-बिट ASCII वर्णों को UTF-8 वर्णों के रूप में शामिल किया जा सकता है." (non-ASCII as UTF-8 or escaped)':
      () =>
        each(['/サ', '/%E3%82%B5', '/%e3%82%b5'], (path) =>
          read(`user-agent: *\ndisallow: ${path}`, `-${new URL('https://example.com/サ/x').href} +/x`),
        ),
    '"`*` designates 0 or more instances of any valid character." "`$` designates the end of the URL." / "* किसी भी मान्य वर्ण के 0 या उससे ज़्यादा इंस्टेंस बताता है." "$ यूआरएल का आखिरी हिस्सा बताता है." (* any characters, $ the end)':
      () => read('user-agent: *\ndisallow: /a*c\ndisallow: /d$', '-/ac -/abc -/ab/c? +/ab -/d +/d/ +/d?'),
    ...rowsOfTheTable([
      '/: "Matches the root and any lower level URL." / "रूट और किसी भी निचले स्तर के यूआरएल से मेल खाता है."',
      '/*: "Equivalent to `/`. The trailing wildcard is ignored." / "/ की तरह ही काम करता है. आखिर में लगे हुए वाइल्डकार्ड को अनदेखा कर दिया जाता है."',
      '/$: "Matches only the root. Any lower level URL is allowed for crawling." / "सिर्फ़ रूट से मेल खाता है."',
      '/fish: "Matches any path that starts with `/fish`. Note that the matching is case-sensitive." / "/fish से शुरू होने वाले किसी भी पाथ से मेल खाता है."',
      '/fish*: "Equivalent to `/fish`. The trailing wildcard is ignored." / "/fish की तरह ही काम करता है."',
      '/fish/: "Matches anything in the `/fish/` folder." / "/fish/ फ़ोल्डर में मौजूद किसी भी चीज़ से मेल खाता है."',
      '/*.php: "Matches any path that contains `.php`." / ".php वाले किसी भी पाथ से मेल खाता है."',
      '/*.php$: "Matches any path that ends with `.php`." / ".php से खत्म होने वाले किसी भी पाथ से मेल खाता है."',
      '/fish*.php: "Matches any path that contains `/fish` and `.php`, in that order." / "ऐसे किसी भी पाथ से मेल खाता है जिसमें /fish और .php शामिल हों और ये इसी क्रम में शामिल हों."',
    ]),
    // The current edition lists it under "Doesn't match", as every path that does not start with the pattern; the
    // heading of this very row says "anything in the /fish/ folder". It is a slip, and nothing is made of it.
    '/fish/ and "/animals/fish/", which the older edition lists as a match': () =>
      read('user-agent: *\ndisallow: /fish/', '+/animals/fish/'),
  },
  'Order of precedence for rules': {
    // The older edition has "the length of the URL's path": it cannot be meant, for all rules are held against the same
    // URL. The current edition has "the length of the rule path".
    '"When matching robots.txt rules to URLs, crawlers use the most specific rule based on the length of the rule path." / "क्रॉलर यूआरएल के पाथ की लंबाई के आधार पर सबसे सटीक नियम का इस्तेमाल करते हैं." (the most specific rule by length)':
      () => {
        read('user-agent: *\ndisallow: /a\nallow: /a/b\ndisallow: /a/b/c', 'x: -/a/x@2 +/a/b@3 -/a/b/c@4');
        read('user-agent: *\ndisallow: /a\nallow: /a/b', '+/a/b -/a/c');
      },
    '"In case of conflicting rules, including those with wildcards, Google uses the least restrictive rule." / "अलग-अलग नियम होने के मामले में, Google सबसे कम पाबंदी वाले नियम का इस्तेमाल करता है. इन नियमों में, वाइल्डकार्ड वाले नियम भी शामिल हैं." (of conflicting rules the least restrictive, wildcards included)':
      () => {
        read('user-agent: *\ndisallow: /a*c\nallow: /abc', '+/abc');
        read('user-agent: *\ndisallow: /abc\nallow: /a*c', '+/abc');
      },
    ...Object.fromEntries(
      [
        'because it\'s more specific" / "क्योंकि यह ज़्यादा सटीक है.',
        'because in case of conflicting rules, Google uses the least restrictive rule" / "क्योंकि मिलते-जुलते नियमों के मामले में, Google सबसे कम पाबंदी वाले नियम का इस्तेमाल करता है.',
        'because the rule path is longer and it matches more characters in the URL, so it\'s more specific" / "क्योंकि यह यूआरएल में ज़्यादा वर्णों से मेल खाता है.',
        'because in case of conflicting rules, Google uses the least restrictive rule" / "क्योंकि मिलते-जुलते नियमों के मामले में, Google सबसे कम पाबंदी वाले नियम का इस्तेमाल करता है.',
        'because it\'s more specific" / "क्योंकि यह ज़्यादा सटीक है.',
        'because the allow rule only applies on the root URL" / "क्योंकि allow नियम सिर्फ़ रूट यूआरएल पर लागू होता है.',
      ].map((reason, at) => {
        const situation = googleSituations[at] ?? expect.fail(`The table has no situation ${at + 1}`);
        const { target, allow, disallow, applicable } = situation;
        const title = `situation ${at + 1}, ${target} under allow: ${allow}, disallow: ${disallow}: "Applicable rule" is the ${applicable} rule, "${reason}"`;
        return [title, () => appliesTo(situation)];
      }),
    ),
  },
};

testSentences({ ...beginning, ...responses, ...reading });

/*
 * What a client cannot obey: which crawlers the protocol is not for (feed subscriptions, malware analysis), advice to
 * site owners (not to limit the crawl rate by 401 and 403, how to make files smaller), the example of a 5xx page that
 * looks like "not found" (the client reads no body of an error), and what becomes of disallowed URLs in the index.
 *
 * Where sentences contradict each other: the first 12 hours of an outage "stop crawling the site" even though the
 * section on caching lets a copy serve longer "in situations where refreshing the cached version isn't possible"; the
 * profile keeps to the timeline. `max-age` "may increase" the lifetime, which RFC 9309 §2.4 limits to 24 hours; the
 * profile keeps to the RFC.
 */
