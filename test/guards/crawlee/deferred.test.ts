import { BasicCrawler, CheerioCrawler, HttpCrawler, RequestList } from '@crawlee/cheerio';
import { describe, expect, it } from 'vitest';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import type { RobotsClient } from '../../../src/index.ts';
import { virtualClock, type VirtualClock } from '../../../src/extras/testing/index.ts';
import { START, testClient } from '../../support/client.ts';
import { inMemory } from '../../support/crawlee.ts';
import { answer, type Site } from '../../support/site.ts';
import { booked } from '../../core/pacing/support.ts';
import { closing, pagesOf, record, RULES, site } from './support.ts';

/** Crawlee looks for requests every half second otherwise. */
const soon = { autoscaledPoolOptions: { maybeRunIntervalSecs: 0.01 } };

/** A site that is to be asked only every `delaySecs`. */
const slowSite = (delaySecs: number): Promise<Site> =>
  site([], (_, response) => answer(response, { body: `User-agent: *\nCrawl-delay: ${delaySecs}` }));

/** A clock whose time advances with each sleep, and a client with that clock. */
function paced(): { readonly clock: VirtualClock; readonly robots: RobotsClient } {
  const clock = virtualClock({ startAt: START, autoAdvance: true });
  return { clock, robots: closing(testClient({ clock }).client) };
}

/** The client has just asked for a page of a site: the next one waits for its whole gap. */
async function visit(robots: RobotsClient, { origin }: Site): Promise<void> {
  booked(await robots.reserve(origin, undefined, { defaultDelayMs: 0 })).done();
}

describe('withRobots, with a request that is deferred', () => {
  it('handles it when its time has come: no failure, no retry, no worse session, and others go before', async () => {
    const [slow, other] = [await slowSite(90), await site()];
    const { clock, robots } = paced();
    const { options, failed, skipped } = record();
    const handled: [url: string, isLate: boolean, retries: number, errors: number, score: number][] = [];
    const pacing = { defaultDelayMs: 0, maxDelayMs: 10_000 };
    await visit(robots, slow);
    const crawler = new (withRobots(CheerioCrawler, robots, { pacing, clock }))(
      {
        ...options,
        ...soon,
        maxRequestRetries: 0,
        requestHandler: async ({ request, session }) => {
          const { url, retryCount, errorMessages } = request;
          handled.push([
            url,
            clock.now() - START >= 90_000,
            retryCount,
            errorMessages.length,
            session?.errorScore ?? -1,
          ]);
        },
      },
      inMemory(),
    );
    const { requestsFinished, requestsFailed } = await crawler.run([slow.url('/page'), other.url('/page')]);
    expect(handled).toEqual([
      [other.url('/page'), false, 0, 0, 0],
      [slow.url('/page'), true, 0, 0, 0],
    ]);
    const { requestsRetries } = crawler.stats.state;
    expect({ requestsFinished, requestsFailed, requestsRetries, failed, skipped }).toEqual({
      requestsFinished: 2,
      requestsFailed: 0,
      requestsRetries: 0,
      failed: [],
      skipped: [],
    });
    expect([pagesOf(slow), pagesOf(other)]).toEqual([['/page'], ['/page']]);
  });

  it('gives back the whole request when its redirect, or what its handler sends, is deferred', async () => {
    const [slow, first] = [await slowSite(90), await site()];
    const { clock, robots } = paced();
    const { options, failed, handled } = record();
    await visit(robots, slow);
    const guarded = withRobots(HttpCrawler, robots, { pacing: { defaultDelayMs: 0 }, clock });
    const crawler = new guarded({ ...options, ...soon, maxRequestRetries: 0 }, inMemory());
    await crawler.run([first.url(`/to?${slow.url('/page')}`)]);
    // `maxDelayMs` allows the wait, but the time-out of the navigation does not.
    expect(pagesOf(slow)).toEqual(['/page']);
    expect(pagesOf(first)).toHaveLength(2);
    // It came back after a minute, too early, and kept its time.
    expect(clock.now() - START).toBe(90_000);

    const basic = new (withRobots(BasicCrawler, robots, { pacing: { defaultDelayMs: 0 }, clock }))(
      {
        ...options,
        ...soon,
        maxRequestRetries: 0,
        requestHandler: async ({ request, sendRequest }) => {
          await sendRequest({ url: slow.url('/sent') });
          handled.push(request.url);
        },
      },
      inMemory(),
    );
    await basic.run([first.url('/basic')]);
    expect(pagesOf(slow)).toEqual(['/page', '/sent']);
    expect(handled).toEqual([first.url(`/to?${slow.url('/page')}`), first.url('/basic')]);
    expect(failed).toEqual([]);
  });

  it('goes back to a list of requests, too', async () => {
    const slow = await slowSite(30);
    const { clock, robots } = paced();
    const { options, failed, handled } = record();
    const crawler = new (withRobots(HttpCrawler, robots, { pacing: { maxDelayMs: 1_000 }, clock }))(
      { ...options, ...soon, requestList: await RequestList.open(null, [slow.url('/page')]) },
      inMemory(),
    );
    await crawler.run();
    expect({ handled, failed }).toEqual({ handled: [slow.url('/page')], failed: [] });
  });

  it('is in the queue again when the crawler ends before its time', async () => {
    const [slow, other] = [await slowSite(3600), await site()];
    const clock = virtualClock({ startAt: START });
    const robots = closing(testClient({ clock }).client);
    await visit(robots, slow);
    const { options, failed, handled } = record();
    const crawler = new (withRobots(HttpCrawler, robots, { pacing: { defaultDelayMs: 0 }, clock }))(
      {
        ...options,
        ...soon,
        requestHandler: async ({ request }) => {
          handled.push(request.url);
          crawler.stop();
        },
      },
      inMemory(),
    );
    await crawler.run([slow.url('/page'), other.url('/page')]);
    expect({ handled, failed }).toEqual({ handled: [other.url('/page')], failed: [] });
    expect(clock.waiting).toBe(0);
    const queue = await crawler.getRequestQueue();
    expect(await queue.fetchNextRequest()).toMatchObject({ url: slow.url('/page'), retryCount: 0 });
  });
});

