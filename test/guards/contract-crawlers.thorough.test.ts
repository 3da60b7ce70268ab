import { type BaseHttpClient, GotScrapingHttpClient, HttpCrawler } from '@crawlee/http';
import type { Browser, Page } from 'playwright-core';
import type { Browser as PuppeteerBrowser, Page as PuppeteerPage } from 'puppeteer';
import { afterAll, beforeAll } from 'vitest';
import { type SkippedRequest, withRobots } from '../../src/guards/crawlee/crawlee.ts';
import { guardContext } from '../../src/guards/browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../../src/guards/browser/puppeteer.ts';
import type { Refusal } from '../../src/index.ts';
import { chromiumOptions, describeWithChromium, launchChromium } from '../support/chromium.ts';
import { inMemory } from '../support/crawlee.ts';
import { otherMajor } from '../support/other-major.ts';
import { guardContract, type GuardedClient, type PageAnswer } from './contract.ts';

/** A client that is not Crawlee's own, as far as the guard can tell: it asks that for one hop at a time. */
class OwnClient extends GotScrapingHttpClient {}

const byCrawlee =
  (httpClient?: BaseHttpClient): GuardedClient['make'] =>
  (robots, options) => ({
    get: async (url, { method = 'GET', body } = {}) => {
      let answer: PageAnswer | undefined;
      let refused: Refusal | undefined;
      let failure: unknown;
      const crawler = new (withRobots(HttpCrawler, robots, options))(
        {
          maxRequestRetries: 0,
          maxSessionRotations: 0,
          additionalMimeTypes: ['*/*'],
          ...(httpClient === undefined ? {} : { httpClient }),
          requestHandler: (context) => {
            answer = { status: context.response.statusCode ?? 0, body: String(context.body) };
          },
          onSkippedRequest: ({ refusal }: SkippedRequest) => void (refused = refusal),
          failedRequestHandler: (_, error) => void (failure = error),
        },
        inMemory(),
      );
      const payload = body === undefined ? {} : { payload: body };
      await crawler.run([{ url, method, useExtendedUniqueKey: true, ...payload }]);
      if (answer !== undefined) return answer;
      // A crawler that skips rejects nothing: `onSkippedRequest` has the refusal.
      throw refused ?? failure;
    },
  });

const unabortable = 'Crawlee has no signal for one request';
const waitsInQueue = 'the request goes back to the queue';

guardContract({
  name: 'withRobots(HttpCrawler)',
  unabortable,
  waitsInQueue,
  handlerHoldsPermit: true,
  make: byCrawlee(),
});

guardContract({
  name: 'withRobots(HttpCrawler) with an httpClient of its own',
  unabortable,
  waitsInQueue,
  handlerHoldsPermit: true,
  make: byCrawlee(new OwnClient()),
});

/** What the contract uses of a page of both libraries. */
interface BrowserPage {
  goto(url: string): Promise<{ status(): number; text(): Promise<string> } | null>;
  close(): Promise<unknown>;
}

interface Guarded<Page> {
  readonly context: { newPage(): Promise<Page>; close(): Promise<unknown> };
  readonly guard: { errorOf(page: Page): Promise<unknown> };
}

/** `post` makes a POST of the navigation to `url`, as a form would. */
function browserContract<Page extends BrowserPage>(
  guard: (...given: Parameters<GuardedClient['make']>) => Promise<Guarded<Page>>,
  post: (page: Page, url: string, method: string, postData: string) => Promise<void>,
): void {
  guardContract({
    name: 'guardContext',
    documentHoldsPermit: true,
    make: (...given) => {
      const made = guard(...given);
      return {
        get: async (url, { method = 'GET', body, signal } = {}) => {
          signal?.throwIfAborted();
          const { context, guard } = await made;
          const page = await context.newPage();
          // A page has no signal: it is closed.
          signal?.addEventListener('abort', () => void page.close());
          if (body !== undefined) await post(page, url, method, body);
          try {
            const response = await page.goto(url);
            return { status: response?.status() ?? 0, body: (await response?.text()) ?? '' };
          } catch (error) {
            throw (await guard.errorOf(page)) ?? error;
          }
        },
        close: async () => {
          await (await made).context.close();
        },
      };
    },
  });
}

describeWithChromium('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  browserContract<Page>(
    async (robots, options) => {
      const context = await browser.newContext();
      return { context, guard: await guardContext(context, robots, options) };
    },
    async (page, url, method, postData) => {
      await page.route(url, (route) => route.fallback({ method, postData }));
    },
  );
});

// Of the version that the other tests do not have, where it is installed.
const puppeteer =
  (await otherMajor<typeof import('puppeteer')>('puppeteer-25')) ?? (await import('puppeteer'));

describeWithChromium('in Chromium by Puppeteer', () => {
  let browser: PuppeteerBrowser;
  beforeAll(async () => {
    browser = await puppeteer.launch(chromiumOptions());
  });
  afterAll(() => browser.close());

  browserContract<PuppeteerPage>(
    async (robots, options) => {
      const context = await browser.createBrowserContext();
      return { context, guard: await guardPuppeteer(context, robots, options) };
    },
    async (page, url, method, postData) => {
      await page.setRequestInterception(true);
      page.on('request', (request) =>
        request.url() === url ? request.continue({ method, postData }) : request.continue(),
      );
    },
  );
});
