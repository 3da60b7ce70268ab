import { CheerioCrawler, HttpCrawler, Log } from '@crawlee/cheerio';
import { describe, expect, it, vi } from 'vitest';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { type PacingOptions, RobotsClient } from '../../../src/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { START, testClient } from '../../support/client.ts';
import { inMemory } from '../../support/crawlee.ts';
import { answer, type Handler, REFUSING_HOST, type Site, startSite } from '../../support/site.ts';
import { client, closing, pagesOf, record, RULES, site } from './support.ts';

/** Crawlee looks for requests every half second otherwise. */
const soon = { autoscaledPoolOptions: { maybeRunIntervalSecs: 0.01 } };

/** At which nothing listens. */
const DEAD = `http://${REFUSING_HOST}`;

/** A site that answers for its pages with these statuses in turn, the last again and again. */
async function busySite(...statuses: number[]): Promise<Site> {
  let asked = 0;
  const page: Handler = (_, response) =>
    answer(response, {
      status: statuses[Math.min(asked++, statuses.length - 1)]!,
      headers: { 'content-type': 'text/html' },
      body: 'a page',
    });
  return closing(
    await startSite(({ url }, response) =>
      url === '/robots.txt' ? answer(response, { body: RULES }) : page({ url } as never, response),
    ),
  );
}

/** A crawl in virtual time, with what its log said of waits and skips. */
async function crawl(urls: readonly string[], pacing: PacingOptions | true = true) {
  const clock = virtualClock({ startAt: START, autoAdvance: true });
  const robots = closing(testClient({ clock }).client);
  const { options, ...outcome } = record();
  const log = new Log({ level: 0 });
  const said = vi.spyOn(log, 'info').mockImplementation(() => undefined);
  vi.spyOn(log, 'child').mockReturnValue(log);
  const retries: number[] = [];
  const guarded = withRobots(CheerioCrawler, robots, { pacing, clock });
  const crawler = new guarded(
    {
      ...options,
      ...soon,
      ...{ log },
      maxRequestRetries: 0,
      requestHandler: async ({ request }) => {
        outcome.handled.push(request.url);
        retries.push(request.retryCount);
      },
    },
    inMemory(),
  );
  const statistics = await crawler.run([...urls]);
  const lines = said.mock.calls.map(([line]) => line).filter((line) => /^(?:Waits|Skipped)/.test(line));
  return { ...outcome, retries, statistics, lines, elapsedMs: clock.now() - START, crawler };
}

