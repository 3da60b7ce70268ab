import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import { opened } from '../support/opened.ts';
import type { FetchFunction } from '../../src/core/fetch/index.ts';
import type { Transport } from '../../src/core/fetch/transport.ts';
import { guardFetch, type ProfileName, RobotsClient, type RobotsClientOptions } from '../../src/index.ts';
import { type Dialect, parseRobots, type RobotsFile } from '../../src/core/rules/index.ts';
import {
  type FakeOrigin,
  fakeOrigin,
  type FakeOriginOptions,
  type VirtualClock,
  virtualClock,
} from '../../src/extras/testing/index.ts';
import { type Site, startRawSite } from '../support/site.ts';

export { DAY, HOUR, MINUTE, SECOND } from '../support/client.ts';

/**
 * A document as a table: each section from top to end, and in it each sentence that a client can obey, with its case.
 */
export type SpecificationTable = Readonly<Record<string, Readonly<Record<string, () => unknown>>>>;

export function testSentences(table: SpecificationTable): void {
  for (const [section, sentences] of Object.entries(table)) {
    describe(section, () => {
      for (const [sentence, holds] of Object.entries(sentences)) {
        it(sentence, async () => {
          await holds();
        });
      }
    });
  }
}

/** A robot that obeys one of the documents. */
export interface Robot {
  readonly robots: RobotsClient;
  readonly clock: VirtualClock;
}

/** For what never comes, where something else does: that is there by then, however busy the machine. */
export const LEAST_DEADLINE_MS = 1_000;

/** A robot in virtual time, without jitter. */
export function robotFor(profile: ProfileName, options: RobotsClientOptions = {}): Robot {
  const clock = virtualClock();
  const agent = 'ExampleBot/0.1 (+https://www.example.com/bot.html)';
  const robots = opened(new RobotsClient({ agent, profile, clock, random: () => 0, ...options }));
  return { robots, clock };
}

export async function site(
  robots: FakeOriginOptions['robots'],
  pages?: FakeOriginOptions['pages'],
): Promise<FakeOrigin> {
  const given = { ...(robots === undefined ? {} : { robots }), ...(pages === undefined ? {} : { pages }) };
  return opened(await fakeOrigin(given));
}

export const rawSite = async (handler: Parameters<typeof startRawSite>[0]): Promise<Site> =>
  opened(await startRawSite(handler));

/** A name that does not resolve. */
export function withoutNames(): RobotsClientOptions {
  const dispatcher = new Agent({
    connect: {
      lookup: (name, _options, callback) =>
        callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []),
    },
  });
  opened({ [Symbol.asyncDispose]: () => dispatcher.destroy() });
  return { dispatcher };
}

/** A web, by URL; anything else is a 404. For statements about names that no loopback server has. */
export function web(files: Readonly<Record<string, string>>): {
  readonly options: RobotsClientOptions;
  /** Every URL asked for, in order. */
  readonly asked: readonly string[];
} {
  const asked: string[] = [];
  const fetch: FetchFunction = (url) => {
    asked.push(url);
    const file = files[url];
    return Promise.resolve(file === undefined ? new Response(null, { status: 404 }) : new Response(file));
  };
  const ftp: Transport = {
    request: ({ href }) => {
      asked.push(href);
      const file = files[href];
      return Promise.resolve({
        status: file === undefined ? 550 : 226,
        meaning: file === undefined ? 'unavailable' : 'rules',
        headers: { get: () => undefined },
        body: octets(file ?? ''),
        discard: () => undefined,
      });
    },
  };
  return { options: { transport: { fetch }, ftp }, asked };
}

async function* octets(file: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(file);
}

/**
 * Reads a file as a dialect does, and compares its verdicts with each expectation: `agent: -/disallowed +/allowed`, for
 * ExampleBot where no agent is named. After `@` stands what decided: the line of the rule, or the reason.
 */
