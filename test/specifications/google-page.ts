import { expect } from 'vitest';
import { guardFetch } from '../../src/index.ts';
import { ftpTransport } from '../../src/extras/ftp/ftp.ts';
import type { FakeResponse } from '../../src/extras/testing/index.ts';
import { googlePathMatches, type Situation } from '../support/tables.ts';
import {
  DAY,
  follower,
  ftpSite,
  HOUR,
  MINUTE,
  rawSite,
  reader,
  readerOf,
  SECOND,
  site,
  web,
  withoutNames,
} from './follower.ts';

/**
 * What both editions of Google's page say, as behaviours: each edition's tests quote its own sentence and name the
 * behaviour that it asks for.
 */
export type GoogleProfile = 'google' | 'google-legacy';

const DIALECT = 'google';
const RULES = 'User-agent: *\nDisallow: /private';
export const unreachable = { allowed: false, reason: 'unreachable', state: 'disallow-all' } as const;
export const unavailable = { allowed: true, reason: 'unavailable', state: 'allow-all' } as const;

/** Before a site is crawled its file is downloaded and parsed. */
export async function isAskedFirst(profile: GoogleProfile): Promise<void> {
  const server = await site([RULES]);
  const fetchPolitely = guardFetch(fetch, follower(profile).robots);
  await fetchPolitely(server.url('/page'));
  await expect(fetchPolitely(server.url('/private'))).rejects.toMatchObject({
    code: 'ERR_ROBOTS_DISALLOWED',
  });
  expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/page']);
}

/** The file of the top-level directory is asked for, in lower case, and no other. */
export async function isAtTheTop(profile: GoogleProfile): Promise<void> {
  const server = await site([{ status: 404 }], { '/folder/robots.txt': RULES, '/Robots.txt': RULES });
  const { robots } = follower(profile);
  expect(await robots.canFetch(server.url('/folder/private'))).toBe(true);
  expect(await robots.canFetch(server.url('/private'))).toBe(true);
  expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt']);
}

export async function supportsProtocols(profile: GoogleProfile): Promise<void> {
  const urls = ['http://example.com/private', 'https://example.com/private', 'ftp://example.com/private'];
  const files = urls.map((url) => url.replace('private', 'robots.txt'));
  const { options, asked } = web(Object.fromEntries(files.map((file) => [file, RULES])));
  const { robots } = follower(profile, options);
  for (const url of urls) expect(await robots.canFetch(url), url).toBe(false);
  expect(asked).toEqual(files);
}