/** A crawler of `size` pages of one site, in real time. */
async function crawlOf(size: number, crawlerClass: typeof HttpCrawler, server: Site) {
  const { options, failed, skipped } = record();
  const crawler = new crawlerClass({ ...options, ...soon, maxConcurrency: 20 }, inMemory());
  await crawler.addRequests(Array.from({ length: size }, (_, page) => server.url(`/${page}`)));
  const leftInQueue = async () => {
    const queue = await crawler.getRequestQueue();
    const { pendingRequestCount } = (await queue.getInfo())!;
    return pendingRequestCount;
  };
  return { crawler, failed, skipped, leftInQueue };
}

describe('withRobots, with a site whose robots.txt is unreachable for a while', () => {
  const failing = (until: () => boolean, retryAfter = '3'): Promise<Site> =>
    site([], (_, response) =>
      until()
        ? answer(response, { body: RULES })
        : answer(response, { status: 503, headers: { 'retry-after': retryAfter } }),
    );

  it('handles its pages afterwards, as long as `maxDelayMs` allows the wait', async () => {
    const { clock, robots } = paced();
    const server = await failing(() => clock.now() - START >= 7_000);
    const { options, failed, handled, skipped } = record();
    const crawler = new (withRobots(HttpCrawler, robots, { pacing: true, clock }))(
      { ...options, ...soon, maxRequestRetries: 0 },
      inMemory(),
    );
    await crawler.run([server.url('/page'), server.url('/private')]);
    expect(handled).toEqual([server.url('/page')]);
    expect(skipped).toMatchObject([{ url: server.url('/private'), decision: { reason: 'rule' } }]);
    expect(failed).toEqual([]);
  });

  it('skips them with the reason when it lasts longer, however often the site says "soon"', async () => {
    const { clock, robots } = paced();
    const server = await failing(() => false);
    const { options, handled, skipped } = record();
    const pacing = { maxDelayMs: 20_000 };
    const guarded = withRobots(HttpCrawler, robots, { pacing, clock });
    await new guarded({ ...options, ...soon }, inMemory()).run([server.url('/page')]);
    expect(handled).toEqual([]);
    expect(skipped).toMatchObject([{ decision: { reason: 'unreachable' } }]);
    expect(clock.now() - START).toBeLessThanOrEqual(20_000);
  });
});

describe('withRobots, when it ends while requests wait for their permits', () => {
  it('`stop()` gives them back to the queue at once', async () => {
    const server = await site();
    const robots = closing(testClient().client);
    const guarded = withRobots(HttpCrawler, robots, {
      pacing: { defaultDelayMs: 3_600_000, maxDelayMs: 1e8 },
    });
    const { crawler, failed, leftInQueue } = await crawlOf(10, guarded, server);
    const ended = crawler.run();
    await expect.poll(async () => (await robots.policy(server.origin)).pacing?.waiting).toBeGreaterThan(0);
    crawler.stop();
    await ended;
    expect(failed).toEqual([]);
    expect(await leftInQueue()).toBe(10);
    expect(pagesOf(server)).toEqual([]);
  });

  it('`robots.close()` gives them back, and stops the crawler', async () => {
    const server = await site();
    const robots = testClient().client;
    const guarded = withRobots(HttpCrawler, robots, {
      pacing: { defaultDelayMs: 3_600_000, maxDelayMs: 1e8 },
    });
    const { crawler, failed, skipped, leftInQueue } = await crawlOf(10, guarded, server);
    const ended = crawler.run();
    await expect.poll(async () => (await robots.policy(server.origin)).pacing?.waiting).toBeGreaterThan(0);
    await robots.close();
    await ended;
    expect({ failed, skipped }).toEqual({ failed: [], skipped: [] });
    expect(await leftInQueue()).toBe(10);
  });
});