export function readAs(dialect: Dialect, body: string | Uint8Array, ...expectations: string[]): RobotsFile {
  const file = parseRobots(body, { dialect });
  for (const expectation of expectations) {
    const [, prefix = '', agent = 'ExampleBot', targets = ''] =
      /^((.+): )?(.+)$/.exec(expectation) ?? expect.fail(expectation);
    const verdicts = targets.split(' ').map((token) => {
      const [, target = '', decider] = /^[-+](.+?)(@[\w-]+)?$/.exec(token) ?? expect.fail(token);
      const { allowed, reason, rule } = file.check(target, agent);
      return `${allowed ? '+' : '-'}${target}${decider === undefined ? '' : `@${rule?.line ?? reason}`}`;
    });
    expect(`${prefix}${verdicts.join(' ')}`).toBe(expectation);
  }
  return file;
}

export const disallowed = { allowed: false } as const;
export const allowed = { allowed: true } as const;
export const disallowedByRule = { allowed: false, reason: 'rule' } as const;
export const unreachable = { allowed: false, reason: 'unreachable', state: 'disallow-all' } as const;
export const unavailable = { allowed: true, reason: 'unavailable', state: 'allow-all' } as const;
export const expired = { allowed: true, reason: 'unreachable-expired' } as const;
export const lastGoodAllows = { allowed: true, state: 'last-good' } as const;
export const lastGoodDisallows = { allowed: false, state: 'last-good' } as const;

export const RULES = 'User-agent: *\nDisallow: /private';
export const DISALLOW_ALL = 'User-agent: *\nDisallow: /';

export type Visit = readonly [path: string, decision: object, afterMs?: number];

type Visited = Robot & { readonly server: FakeOrigin };

/** Checks one path after another, each after its pause, and compares the decisions. */
export function visitAs(
  profile: ProfileName,
  responses: FakeOriginOptions['robots'],
  ...visits: readonly Visit[]
): Promise<Visited> {
  return visitWith({}, profile, responses, ...visits);
}

export async function visitWith(
  options: RobotsClientOptions,
  profile: ProfileName,
  responses: FakeOriginOptions['robots'],
  ...visits: readonly Visit[]
): Promise<Visited> {
  const server = await site(responses);
  const { robots, clock } = robotFor(profile, options);
  for (const [at, [path, decision, afterMs = 0]] of visits.entries()) {
    await clock.advance(afterMs);
    expect(await robots.check(server.url(path)), `visit ${at + 1}, ${path}`).toMatchObject(decision);
  }
  return { server, robots, clock };
}

/** The cases beside each other: some wait for the same time. */
export async function each<T>(cases: readonly T[], holds: (one: T) => unknown): Promise<void> {
  await Promise.all(cases.map(holds));
}

/** The file is requested before the first page, and a disallowed page is not requested. */
export async function requestsRobotsFirst(profile: ProfileName): Promise<void> {
  const server = await site([RULES]);
  const fetchPolitely = guardFetch(fetch, robotFor(profile).robots);
  expect((await fetchPolitely(server.url('/page'))).status).toBe(200);
  const refused = fetchPolitely(server.url('/private'));
  await expect(refused).rejects.toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' });
  expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/page']);
}

/** `/robots.txt`, in lower case, is requested, and none of these other files, which disallow everything. */
export async function requestsOnlyRobotsTxt(profile: ProfileName, ...others: string[]): Promise<void> {
  const server = await site(
    [{ status: 404 }],
    Object.fromEntries(others.map((path) => [path, DISALLOW_ALL])),
  );
  const { robots } = robotFor(profile);
  for (const path of ['/', '/a/b', '/private', '/folder/private']) {
    expect(await robots.canFetch(server.url(path)), path).toBe(true);
  }
  expect(server.requests.map(({ path }) => path)).toEqual(['/robots.txt']);
}

/** For each URL the file named is requested, and obeyed. */
export async function requestsFileFor(
  profile: ProfileName,
  ...pairs: readonly (readonly [url: string, file: string])[]
): Promise<void> {
  const files = pairs.map(([, file]) => file);
  const { options, asked } = web(Object.fromEntries(files.map((file) => [file, DISALLOW_ALL])));
  const { robots } = robotFor(profile, options);
  for (const [url] of pairs) expect(await robots.canFetch(url), url).toBe(false);
  expect(asked).toEqual(files);
}