/** A plain GET, also where the server gave validators. */
export async function getsWithoutConditions(profile: GoogleProfile): Promise<void> {
  const headers = { etag: '"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
  const server = await site([{ body: RULES, headers }]);
  const { robots, clock } = follower(profile);
  await robots.check(server.url('/'));
  await clock.advance(DAY);
  await robots.check(server.url('/'));
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  for (const { headers: sent } of server.requests) {
    expect(Object.keys(sent).filter((name) => name.startsWith('if-'))).toEqual([]);
  }
}

export async function retrievesOverFtp(profile: GoogleProfile): Promise<void> {
  const server = await ftpSite();
  const { robots } = follower(profile, { ftp: ftpTransport() });
  expect(await robots.canFetch(`${server.origin}/private`)).toBe(false);
  expect(server.commands).toContain('USER anonymous');
  expect(server.commands.filter((command) => command.startsWith('RETR'))).toEqual(['RETR /robots.txt']);
}

/** The file at `file` decides for the URLs `valid`, and for none of `others`. */
export async function isValidFor(
  profile: GoogleProfile,
  file: string,
  valid: readonly string[],
  others: readonly string[],
): Promise<void> {
  const { options } = web({ [new URL(file).href]: 'User-agent: *\nDisallow: /' });
  const { robots } = follower(profile, options);
  for (const url of valid) expect(await robots.canFetch(url), url).toBe(false);
  for (const url of others) expect(await robots.canFetch(url), url).toBe(true);
}

/** 2xx: what came is processed. */
export async function processesSuccess(profile: GoogleProfile): Promise<void> {
  for (const status of [200, 203, 206]) {
    const server = await site([{ status, body: RULES }]);
    const { robots } = follower(profile);
    expect(await robots.check(server.url('/private'))).toMatchObject({ allowed: false, reason: 'rule' });
    expect(await robots.canFetch(server.url('/'))).toBe(true);
  }
}

async function moved(hops: number): Promise<string> {
  const file = await site([{ status: 404 }], { '/files/robots': RULES });
  const path = (hop: number): string => (hop === 0 ? '/robots.txt' : `/hop/${hop}`);
  const chain = await site(
    [{ redirect: hops === 1 ? file.url('/files/robots') : path(1) }],
    Object.fromEntries(
      Array.from({ length: hops }, (_, hop) => [
        path(hop),
        { redirect: hop === hops - 1 ? file.url('/files/robots') : path(hop + 1) },
      ]),
    ),
  );
  return chain.url('/private');
}

/** Five redirects lead to the file, the sixth to a 404. */
export async function followsFiveRedirects(profile: GoogleProfile): Promise<void> {
  const { robots } = follower(profile);
  expect(await robots.check(await moved(5))).toMatchObject({
    allowed: false,
    reason: 'rule',
    robots: { hops: 5 },
  });
  expect(await robots.check(await moved(6))).toMatchObject(unavailable);
}

/** A hop that its own site's rules disallow ends the chain with a 404. */
export async function stopsAtDisallowedHops(profile: GoogleProfile): Promise<void> {
  const other = await site(['User-agent: *\nDisallow: /files'], { '/files/robots': RULES });
  const server = await site([{ redirect: other.url('/files/robots') }]);
  const { robots } = follower(profile);
  await robots.check(other.url('/'));
  expect(await robots.check(server.url('/private'))).toMatchObject(unavailable);
  expect(other.count('/files/robots')).toBe(0);
}

/** Frames, JavaScript and meta refresh lead nowhere. */
export async function ignoresLogicalRedirects(profile: GoogleProfile): Promise<void> {
  const other = await site([RULES]);
  const target = other.url('/robots.txt');
  const pages = [
    `<meta http-equiv="refresh" content="0; url=${target}">`,
    `<script>location = ${JSON.stringify(target)}</script>`,
    `<frameset><frame src="${target}"></frameset>`,
  ];
  for (const body of pages) {
    const server = await site([
      { body, headers: { 'content-type': 'text/html', refresh: `0; url=${target}` } },
    ]);
    expect(await follower(profile).robots.check(server.url('/private'))).toMatchObject({
      allowed: true,
      reason: 'no-group',
    });
  }
  expect(other.requests).toEqual([]);
}

/** Statuses that leave the site open. */
export async function opensTheSite(profile: GoogleProfile, statuses: readonly number[]): Promise<void> {
  for (const status of statuses) {
    const server = await site([{ status, body: 'User-agent: *\nDisallow: /' }]);
    expect(await follower(profile).robots.check(server.url('/private')), String(status)).toMatchObject(
      unavailable,
    );
  }
}

/** A failing file is asked for again, at growing pauses of an hour at most, until it is there. */
export async function keepsTrying(profile: GoogleProfile): Promise<void> {
  const server = await site([...Array.from({ length: 10 }, (): FakeResponse => ({ status: 503 })), RULES]);
  const { robots, clock } = follower(profile);
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
}

/** Trouble on the network is a server error. */
export async function countsNetworkTroubleAsServerError(profile: GoogleProfile): Promise<void> {
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const servers = [
    await site([{ fault: 'hang' }]),
    await site([{ fault: 'drip', body: RULES.repeat(50), everyMs: 20 }]),
    await site([{ fault: 'reset' }]),
    await site([{ fault: 'truncate' }]),
    await rawSite((socket) => socket.end('This is no HTTP.\r\n\r\n')),
    await rawSite((socket) => socket.end(`${head}5\r\nUser-\r\nzz\r\nagent: *\r\n0\r\n\r\n`)),
    await rawSite((socket) => socket.end(`${head}ff\r\nUser-agent: *\nAllow: /`)),
  ];
  const { robots } = follower(profile, { deadlineMs: 200 });
  for (const [at, server] of servers.entries()) {
    expect(await robots.check(server.url('/')), String(at)).toMatchObject(unreachable);
  }
  const nameless = follower(profile, withoutNames());
  expect(await nameless.robots.check('http://nowhere.example/')).toMatchObject(unreachable);
}

/** Up to 24 hours. */
export async function cachesForADay(profile: GoogleProfile): Promise<void> {
  const server = await site([RULES]);
  const { robots, clock } = follower(profile);
  await robots.check(server.url('/'));
  await clock.advance(DAY - 1);
  expect(robots.peek(server.url('/private'))).toMatchObject({ allowed: false });
  expect(server.robotsCount).toBe(1);
  await clock.advance(1);
  await robots.check(server.url('/'));
  expect(server.robotsCount).toBe(2);
}

/** One file, one request, whoever asks. */
export async function sharesAmongCrawlers(profile: GoogleProfile): Promise<void> {
  const server = await site(['User-agent: Googlebot-News\nDisallow: /news\nUser-agent: *\nDisallow: /web']);
  const { robots } = follower(profile);
  const ask = (path: string, agent: string): Promise<boolean> => robots.canFetch(server.url(path), agent);
  expect(
    await Promise.all([
      ask('/news', 'Googlebot-News'),
      ask('/web', 'Googlebot-News'),
      ask('/news', 'Googlebot'),
      ask('/web', 'Storebot-Google'),
    ]),
  ).toEqual([false, true, true, false]);
  expect(server.robotsCount).toBe(1);
}

/** `max-age` makes the lifetime shorter, or as long as a day. */
export async function heedsMaxAge(profile: GoogleProfile): Promise<void> {
  const lives: readonly [maxAgeMs: number, forMs: number][] = [
    [HOUR, HOUR],
    [DAY, DAY],
    // No origin is asked before every page, and no copy outlives the day that RFC 9309 §2.4 gives it.
    [0, 10 * MINUTE],
    [30 * DAY, DAY],
  ];
  for (const [maxAgeMs, forMs] of lives) {
    const headers = { 'cache-control': `max-age=${maxAgeMs / SECOND}` };
    const server = await site([{ body: RULES, headers }]);
    const { robots, clock } = follower(profile);
    const { robots: source } = await robots.check(server.url('/'));
    expect(source.staleAt).toBe(clock.now() + forMs);
  }
}

export function readsLineEnds(): void {
  for (const end of ['\r', '\r\n', '\n']) {
    const { may, file } = readerOf(DIALECT, ['user-agent: *', 'disallow: /a', 'disallow: /ツ'].join(end));
    expect(may('/%E3%83%84')).toBe(false);
    expect(file.check('/a', 'ExampleBot')).toMatchObject({ rule: { line: 2 } });
  }
}

/** Invalid lines, the byte order mark among them, are passed over; of HTML the rules are read. */
export function usesOnlyValidLines(): void {
  const text = 'user-agent: *\nnonsense\n=\ndisallow: /a\n\x00\u0001\ndisallow: /b';
  const mark = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]);
  expect(readerOf(DIALECT, mark).excluded(['/a', '/b', '/c'])).toEqual(['/a', '/b']);
  const html = '<!DOCTYPE html>\n<html><body>\n<pre>\nuser-agent: *\ndisallow: /a\n</pre>\n</body></html>';
  expect(readerOf(DIALECT, html).excluded(['/a', '/b'])).toEqual(['/a']);
}

