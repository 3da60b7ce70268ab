/* oxlint-disable no-underscore-dangle -- the methods of Crawlee have such names */
import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import type { BrowserContextGuard } from '../browser/context-guard.ts';
import { guardContext as guardPlaywright } from '../browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../browser/puppeteer.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import { Guard } from '../shared/guard.ts';
import { assertThrowing, guardedTwice, type ThrowingGuardOptions } from '../shared/options.ts';
import { type GuardPage, CrawlGuard } from './crawl-guard.ts';
import {
  type CrawledPage,
  crawlerClass,
  type Crawler,
  type CrawlerClass,
  type CrawlingContext,
  type CrawlRequest,
  type RequestSource,
  type SkippedRequest,
} from './types.ts';
import { CrawlerGuard } from './crawler-guard.ts';

export type { SkippedRequest } from './types.ts';
export type { RobotsInit, ThrowingGuardOptions } from '../shared/options.ts';

/**
 * Makes a subclass of a crawler class of Crawlee 3 (3.14 or later). It checks requests and their redirects against the
 * robots.txt of their own origin. Works with `BasicCrawler`, `HttpCrawler`, `CheerioCrawler` and other subclasses of
 * these, and with `PlaywrightCrawler` and `PuppeteerCrawler` on Chromium.
 *
 * A request that is refused is skipped: `onSkippedRequest({ url, reason: 'robotsTxt', decision })` is called (see
 * {@link SkippedRequest}), and the request is neither retried nor failed. Links and start URLs that a robots.txt in
 * memory disallows are not added to the queue; adding never waits for a robots.txt. Other URLs are decided when they
 * are taken from the queue. While robots.txt is unreachable, `decision.reason` is `'unreachable'`, and `refusal.retryAt`
 * is the time from which to crawl that URL again; without it the site is dead, for good.
 *
 * `context.sendRequest` is guarded too, and throws the refusal. A request with
 * `userData: { robots: { ignore: true, because: '…' } }`, or `sendRequest({ robots: … })`, is not checked.
 *
 * With `pacing` a request waits for its permit before it is handled, and counts as one of the concurrent requests while
 * it waits, but not for `requestHandlerTimeoutSecs`. One that has to wait longer than `maxDelayMs`, whose robots.txt is
 * unreachable, or whose page was answered with 429 or 503, goes back to the queue until it may leave. That is neither a
 * failure nor a retry, says nothing about the session, and leaves the place to a request for another site. It ends as
 * skipped, with its refusal, when its site has given no page for `maxDelayMs`, or is dead. The crawler's log says once for
 * each site what is waited for, and at the end what was skipped. Within a handler, redirects and `sendRequest` wait at most
 * half of the time-out, and then the whole request goes back. A browser waits within `navigationTimeoutSecs`.
 *
 * An `httpClient` of your own sends one hop at a time (`followRedirect: false`). A client that follows redirects
 * nevertheless is detected and refused. Requests that a handler makes by other means are not checked: use `guardFetch`
 * for them.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import { CheerioCrawler } from '@crawlee/cheerio';
 * import { RobotsClient } from 'canfetch';
 * import { withRobots } from 'canfetch/crawlee';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const PoliteCrawler = withRobots(CheerioCrawler, robots);
 * const crawler = new PoliteCrawler({ requestHandler: ({ enqueueLinks }) => enqueueLinks() });
 * await crawler.run(['https://example.com/page']);
 * ```
 */
export function withRobots<Class extends new (...args: never[]) => object>(
  crawler: Class,
  client: RobotsClient,
  options: ThrowingGuardOptions = {},
): Class {
  assertThrowing(options);
  const guard = new Guard(client, options, { choosesUserAgent: true });
  // The guard of a subclass would wait for the permit that the other one holds.
  if (Reflect.get(Object(Reflect.get(Object(crawler), 'prototype')), GUARDED) === true)
    throw guardedTwice('a crawler class');
  const guarded = guardedClass(crawlerClass(crawler), guard, pageGuard(client, options));
  // Crawlee uses the name in its logs.
  Object.defineProperty(guarded, 'name', { value: crawler.name });
  Object.defineProperty(guarded.prototype, GUARDED, { value: true });
  return guarded as unknown as Class;
}

/** A registered symbol, so that another copy of this package in the process finds it too. */
const GUARDED: unique symbol = Symbol.for('canfetch.crawler');