/** A chain over that many sites to a file with RULES on a further one. Returns the first origin. */
export async function redirectChain(redirects: number, status = 302): Promise<string> {
  let target = (await site([{ status: 404 }], { '/files/robots': RULES })).url('/files/robots');
  for (let hop = 0; hop < redirects; hop++) {
    const path = hop === redirects - 1 ? '/robots.txt' : `/hop/${hop}`;
    const next = await site([{ redirect: target, status }], { [path]: { redirect: target, status } });
    target = next.url(path);
  }
  return new URL(target).origin;
}

/** Five redirects lead to the file, the sixth makes it unavailable. */
export async function followsFiveRedirects(profile: ProfileName): Promise<void> {
  const { robots } = robotFor(profile);
  const found = await robots.check(`${await redirectChain(5)}/private`);
  expect(found).toMatchObject({ ...disallowedByRule, robots: { hops: 5 } });
  expect(await robots.check(`${await redirectChain(6)}/private`)).toMatchObject(unavailable);
}

/** With these statuses the file is read, and lines that cannot be read are skipped. */
export function readsTheFile(profile: ProfileName, statuses: readonly number[]): Promise<void> {
  const body = `${RULES}\n\0\u0001nonsense`;
  return each(statuses, (status) =>
    visitAs(profile, [{ status, body }], ['/private', disallowedByRule], ['/', allowed]),
  );
}

/** These redirects lead to the file. */
export function followsRedirects(profile: ProfileName): Promise<void> {
  return each([301, 302, 303, 307, 308], async (status) => {
    const origin = await redirectChain(1, status);
    const decision = await robotFor(profile).robots.check(`${origin}/private`);
    expect(decision, String(status)).toMatchObject(disallowedByRule);
  });
}

/** Time-outs, resets, truncated and garbled responses, and a name that does not resolve: nothing is allowed. */
export async function failsByNetworkTrouble(profile: ProfileName): Promise<void> {
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
  const { robots } = robotFor(profile, { deadlineMs: 200 });
  await each([...servers.entries()], async ([at, server]) =>
    expect(await robots.check(server.url('/a')), String(at)).toMatchObject(unreachable),
  );
  const nameless = robotFor(profile, withoutNames());
  expect(await nameless.robots.check('http://nowhere.example/')).toMatchObject(unreachable);
}

/** A file with these header fields is used for so many ms, and then requested again. */
export async function keepsTheFileFor(
  profile: ProfileName,
  ms: number,
  fields: (now: number) => Readonly<Record<string, string>> = () => ({}),
): Promise<void> {
  const { robots, clock } = robotFor(profile);
  const server = await site([{ body: RULES, headers: fields(clock.now()) }]);
  expect(await robots.canFetch(server.url('/'))).toBe(true);
  await clock.advance(ms - 1);
  expect(robots.peek(server.url('/private'))).toMatchObject(disallowed);
  expect(server.robotsCount).toBe(1);
  await clock.advance(1);
  expect(robots.peek(server.url('/private'))).toBeUndefined();
  expect(await robots.canFetch(server.url('/private'))).toBe(false);
  expect(server.robotsCount).toBe(2);
}

/** Lines may end so. */
export const LINE_ENDS: readonly string[] = ['\r', '\n', '\r\n'];

/** Statuses that leave the site open, whatever the body says. */
export function opensTheSite(profile: ProfileName, statuses: readonly number[]): Promise<void> {
  return each(statuses, (status) =>
    visitAs(profile, [{ status, body: DISALLOW_ALL }], ['/private', unavailable]),
  );
}

/** 500 KiB of a file are read, and the rest is not. */
export async function readsHalfAMebibyte(profile: ProfileName): Promise<void> {
  const filler = '#'.repeat(500 * 1_024 - 'User-agent: *\n\nDisallow: /a\n'.length);
  const file = `User-agent: *\n${filler}\nDisallow: /a\nDisallow: /b\n`;
  const { robots, server } = await visitAs(profile, [file], ['/a', disallowed], ['/b', allowed]);
  expect((await robots.policy(server.origin)).file).toMatchObject({ truncated: true, sizeBytes: 512_000 });
}