/** A rule in Latin-1 may catch nothing; those around it stand. */
export function passesOverOtherEncodings(): void {
  const file = Buffer.from('user-agent: *\ndisallow: /a\ndisallow: /é\ndisallow: /b', 'latin1');
  expect(readerOf(DIALECT, file).excluded(['/a', '/%C3%A9', '/b'])).toEqual(['/a', '/b']);
}

/** 500 KiB of a file are read, and what follows is not. */
export async function readsHalfAMebibyte(profile: GoogleProfile): Promise<void> {
  const filler = '#'.repeat(500 * 1_024 - 'user-agent: *\n\ndisallow: /a\n'.length);
  const server = await site([`user-agent: *\n${filler}\ndisallow: /a\ndisallow: /b\n`]);
  const { robots } = follower(profile);
  expect(await robots.canFetch(server.url('/a'))).toBe(false);
  expect(await robots.canFetch(server.url('/b'))).toBe(true);
  expect((await robots.policy(server.origin)).file).toMatchObject({ truncated: true, sizeBytes: 512_000 });
}

/** `<field>:<value><#optional-comment>`, with or without spaces. */
export function readsFieldsAndComments(): void {
  for (const line of [
    'disallow:/a',
    'disallow: /a',
    '  disallow :  /a\t ',
    'disallow: /a# why',
    'disallow:/a # x # y',
  ]) {
    expect(reader(DIALECT, 'user-agent:*', '# a comment', line).excluded(['/a', '/b']), line).toEqual(['/a']);
  }
  expect(reader(DIALECT, 'user-agent: *', '#disallow: /a').may('/a')).toBe(true);
}

