/* oxlint-disable no-underscore-dangle -- the methods of Crawlee have such names */
import {
  BasicCrawler,
  type BasicCrawlerOptions,
  type BasicCrawlingContext,
  type Configuration,
} from '@crawlee/http';
import { PuppeteerCrawler } from '@crawlee/puppeteer';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { withRobots } from '../../../src/guards/crawlee/crawlee.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { START, testClient } from '../../support/client.ts';
import { chromiumOptions, describeWithChromium, launchChromium } from '../../support/chromium.ts';
import { inMemory } from '../../support/crawlee.ts';
import { otherMajor } from '../../support/other-major.ts';
import { answer, REFUSING_HOST, startSite } from '../../support/site.ts';
import { because, client, closing, pagesOf, record, robots, site, permitsOf } from './support.ts';
import { sentUnchecked } from '../support.ts';

type BrowserCrawlingContext = BasicCrawlingContext & { page: Page; browserController: object };
type Hook = (context: BrowserCrawlingContext) => Promise<void>;

let browser: Browser;
let context: BrowserContext;

/** What a browser crawler of Crawlee does, step by step, without its pool of browsers. */
class PageCrawler extends BasicCrawler<BrowserCrawlingContext> {
  readonly browserPool = {};
  preNavigationHooks: Hook[] = [];
  postNavigationHooks: Hook[] = [];

  constructor(options: BasicCrawlerOptions<BrowserCrawlingContext>, config = inMemory()) {
    super(options, config);
  }

  override async _runRequestHandler(crawling: BrowserCrawlingContext): Promise<void> {
    const page = await context.newPage();
    Object.assign(crawling, { page, browserController: {} });
    for (const hook of this.preNavigationHooks) await hook(crawling);
    await page.goto(crawling.request.url);
    for (const hook of this.postNavigationHooks) await hook(crawling);
    await super._runRequestHandler(crawling);
  }

  override async _cleanupContext({ page }: BrowserCrawlingContext): Promise<void> {
    if ('close' in page) await page.close();
  }
}

describeWithChromium('withRobots of a browser crawler', () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    context = await browser.newContext();
  });
  afterEach(() => context.close());

  it('skips what is disallowed for the purpose, by robots.txt or by a header field', async () => {
    const server = await startSite({
      '/robots.txt': { body: 'User-agent: *\nAllow: /\nContent-Usage: /no train-ai=n\n' },
      '/page': { headers: { 'content-type': 'text/html' }, body: 'a page' },
      '/header': { headers: { 'content-type': 'text/html', 'content-usage': 'train-ai=n' }, body: 'a page' },
    });
    closing(server);
    const { options, handled, skipped, failed } = record();
    const crawler = new (withRobots(PageCrawler, client(), { purpose: 'train-ai' }))(options);
    await crawler.run([server.url('/page'), server.url('/no'), server.url('/header')]);
    expect([handled, failed]).toEqual([[server.url('/page')], []]);
    expect(skipped.map(({ url, decision }) => [url, decision?.usage?.source])).toMatchObject([
      [server.url('/no'), { line: 3 }],
      [server.url('/header'), { directive: 'content-usage', value: 'train-ai=n' }],
    ]);
    expect(pagesOf(server)).toEqual(['/page', '/header']);
  });

  it('fails a request whose handler goes where it may not', async () => {
    const server = await site();
    const { options, skipped, failed } = record();
    const crawler = new (withRobots(PageCrawler, client()))({
      ...options,
      maxRequestRetries: 0,
      requestHandler: async ({ page }) => void (await page.goto(server.url('/private'))),
    });
    await crawler.run([server.url('/page')]);
    expect(skipped).toEqual([]);
    expect(failed).toMatchObject([{ message: expect.stringContaining('ERR_BLOCKED_BY_CLIENT') }]);
  });

  it('tells once of what it ignores, and of what a dry run would refuse', async () => {
    const server = await site();
    const ignored = sentUnchecked();
    const onRefusal = vi.fn();
    const { options, handled } = record();
    const crawler = new (withRobots(PageCrawler, client(), { mode: 'report', onRefusal }))(options);
    await crawler.run([
      { url: server.url('/to?/private/1'), userData: { robots } },
      { url: server.url('/private/2') },
    ]);
    expect(handled).toHaveLength(2);
    expect(ignored).toEqual(
      ['/to?/private/1', '/private/1'].map((path) => ({ url: server.url(path), because })),
    );
    expect(onRefusal).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ url: server.url('/private/2') }),
      { requested: server.url('/private/2'), redirects: [] },
    );
  });

  it('refuses pages of other libraries, and does not try again', async () => {
    const server = await site();
    const { options, failed } = record();
    class OtherPages extends PageCrawler {
      override preNavigationHooks: Hook[] = [
        async (crawling) => void Object.assign(crawling, { page: { goto: () => undefined } }),
      ];
    }
    const crawler = new (withRobots(OtherPages, client()))(options);
    await crawler.run([server.url('/page')]);
    expect(failed).toMatchObject([
      { code: 'ERR_ROBOTS_INVALID_OPTIONS', message: expect.stringContaining('Playwright or Puppeteer') },
    ]);
    expect(pagesOf(server)).toEqual([]);
  });
});

