import { Agent } from 'undici';
import { afterEachTest } from '../support/after-each-test.ts';
import type { FetchFunction } from '../../src/core/fetch/index.ts';
import type { Transport } from '../../src/core/fetch/transport.ts';
import { type ProfileName, RobotsClient, type RobotsClientOptions } from '../../src/index.ts';
import { type Dialect, parseRobots, type RobotsFile } from '../../src/core/rules/index.ts';
import {
  type FakeOrigin,
  fakeOrigin,
  type FakeOriginOptions,
  type VirtualClock,
  virtualClock,
} from '../../src/extras/testing/index.ts';
import { type FtpScript, type FtpSite, startFtpSite } from '../support/ftp-site.ts';
import { type Site, startRawSite } from '../support/site.ts';

/**
 * What the documents speak about: a robot that follows one of them, and the sites it meets. Each file of this folder
 * goes through one document from its top to its end, and has a test for every statement that a client can obey, with
 * the sentence quoted.
 */
export interface Follower {
  readonly robots: RobotsClient;
  readonly clock: VirtualClock;
}

/** For what never comes, where something else does: that is there by then, however busy the machine. */
export const LEAST_DEADLINE_MS = 1_000;

const open: { close(): Promise<unknown> }[] = [];

afterEachTest(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** A robot in virtual time, without jitter. */
export function follower(profile: ProfileName, options: RobotsClientOptions = {}): Follower {
  const clock = virtualClock();
  const agent = 'ExampleBot/0.1 (+https://www.example.com/bot.html)';
  const robots = new RobotsClient({ agent, profile, clock, random: () => 0, ...options });
  open.push(robots);
  return { robots, clock };
}

export async function site(
  robots: FakeOriginOptions['robots'],
  pages?: FakeOriginOptions['pages'],
): Promise<FakeOrigin> {
  const origin = await fakeOrigin({
    ...(robots === undefined ? {} : { robots }),
    ...(pages === undefined ? {} : { pages }),
  });
  open.push(origin);
  return origin;
}

export async function rawSite(handler: Parameters<typeof startRawSite>[0]): Promise<Site> {
  const server = await startRawSite(handler);
  open.push(server);
  return server;
}

export async function ftpSite(script?: FtpScript): Promise<FtpSite> {
  const server = await startFtpSite(script);
  open.push(server);
  return server;
}

/** A name that does not resolve. */
export function withoutNames(): RobotsClientOptions {
  const dispatcher = new Agent({
    connect: {
      lookup: (name, _options, callback) =>
        callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []),
    },
  });
  open.push({ close: () => dispatcher.destroy() });
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

/** Questions to one file. */
export interface Reader {
  readonly file: RobotsFile;
  /** Whether `agent` may fetch `target`. */
  may(target: string, agent?: string): boolean;
  /** Which of the targets it may not. */
  excluded(targets: readonly string[], agent?: string): string[];
}

/** Reads a file as a dialect does. */
export function reader(dialect: Dialect, ...lines: readonly string[]): Reader {
  return readerOf(dialect, lines.join('\n'));
}

export function readerOf(dialect: Dialect, body: string | Uint8Array): Reader {
  const file = parseRobots(body, { dialect });
  const may = (target: string, agent = 'ExampleBot'): boolean => file.check(target, agent).allowed;
  return { file, may, excluded: (targets, agent) => targets.filter((target) => !may(target, agent)) };
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