export function readsTheFourFields(): void {
  const { file } = reader(
    DIALECT,
    'user-agent: a',
    'allow: /b',
    'disallow: /c',
    'sitemap: https://example.com/sitemap.xml',
  );
  expect(
    file.groups.map(({ agentLines, rules }) => [agentLines.flatMap(({ names }) => names), rules]),
  ).toEqual([
    [
      ['a'],
      [
        { directive: 'allow', pattern: '/b', line: 2 },
        { directive: 'disallow', pattern: '/c', line: 3 },
      ],
    ],
  ]);
  expect(file.sitemaps).toEqual([{ url: 'https://example.com/sitemap.xml', line: 4 }]);
}

export function ignoresRulesWithoutPath(): void {
  expect(reader(DIALECT, 'user-agent: *', 'disallow:').may('/')).toBe(true);
  expect(reader(DIALECT, 'user-agent: *', 'allow:', 'disallow: /').may('/')).toBe(false);
  // Unlike a line that is none of the two, such a rule ends a run of user-agent lines.
  expect(reader(DIALECT, 'user-agent: a', 'disallow:', 'user-agent: b', 'disallow: /').may('/', 'a')).toBe(
    true,
  );
}

export function restrictsNothingByDefault(): void {
  const { file } = reader(DIALECT, 'user-agent: a', 'disallow: /x', 'user-agent: b');
  expect(file.check('/y', 'a')).toMatchObject({ allowed: true, reason: 'no-rule' });
  expect(file.check('/x', 'b')).toMatchObject({ allowed: true, reason: 'no-rule' });
  expect(file.check('/x', 'c')).toMatchObject({ allowed: true, reason: 'no-group' });
}

/** Paths start at the root of their site, and are compared in the case they have. */
export function readsPathsFromTheRoot(): void {
  const targets = ['/a', '/A', '/b/a', '/c', '/'];
  expect(reader(DIALECT, 'user-agent: *', 'disallow: /a', 'disallow: c').excluded(targets)).toEqual(['/a']);
  expect(reader(DIALECT, 'user-agent: *', 'disallow: https://example.com/a').excluded(targets)).toEqual([]);
}

export function comparesAgentsInAnyCase(): void {
  const { may } = reader(DIALECT, 'user-agent: GoogleBOT', 'disallow: /');
  expect([may('/', 'Googlebot'), may('/', 'googlebot'), may('/', 'otherbot')]).toEqual([false, false, true]);
}