describeWithChromium('withRobots(PuppeteerCrawler)', () => {
  // Only tests ask for a browser: this suite may be skipped.
  const launchContext = () => ({ launchOptions: chromiumOptions() });

  it.each([[false], [true]])(
    'skips what is disallowed, at once or after redirects (a context a page: %s)',
    async (useIncognitoPages) => {
      const server = await site();
      const { options, handled, skipped, failed } = record();
      const crawler = new (withRobots(PuppeteerCrawler, client()))(
        { ...options, launchContext: { ...launchContext(), useIncognitoPages } },
        inMemory(),
      );
      await crawler.run([
        server.url('/page'),
        server.url('/private'),
        server.url('/to?/to?/private/hop'),
        { url: server.url('/private/ignored'), userData: { robots } },
      ]);
      expect([handled, failed]).toEqual([[server.url('/page'), server.url('/private/ignored')], []]);
      expect(skipped.map(({ url, decision }) => [url, decision?.url])).toEqual([
        [server.url('/private'), server.url('/private')],
        [server.url('/to?/to?/private/hop'), server.url('/private/hop')],
      ]);
      expect(pagesOf(server)).toEqual([
        '/page',
        '/to?/to?/private/hop',
        '/to?/private/hop',
        '/private/ignored',
      ]);
    },
  );

  it('comes back to a page that was answered with 429 or 503, with a body and without', async () => {
    const seen: string[] = [];
    const server = closing(
      await startSite(({ url = '' }, response) => {
        if (url === '/robots.txt') return answer(response, { body: '' });
        const isAgain = seen.includes(url);
        seen.push(url);
        const headers = { 'content-type': 'text/html', 'retry-after': '1' };
        answer(response, {
          status: isAgain ? 200 : Number(url.slice(1, 4)),
          headers,
          body: url.endsWith('empty') ? '' : 'a page',
        });
      }),
    );
    const { options, handled, failed, skipped } = record();
    const guarded = withRobots(PuppeteerCrawler, client(), { pacing: { defaultDelayMs: 0 } });
    const crawler = new guarded(
      {
        ...options,
        maxRequestRetries: 0,
        launchContext: launchContext(),
        autoscaledPoolOptions: { maybeRunIntervalSecs: 0.01 },
      },
      inMemory(),
    );
    const urls = ['/429', '/503-empty'].map((path) => server.url(path));
    const { requestsFinished, requestsFailed } = await crawler.run(urls);
    expect({ failed, skipped }).toEqual({ failed: [], skipped: [] });
    expect(handled.sort()).toEqual(urls);
    expect({ requestsFinished, requestsFailed }).toEqual({ requestsFinished: 2, requestsFailed: 0 });
  });

  it('adds no link that is known to be disallowed', async () => {
    const server = await site(['/page/2', '/private/link']);
    const { options, handled, skipped } = record();
    const crawler = new (withRobots(PuppeteerCrawler, client()))(
      {
        ...options,
        launchContext: launchContext(),
        requestHandler: async ({ request, enqueueLinks }) => {
          handled.push(request.url);
          await enqueueLinks();
        },
      },
      inMemory(),
    );
    await crawler.run([server.url('/to?/page')]);
    expect(handled).toEqual([server.url('/to?/page'), server.url('/page/2')]);
    expect(new Set(skipped.map(({ url }) => url))).toEqual(new Set([server.url('/private/link')]));
    expect(pagesOf(server).filter((path) => path.startsWith('/private'))).toEqual([]);
  });

  it('takes one slot for each navigation and each redirect of it', async () => {
    const server = await site();
    const paced = client();
    const permits = permitsOf(paced);
    const crawler = new (withRobots(PuppeteerCrawler, paced, { pacing: { defaultDelayMs: 0 } }))(
      { ...record().options, launchContext: launchContext() },
      inMemory(),
    );
    await crawler.run([server.url('/to?/page')]);
    expect(permits()).toEqual([server.url('/to?/page'), server.url('/page')]);
  });
});

