import { CheerioCrawler } from '@crawlee/cheerio';
import { BasicCrawler, HttpCrawler } from '@crawlee/http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { RobotsClient } from '../../../src/index.ts';
import { inMemory } from '../../support/crawlee.ts';
import { Chance, playSchedules, SEED } from '../../support/random.ts';
import { siteForAll } from '../../support/opened.ts';
import { answer } from '../../support/site.ts';
import { runs } from '../../support/thorough.ts';

/** What the site, or the handler, does with a request, written into its path: `/<id>/<behaviour>`. */
const BEHAVIOURS = [
  ...['page', 'page', 'slow', 'redirect', 'redirect-to-private', 'not-found', 'failing', 'failing-once'],
  ...['busy-once', 'limited-once', 'handler-fails', 'handler-fails-once'],
] as const;
const STATUSES: Readonly<Record<string, number>> = {
  ...{ failing: 500, 'failing-once': 500, 'busy-once': 503, 'limited-once': 429, 'not-found': 404 },
};

const CRAWLERS = ['HttpCrawler', 'CheerioCrawler', 'BasicCrawler'] as const;
/** How often Crawlee makes an attempt that may fail. */
const ATTEMPTS = 3;

interface Schedule {
  readonly crawler: (typeof CRAWLERS)[number];
  readonly concurrency: number;
  readonly delayMs: number;
  readonly paths: readonly string[];
}

function scheduleOf(chance: Chance): Schedule {
  return {
    crawler: chance.pick(CRAWLERS),
    concurrency: 1 + chance.below(3),
    delayMs: chance.pick([0, 10, 30]),
    paths: Array.from({ length: 3 + chance.below(5) }, (_, id) =>
      chance.happens(0.15) ? `/private/${id}` : `/${id}/${chance.pick(BEHAVIOURS)}`,
    ),
  };
}

const site = await siteForAll(serve);
let inHand = 0;
let most = 0;
const seen: { readonly path: string; readonly at: number }[] = [];

function serve({ url: path = '' }: IncomingMessage, response: ServerResponse): void {
  const isAgain = seen.some((each) => each.path === path);
  seen.push({ path, at: performance.now() });
  most = Math.max(most, ++inHand);
  const end = (status: number, location?: string): void => {
    // The client may see the end of a response before the site's `finish` event.
    inHand--;
    const headers = { 'content-type': 'text/html', ...(location && { location }) };
    answer(response, { status, headers, body: 'a page' });
  };
  const [, id, behaviour = ''] = path.split('/');
  if (behaviour === 'redirect') end(302, `/${id}/target`);
  else if (behaviour === 'redirect-to-private') end(302, `/private/${id}`);
  else if (behaviour === 'slow') setTimeout(end, 5, 200);
  else end(behaviour.endsWith('-once') && isAgain ? 200 : (STATUSES[behaviour] ?? 200));
}

/** How late timers are at most, from now on: what the site sees may be that late. */
function measureLag(): { stop(): number } {
  let [last, most] = [performance.now(), 0];
  const look = (): void => {
    const now = performance.now();
    most = Math.max(most, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return most;
    },
  };
}

async function play({ crawler: name, concurrency, delayMs, paths }: Schedule): Promise<void> {
  [inHand, most, seen.length] = [0, 0, 0];
  const text = 'User-agent: *\nDisallow: /private\n';
  await using robots = new RobotsClient({
    agent: 'ExampleBot',
    overrides: { [site.origin]: { text, because: 'a test' } },
  });
  const pacing = { concurrency, defaultDelayMs: delayMs, backOff: { firstMs: 5, maxMs: 20 } };
  const guard = { pacing, identify: true };
  const ends: string[] = [];
  const tried = new Set<string>();
  let handling = 0;
  const handle = async (path: string): Promise<void> => {
    handling++;
    expect(handling).toBeLessThanOrEqual(concurrency);
    await new Promise((resolve) => setTimeout(resolve, 1));
    handling--;
    const isAgain = tried.has(path);
    tried.add(path);
    if (path.endsWith('handler-fails') || (path.endsWith('handler-fails-once') && !isAgain)) {
      throw new Error('The handler fails');
    }
    ends.push(`${path} succeeded`);
  };
  const pathOf = (url: string): string => new URL(url).pathname;
  const options = {
    minConcurrency: 3,
    maxConcurrency: 4,
    maxRequestRetries: ATTEMPTS - 1,
    autoscaledPoolOptions: { maybeRunIntervalSecs: 0.01 },
    onSkippedRequest: ({ url }: { readonly url: string }) => void ends.push(`${pathOf(url)} refused`),
    failedRequestHandler: ({ request }: { readonly request: { readonly url: string } }) =>
      void ends.push(`${pathOf(request.url)} failed`),
  };
  const handlePage = ({ request }: { readonly request: { readonly url: string } }): Promise<void> =>
    handle(pathOf(request.url));
  const crawler =
    name === 'BasicCrawler'
      ? new (withRobots(BasicCrawler, robots, guard))(
          {
            ...options,
            requestHandler: async ({ request, sendRequest }) => {
              await sendRequest();
              await handle(pathOf(request.url));
            },
          },
          inMemory(),
        )
      : name === 'HttpCrawler'
        ? new (withRobots(HttpCrawler, robots, guard))({ ...options, requestHandler: handlePage }, inMemory())
        : new (withRobots(CheerioCrawler, robots, guard))(
            { ...options, requestHandler: handlePage },
            inMemory(),
          );
  const lag = measureLag();
  await crawler.run(paths.map((path) => site.url(path)));
  const lateMs = lag.stop();
  // Each request ends once.
  expect(ends.map((end) => end.split(' ')[0]).sort()).toEqual([...paths].sort());
  for (const path of paths) {
    const isRefused = path.startsWith('/private') || path.endsWith('to-private');
    // What a handler sends itself is an error of the handler when it is refused.
    const isFailure = name === 'BasicCrawler' && path.endsWith('to-private');
    expect(ends.includes(`${path} ${isFailure ? 'failed' : 'refused'}`), path).toBe(isRefused);
    if (path.endsWith('handler-fails')) expect(ends).toContain(`${path} failed`);
    if (/page|slow|redirect$|once/.test(path)) expect(ends).toContain(`${path} succeeded`);
    expect(seen.filter((each) => each.path === path).length).toBeLessThanOrEqual(ATTEMPTS);
  }
  expect(seen.filter(({ path }) => path.startsWith('/private'))).toEqual([]);
  expect(most).toBeLessThanOrEqual(concurrency);
  for (const [index, { at }] of seen.entries()) {
    for (const [before, earlier] of seen.slice(0, index).entries()) {
      expect(at - earlier.at).toBeGreaterThanOrEqual(0.9 * delayMs * (index - before) - lateMs);
    }
  }
  // All permits are free again.
  expect((await robots.policy(site.origin)).pacing?.inFlight ?? []).toEqual([]);
}

const SCHEDULES = runs(5);

it(`random schedules over Crawlee: each request ends once, at the pace of the site (seed ${SEED})`, async () => {
  await playSchedules(SCHEDULES, (number) => scheduleOf(new Chance(number)), play);
}, 120_000);