/** Of the designated crawlers, and no others. */
export function disallowsToTheGroup(): void {
  const { excluded } = reader(DIALECT, 'user-agent: a', 'disallow: /x', 'user-agent: b', 'disallow: /y');
  expect(excluded(['/x', '/y'], 'a')).toEqual(['/x']);
  expect(excluded(['/x', '/y'], 'b')).toEqual(['/y']);
}

export function comparesDisallowInCase(): void {
  expect(reader(DIALECT, 'user-agent: *', 'disallow: /Fish').excluded(['/Fish', '/fish'])).toEqual(['/Fish']);
}

export function allowsToTheGroup(): void {
  const { may } = reader(
    DIALECT,
    'user-agent: *',
    'disallow: /',
    'user-agent: a',
    'disallow: /',
    'allow: /x',
  );
  expect([may('/x', 'a'), may('/y', 'a'), may('/x', 'b')]).toEqual([true, false, false]);
}

export function comparesAllowInCase(): void {
  const { excluded } = reader(DIALECT, 'user-agent: *', 'disallow: /', 'allow: /Fish');
  expect(excluded(['/Fish', '/fish'])).toEqual(['/fish']);
}

const SITEMAPS = [
  'user-agent: otherbot',
  'disallow: /kale',
  '',
  'sitemap: https://example.com/sitemap.xml',
  'sitemap: https://cdn.example.org/other-sitemap.xml',
  'sitemap: https://ja.example.org/テスト-サイトマップ.xml',
];

/** As they are written, of any host, whoever asks. */
export function reportsSitemaps(): void {
  const { file } = reader(DIALECT, ...SITEMAPS);
  expect(file.sitemaps).toEqual([
    { url: 'https://example.com/sitemap.xml', line: 4 },
    { url: 'https://cdn.example.org/other-sitemap.xml', line: 5 },
    { url: 'https://ja.example.org/テスト-サイトマップ.xml', line: 6 },
  ]);
  const url = 'https://example.com/SiteMap.XML?A=b';
  expect(reader(DIALECT, `Sitemap: ${url}`).file.sitemaps).toEqual([{ url, line: 1 }]);
}

/** A sitemap is crawled only where the rules let it be. */
export async function decidesAboutSitemapsToo(profile: GoogleProfile): Promise<void> {
  const server = await site(['user-agent: *\ndisallow: /maps/\nsitemap: /maps/1.xml\nsitemap: /2.xml']);
  const { robots } = follower(profile);
  const { sitemaps } = await robots.policy(server.origin);
  const may = await Promise.all(sitemaps.map(({ url }) => robots.canFetch(new URL(url, server.origin))));
  expect(may).toEqual([false, true]);
}

/** Groups of a, of b, of e with f, and of h. */
export function groupsByUserAgentLines(): void {
  const { file, excluded } = reader(
    DIALECT,
    'user-agent: a',
    'disallow: /c',
    '',
    'user-agent: b',
    'disallow: /d',
    '',
    'user-agent: e',
    'user-agent: f',
    'disallow: /g',
    '',
    'user-agent: h',
  );
  expect(file.groups.map(({ agentLines }) => agentLines.flatMap(({ names }) => names))).toEqual([
    ['a'],
    ['b'],
    ['e', 'f'],
    ['h'],
  ]);
  const paths = ['/c', '/d', '/g'];
  const caught = ['a', 'b', 'e', 'f', 'h'].map((agent) => excluded(paths, agent).join());
  expect(caught).toEqual(['/c', '/d', '/g', '/g', '']);
}