/** Guards the contexts that the pages of a crawler are in, each once. */
function pageGuard(client: RobotsClient, options: ThrowingGuardOptions): GuardPage {
  const guards = new WeakMap<object, Promise<BrowserContextGuard<CrawledPage>>>();
  return async (page, because) => {
    const isPlaywright = 'context' in page;
    if (!isPlaywright && !('browserContext' in page)) {
      throw new RobotsInvalidOptionsError(
        'Expected the pages of the crawler to be those of Playwright or Puppeteer: redirects of others cannot be checked',
      );
    }
    const context = isPlaywright ? page.context() : page.browserContext();
    const opening =
      guards.get(context) ??
      (isPlaywright
        ? guardPlaywright(page.context(), client, options)
        : guardPuppeteer(page.browserContext(), client, options));
    guards.set(context, opening);
    const guard = await opening;
    if (because !== undefined) await guard.ignore(page, because);
    return () => guard.errorOf(page);
  };
}

type FailedRequest = [error: unknown, context: CrawlingContext, source: RequestSource];

/**
 * A subclass of `Base` that adds no link to the queue which robots.txt in memory disallows, and whose requests take the steps
 * of the guard: they are skipped with reasons, or go back to the queue when they are deferred.
 */
function guardedClass(Base: CrawlerClass, guard: Guard, guardPage: GuardPage): CrawlerClass {
  const shared = new CrawlGuard(guard, guardPage);
  return class extends Base {
    readonly #own: CrawlerGuard;

    constructor(...args: unknown[]) {
      super(...args);
      assertRespectful(args[0]);
      assertIdentified(this, guard);
      this.#own = new CrawlerGuard(this, shared);
    }

    override addRequests(requests: unknown, ...rest: unknown[]): Promise<unknown> {
      return shared.adding(requests, (noted) => super.addRequests(noted, ...rest));
    }

    override enqueueLinksWithCrawlDepth(links: object, ...rest: unknown[]): Promise<unknown> {
      return shared.adding(links, () => super.enqueueLinksWithCrawlDepth(links, ...rest));
    }

    override async getRobotsTxtFileForUrl(): Promise<{ isAllowed(url: string): boolean }> {
      return { isAllowed: (url) => shared.mayBeAdded(url) };
    }

    /** Whether a URL may be added, or the request of the queue handled. */
    override async isAllowedBasedOnRobotsTxtFile(url: string): Promise<boolean> {
      return shared.handled?.admit(url) ?? shared.mayBeAdded(url);
    }

    override async handleSkippedRequest(skipped: SkippedRequest): Promise<void> {
      if (this.#own.skips(skipped)) await super.handleSkippedRequest(skipped);
    }

    override _runTaskFunction(): Promise<void> {
      return this.#own.runTask(() => super._runTaskFunction());
    }

    override stop(reason?: string): void {
      super.stop(reason);
      this.#own.stop();
    }

    override async _fetchNextRequest(): Promise<CrawlRequest | null> {
      return this.#own.take(() => super._fetchNextRequest());
    }

    override _runRequestHandler(context: CrawlingContext): Promise<void> {
      return this.#own.handle(context, () => super._runRequestHandler(context));
    }

    override async _requestFunctionErrorHandler(...failed: FailedRequest): Promise<void> {
      if (!this.#own.forgives(failed[1])) await super._requestFunctionErrorHandler(...failed);
    }

    override async teardown(): Promise<void> {
      await this.#own.end();
      return super.teardown();
    }
  };
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
function assertRespectful(options: unknown): void {
  const given: unknown = Reflect.get(Object(options), 'respectRobotsTxtFile');
  if (given === undefined || given === true) return;
  throw new RobotsInvalidOptionsError(
    'Expected `respectRobotsTxtFile` to be left out or true: `withRobots` decides instead, for its `agent`',
  );
}

/**
 * Crawlee gives each browser the name of another one, and scripts with it.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function assertIdentified({ browserPool }: Crawler, { identity }: Guard): void {
  if (identity?.fills !== true || browserPool?.useFingerprints !== true) return;
  throw new RobotsInvalidOptionsError(
    "Expected a crawler without Crawlee's fingerprints, which would replace the name that `identify: true` sends; give it " +
      '`browserPoolOptions: { useFingerprints: false }`, or leave `identify` out',
  );
}