/** Its options are those of its sister, but for the launcher. */
const playwright = await otherMajor<{
  PlaywrightCrawler: typeof PuppeteerCrawler;
  Configuration: typeof Configuration;
  log: { setLevel(level: number): void };
}>('@crawlee/playwright');
playwright?.log.setLevel(0);

describeWithChromium('withRobots(PlaywrightCrawler)', () => {
  it.skipIf(playwright === undefined)(
    'ends within a minute where a host is dead, and asks for each page as the client',
    async () => {
      const clock = virtualClock({ startAt: START, autoAdvance: true });
      const live = await site();
      const dead = `http://${REFUSING_HOST}`;
      const { options, handled, skipped, failed } = record();
      const robots = closing(testClient({ clock }).client);
      const guarded = withRobots(playwright!.PlaywrightCrawler, robots, {
        pacing: true,
        identify: true,
        clock,
      });
      const launchContext = { launcher: chromium as never, launchOptions: chromiumOptions() };
      expect(() => new guarded({ ...options, launchContext })).toThrow(/useFingerprints: false/);
      const crawler = new guarded(
        {
          ...options,
          launchContext,
          browserPoolOptions: { useFingerprints: false },
          autoscaledPoolOptions: { maybeRunIntervalSecs: 0.01 },
        },
        new playwright!.Configuration({ persistStorage: false, purgeOnStart: false }),
      );
      const { requestsFinished, requestsFailed } = await crawler.run([
        live.url('/1'),
        `${dead}/1`,
        live.url('/to?/private'),
        `${dead}/2`,
      ]);
      expect({ handled, failed }).toEqual({ handled: [live.url('/1')], failed: [] });
      expect(
        new Set(
          skipped.map(({ url, refusal }) => `${new URL(url).origin} ${refusal?.code}, ${refusal?.retryAt}`),
        ),
      ).toEqual(
        new Set([
          `${dead} ERR_ROBOTS_UNREACHABLE, undefined`,
          `${live.origin} ERR_ROBOTS_DISALLOWED, undefined`,
        ]),
      );
      expect({ requestsFinished, requestsFailed, skipped: skipped.length }).toEqual({
        requestsFinished: 1,
        requestsFailed: 0,
        skipped: 3,
      });
      expect(clock.now() - START).toBeLessThan(60_000);
      expect(new Set(live.requests.map(({ headers }) => headers['user-agent']?.split('/')[0]))).toEqual(
        new Set(['ExampleBot']),
      );
    },
  );
});