/** Which of the three groups of the page's example an agent follows. */
export function follows(agent: string, group: 1 | 2 | 3): void {
  const groups = [
    ['user-agent: googlebot-news', 'disallow: /1'],
    ['user-agent: *', 'disallow: /2'],
    ['user-agent: googlebot', 'disallow: /3'],
  ];
  // "The order of the groups within the robots.txt file is irrelevant."
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
    [2, 0, 1],
  ]) {
    const { excluded } = reader(DIALECT, ...order.flatMap((at) => groups[at] ?? []));
    expect(excluded(['/1', '/2', '/3'], agent), order.join()).toEqual([`/${group}`]);
  }
}

/** What follows the name on a user-agent line says nothing. */
export function ignoresWhatFollowsTheName(): void {
  for (const value of ['googlebot/1.2', 'googlebot*']) {
    const { may } = reader(DIALECT, `user-agent: ${value}`, 'disallow: /');
    expect([may('/', 'googlebot'), may('/', 'googlebot-news')], value).toEqual([false, true]);
  }
}

export function mergesGroupsOfOneAgent(): void {
  const { excluded, file } = reader(
    DIALECT,
    'user-agent: googlebot-news',
    'disallow: /fish',
    '',
    'user-agent: *',
    'disallow: /carrots',
    '',
    'user-agent: googlebot-news',
    'disallow: /shrimp',
  );
  const paths = ['/fish', '/carrots', '/shrimp'];
  expect(excluded(paths, 'googlebot-news')).toEqual(['/fish', '/shrimp']);
  expect(excluded(paths, 'otherbot')).toEqual(['/carrots']);
  expect(file.check('/shrimp', 'googlebot-news')).toMatchObject({ group: { lines: [1, 7] } });
}

/** A sitemap line between two user-agent lines does not part them. */
export function ignoresOtherLinesInGroups(): void {
  const files = [
    ['user-agent: a', 'sitemap: https://example.com/sitemap.xml', '', 'user-agent: b', 'disallow: /'],
    ['user-agent: a', 'user-agent: b', 'disallow: /'],
  ];
  for (const lines of files) {
    const { may } = reader(DIALECT, ...lines);
    expect([may('/', 'a'), may('/', 'b'), may('/', 'c')]).toEqual([false, false, true]);
  }
}

/** The path, with parameters and query; neither host nor fragment. */
export function comparesWithThePath(): void {
  const { excluded } = reader(DIALECT, 'user-agent: *', 'disallow: /fish', 'disallow: /a?b=c');
  const urls = ['https://example.com/fish#/a', 'https://example.com/a?b=c&d', 'https://fish.example/a#/fish'];
  expect(excluded(urls)).toEqual(urls.slice(0, 2));
}

/** In UTF-8 as such or escaped. */
export function readsOtherCharactersEitherWay(): void {
  for (const path of ['/サ', '/%E3%82%B5', '/%e3%82%b5']) {
    const { may } = reader(DIALECT, 'user-agent: *', `disallow: ${path}`);
    expect(may(new URL('https://example.com/サ/x').href), path).toBe(false);
    expect(may('/x'), path).toBe(true);
  }
}

/** A row of the page's table of path matches. */
export function matchesAsInTheTable(pattern: string): void {
  const row = googlePathMatches.find((candidate) => candidate.pattern === pattern);
  if (row === undefined) throw new Error(`The table has no ${pattern}`);
  const { excluded } = reader(DIALECT, 'user-agent: *', `disallow: ${pattern}`);
  expect(excluded([...row.matching, ...row.others])).toEqual(row.matching);
}

/** The rule that is "applicable" by the page, in either order of lines. */
export function appliesTo({ target, allow, disallow, applicable }: Situation): void {
  const [first, second] = [`allow: ${allow}`, `disallow: ${disallow}`];
  for (const lines of [
    [first, second],
    [second, first],
  ]) {
    const { file } = reader(DIALECT, 'user-agent: *', ...lines);
    expect(file.check(`https://example.com${target}`, 'Googlebot')).toMatchObject({
      allowed: applicable === 'allow',
      rule: { directive: applicable, pattern: applicable === 'allow' ? allow : disallow },
    });
  }
}