describe('a run of a guarded crawler', () => {
  it('ends within a minute where a host is dead, and says what it waits for and what it skipped', async () => {
    const live = await site();
    const pages = [live.url('/1'), `${DEAD}/1`, live.url('/private'), `${DEAD}/2`];
    const { handled, skipped, failed, lines, statistics, elapsedMs } = await crawl(pages);
    expect({ handled, failed }).toEqual({ handled: [live.url('/1')], failed: [] });
    expect(skipped.map(({ url, refusal }) => [url, refusal?.code, refusal?.retryAt]).sort()).toEqual(
      [
        [live.url('/private'), 'ERR_ROBOTS_DISALLOWED', undefined],
        [`${DEAD}/1`, 'ERR_ROBOTS_UNREACHABLE', undefined],
        [`${DEAD}/2`, 'ERR_ROBOTS_UNREACHABLE', undefined],
      ].sort(),
    );
    expect(skipped.at(-1)?.refusal?.message).toMatch(/for good$/);
    expect(elapsedMs).toBeLessThan(60_000);
    expect(lines).toEqual([
      expect.stringMatching(
        /^Waits for http:\/\/127\.0\.0\.1:\d+ until 2.*Z: robots\.txt is unreachable \(the server refused the connection, ECONNREFUSED\)\. Requests that wait: 1$/,
      ),
      `Skipped 3 requests: 2 of ${DEAD} (robots.txt unreachable, ECONNREFUSED, for good), 1 of ${live.origin} (disallowed)`,
    ]);
    expect(statistics).toMatchObject({ requestsFinished: 1, requestsFailed: 0, requestsTotal: 1 });
  });

  it('comes back to a page that was answered with 429: no failure, no retry, counted once', async () => {
    const busy = await busySite(429, 503, 200);
    const other = await site();
    const { handled, retries, skipped, failed, lines, statistics, elapsedMs } = await crawl([
      busy.url('/1'),
      other.url('/1'),
    ]);
    expect({ handled, retries, skipped, failed }).toEqual({
      handled: [other.url('/1'), busy.url('/1')],
      retries: [0, 0],
      skipped: [],
      failed: [],
    });
    expect(pagesOf(busy)).toHaveLength(3);
    // 30 s and 60 s, give or take a tenth.
    expect(elapsedMs).toBeGreaterThan(80_000);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      new RegExp(
        `^Waits for ${busy.origin} until .*: it refused requests, and named no time: a guessed pause`,
      ),
    );
    expect(statistics).toMatchObject({ requestsFinished: 2, requestsFailed: 0 });
  });

  it.each([true, { maxDelayMs: 5_000 }] as const)(
    'skips the pages of a site that gives none within `maxDelayMs`, with the refusal (%j)',
    async (pacing) => {
      const busy = await busySite(429);
      const other = await site();
      const urls = [busy.url('/1'), other.url('/1'), busy.url('/2')];
      const { handled, skipped, failed, lines, statistics, elapsedMs } = await crawl(urls, pacing);
      expect({ handled, failed }).toEqual({ handled: [other.url('/1')], failed: [] });
      expect(skipped.map(({ url, refusal }) => [url, refusal?.code]).sort()).toEqual([
        [busy.url('/1'), 'ERR_ROBOTS_DEFERRED'],
        [busy.url('/2'), 'ERR_ROBOTS_DEFERRED'],
      ]);
      // A first pause is kept in any case, and asked after once more.
      expect(elapsedMs).toBeGreaterThan(25_000);
      expect(elapsedMs).toBeLessThan(pacing === true ? 300_000 : 60_000);
      expect(lines.at(-1)).toBe(`Skipped 2 requests: 2 of ${busy.origin} (busy)`);
      expect(statistics).toMatchObject({ requestsFinished: 1, requestsFailed: 0 });
    },
  );
});

describe('the end of a client', () => {
  it('gives back what waits out of the queue, and ends the run within a second', async () => {
    // By the clock of the machine: the wait is half a minute.
    const robots = new RobotsClient({ agent: 'ExampleBot' });
    const { options, failed, skipped } = record();
    const guarded = withRobots(HttpCrawler, robots, { pacing: true });
    const crawler = new guarded({ ...options, ...soon }, inMemory());
    const waits = vi.spyOn(crawler.log, 'debug');
    const ended = crawler.run([`${DEAD}/1`]);
    await expect.poll(() => waits.mock.calls.flat().join()).toMatch(/goes back to the queue/);
    const startedAt = performance.now();
    await robots.close();
    await ended;
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect({ failed, skipped }).toEqual({ failed: [], skipped: [] });
    const { pendingRequestCount } = (await (await crawler.getRequestQueue()).getInfo())!;
    expect(pendingRequestCount).toBe(1);
  });

  it('refuses further pages, but not in the background, where Crawlee would end the process', async () => {
    const robots = new RobotsClient({ agent: 'ExampleBot' });
    const crawler = new (withRobots(HttpCrawler, robots, {}))({}, inMemory());
    // Of these the first thousand is added at once.
    const { addedRequests, waitForAllRequestsToBeAdded } = await crawler.addRequests(
      Array.from({ length: 1_001 }, (_, page) => `${DEAD}/${page}`),
    );
    await robots.close();
    expect(addedRequests).toHaveLength(1_000);
    expect(await waitForAllRequestsToBeAdded).toHaveLength(1);
    await expect(crawler.addRequests([`${DEAD}/next`])).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
  });
});

it("`identify: true` is refused where Crawlee's fingerprints would hide the name, with the line that mends it", () => {
  class FingerprintedCrawler extends HttpCrawler<never> {
    readonly browserPool = { useFingerprints: true };
  }
  const guarded = (options: object) => withRobots(FingerprintedCrawler, client(), options);
  expect(() => new (guarded({ identify: true }))({}, inMemory())).toThrow(
    expect.objectContaining({
      code: 'ERR_ROBOTS_INVALID_OPTIONS',
      message: expect.stringContaining('`browserPoolOptions: { useFingerprints: false }`'),
    }),
  );
  for (const options of [{}, { identify: false }])
    expect(() => new (guarded(options))({}, inMemory())).not.toThrow();
});
