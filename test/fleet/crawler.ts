import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { parseRobots } from '../../src/core/rules/index.ts';
import { RobotsClient } from '../../src/core/client/robots-client.ts';
import { guardFetch } from '../../src/guards/fetch/fetch.ts';
import { redisStore } from '../../src/stores/redis/redis.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.ts';
import type { PacingOptions } from '../../src/core/pacing/index.ts';

/** The argument of `crawler`: a process that crawls a site at the pace of its fleet, until it is told to stop. */
export interface CrawlerOptions {
  /** The first part of the paths that it asks for. */
  readonly name: string;
  readonly origin: string;
  /** The URL of the server of the fleet; one process alone has none. */
  readonly redis?: string;
  /** The file of the fleet. */
  readonly sqlite?: string;
  readonly pacing: PacingOptions;
  /** Whether it asks for `https:` URLs. The site speaks HTTP all the same. */
  readonly secure?: boolean;
  /** How many pages it wants at a time. */
  readonly together?: number;
  /** Whether it parses large files meanwhile. */
  readonly parses?: boolean;
}

const options: CrawlerOptions = JSON.parse(process.argv[2] ?? '');
const { name, redis, sqlite, pacing, together = 1, parses = false, secure = false } = options;
const origin = secure ? options.origin.replace('http:', 'https:') : options.origin;
const overHttp = (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
  fetch(String(url).replace('https:', 'http:'), init);
const connection = redis === undefined ? undefined : new Redis(redis).on('error', () => undefined);
const robots = new RobotsClient({
  agent: 'ExampleBot/1.0',
  ...(secure ? { transport: { fetch: overHttp } } : {}),
  ...(connection === undefined ? {} : { store: redisStore(connection) }),
  ...(sqlite === undefined ? {} : { store: sqliteStore({ path: sqlite }) }),
});
const guarded = guardFetch(secure ? overHttp : fetch, robots, { pacing });
const large = `User-agent: *\n${Array.from({ length: 15_000 }, (_, line) => `Disallow: /${line}/*/x$`).join('\n')}`;
const octets = new TextEncoder().encode(large);
const state = { pages: 0, stopped: false };
const stopping = new AbortController();

async function crawl(): Promise<void> {
  while (!state.stopped) {
    const page = `${origin}/${name}/${state.pages++}`;
    // What fails here shows in the log of the site, or in that it is missing there.
    await guarded(page, { signal: stopping.signal }).then(
      (response) => response.text(),
      () => sleep(10),
    );
  }
}

/** Blocks the event loop for some milliseconds at a time. */
async function parse(): Promise<void> {
  while (!state.stopped) {
    parseRobots(octets).check(`${origin}/1/2/x`, 'ExampleBot');
    await sleep(1);
  }
}

console.log('"ready"');
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== '"start"') break;
  for (let each = 0; each < together; each++) void crawl();
  if (parses) void parse();
}
state.stopped = true;
stopping.abort();
await robots.close();
connection?.disconnect();
